"""One level deeper: from alert to tensor, op, stack frame, source line; and what is folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.moving import move_to
from tfdbg_tui.tui.panes import pane_named

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def enter(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go one level deeper: alert, tensor, op, stack frame, source line.

    Raises:
        NowhereError: There is no alert, or no line that a cause names.
    """
    return pane_named(focus.pane).rows.enter(snapshot, focus)


def click(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Focus a row of the focused pane; where it is focused already, go one level deeper.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        row: The row, from 0.
    """
    rows = pane_named(focus.pane).rows
    if rows.CLICK_ENTERS and rows.position(snapshot, focus) == row:
        return enter(snapshot, focus)
    return move_to(snapshot, focus, row)


def click_title(snapshot: Snapshot, focus: Focus, title: str) -> Focus:
    """Do what a click on a title of the focused pane does: sort, or list one kind of alerts.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        title: What was clicked on.
    """
    return pane_named(focus.pane).rows.click_title(snapshot, focus, title)


def step_sideways(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Do what left (-1) and right (1) do in the focused pane.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: -1 or 1.

    Raises:
        NowhereError: There is nothing to go to.
    """
    return pane_named(focus.pane).rows.step_sideways(snapshot, focus, step)
