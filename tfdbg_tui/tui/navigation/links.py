"""Along the numbers: to what a tensor was computed from, and to what was computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import in_view, on_chosen
from tfdbg_tui.tui.session.focusing import focused_event
from tfdbg_tui.tui.session.links import focus_consumer, focus_producer

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def to_producer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what the focused tensor was computed from: a bad input first.

    Raises:
        NowhereError: It has no inputs, or none that is recorded.
    """
    focus = on_chosen(snapshot, focus)
    return _in_view(snapshot, focus, focus_producer(snapshot, focus))


def to_consumer(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what was computed from the focused tensor: a bad result first.

    Raises:
        NowhereError: Nothing takes it.
    """
    focus = on_chosen(snapshot, focus)
    return _in_view(snapshot, focus, focus_consumer(snapshot, focus))


def _in_view(snapshot: Snapshot, before: Focus, after: Focus) -> Focus:
    """Stay in a pane that shows the newly focused tensor, or go to the one that lists it."""
    if focused_event(snapshot, before) == focused_event(snapshot, after):
        return after  # an op of which no tensor is recorded
    return in_view(snapshot, after)
