"""Moving between panes, within their lists, along a stack trace, and to what is new."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.panes.lists import FRAMES, LISTS
from tfdbg_tui.tui.session.focus import PANES, WHY_PANES, Focus, PaneName
from tfdbg_tui.tui.session.focusing import focus_alert, focus_execution, focus_graph_execution

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.snapshot import Snapshot


def show_pane(focus: Focus, pane: PaneName) -> Focus:
    """Go to a pane."""
    return replace(focus, pane=pane)


def cycle_pane(focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) pane."""
    panes = WHY_PANES if focus.pane in WHY_PANES else PANES
    return replace(focus, pane=panes[(panes.index(focus.pane) + step) % len(panes)])


def move(snapshot: Snapshot, focus: Focus, rows: int) -> Focus:
    """Move by a number of rows in the focused pane, as far as they go."""
    pane_list = LISTS[focus.pane]
    position = pane_list.position(snapshot, focus)
    return move_to(snapshot, focus, 0 if position is None else position + rows)


def move_to(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Move to a row of the focused pane; a negative one counts from the end."""
    pane_list = LISTS[focus.pane]
    count = pane_list.count(snapshot, focus)
    if not count:
        return focus
    return pane_list.select(snapshot, focus, min(max(0, row), count - 1))


def last_row(snapshot: Snapshot, focus: Focus) -> Focus:
    """Move to the last row of the focused pane."""
    return move_to(snapshot, focus, LISTS[focus.pane].count(snapshot, focus) - 1)


def step_frame(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go one frame up to the caller (-1) or down to the callee (1).

    Raises:
        NowhereError: There is no such frame.
    """
    position = FRAMES.position(snapshot, focus)
    target = None if position is None else position + step
    if target is None or not 0 <= target < FRAMES.count(snapshot, focus):
        raise NowhereError("this is the outermost frame" if step < 0 else "the innermost frame")
    return FRAMES.select(snapshot, focus, target)


def latest(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what was recorded last: in both lists of events, or in that of alerts."""
    if focus.pane in WHY_PANES:
        return focus
    if focus.pane == "alerts" and len(snapshot.alerts):
        return focus_alert(snapshot, focus, len(snapshot.alerts) - 1)
    run = snapshot.run
    graph_executions, executions = len(run.graph_executions), len(run.executions)
    eager = focus.pane == "timeline" or not graph_executions
    if graph_executions:
        focus = focus_graph_execution(snapshot, focus, graph_executions - 1)
    if executions and eager:
        focus = focus_execution(snapshot, focus, executions - 1)
    return focus


def looks_elsewhere(before: Focus, after: Focus) -> bool:
    """Whether the user has moved to another event, op or line, rather than to another pane."""
    return after != replace(
        before,
        pane=after.pane,
        library_frames=after.library_frames,
        bad_only=after.bad_only,
        in_time=after.in_time,
    )
