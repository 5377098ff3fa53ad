"""From one training step to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import in_view
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.focusing import focus_execution
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def step_training(snapshot: Snapshot, focus: Focus, direction: int) -> Focus:
    """Go to the next (1) or previous (-1) training step: in either list to its first row.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        direction: 1 or -1.

    Raises:
        NowhereError: There is no such step.
    """
    steps = snapshot.run.executions.steps
    if not len(steps):
        raise NowhereError("no training steps: the program marked none, and nothing repeats")
    found = steps.next_execution(focus.execution or 0, direction)
    if found is None:
        raise NowhereError(f"this is the {'last' if direction > 0 else 'first'} step")
    focus = focus_execution(snapshot, focus, found)
    return in_view(snapshot, pane_named(focus.pane).rows.look(snapshot, focus))
