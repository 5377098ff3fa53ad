"""To the same op, computed again: what a tensor became in the next step of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import chosen_tensor, in_view
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def step_computation(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) computation of the focused tensor.

    Outside of graphs that is the same op called from the same place.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: 1 or -1.

    Raises:
        NowhereError: There is none, or no tensor is focused.
    """
    event = chosen_tensor(snapshot, focus)
    if event is None:
        raise NowhereError("no tensor is focused")
    again = snapshot.dataflow.timeline.again(event, step)
    if again is None:
        raise NowhereError(f"this is its {'last' if step > 0 else 'first'} computation")
    return in_view(snapshot, focus_event(snapshot, focus, again))
