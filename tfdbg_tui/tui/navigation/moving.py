"""Moving between panes, within their lists, along a stack trace, and to what is new."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import group_of, pane_named
from tfdbg_tui.tui.panes.stack_trace import FRAMES
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

    Navigate = Callable[[Snapshot, Focus], Focus]


def show_pane(snapshot: Snapshot, focus: Focus, pane: str) -> Focus:
    """Go to a pane.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        pane: Name of the pane.

    Raises:
        NowhereError: There is none for this run.
    """
    spec = pane_named(pane)
    if not spec.is_there(snapshot):
        raise NowhereError(spec.missing)
    return replace(focus, pane=pane)


def cycle_pane(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) pane.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: 1 or -1.
    """
    names = [spec.name for spec in group_of(focus.pane, snapshot)]
    if focus.pane not in names:  # It is not there for this run.
        names.insert(0, focus.pane)
    return replace(focus, pane=names[(names.index(focus.pane) + step) % len(names)])


def move(snapshot: Snapshot, focus: Focus, by: int) -> Focus:
    """Move by a number of rows in the focused pane, as far as they go.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        by: How many rows down; up, where it is negative.
    """
    rows = pane_named(focus.pane).rows
    position = rows.position(snapshot, focus)
    return move_to(snapshot, focus, 0 if position is None else position + by)


def move_to(snapshot: Snapshot, focus: Focus, row: int) -> Focus:
    """Move to a row of the focused pane; a negative one counts from the end.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        row: The row, from 0; from -1 on, those before the end.
    """
    rows = pane_named(focus.pane).rows
    count = rows.count(snapshot, focus)
    if not count:
        return focus
    return rows.select(snapshot, focus, min(max(0, row), count - 1))


def last_row(snapshot: Snapshot, focus: Focus) -> Focus:
    """Move to the last row of the focused pane."""
    return move_to(snapshot, focus, pane_named(focus.pane).rows.count(snapshot, focus) - 1)


def to_number(snapshot: Snapshot, focus: Focus, number: int) -> Focus:
    """Move to the row of the focused pane that a number means.

    That is the number which rows show, or else that of the row, from 1: of a filtered or sorted
    list, and where rows show none.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        number: The number.

    Raises:
        NowhereError: There is no such row.
    """
    in_part = focus.filter_of(focus.pane) or focus.sort_of(focus.pane)
    rows = pane_named(focus.pane).rows
    found = None if in_part else rows.go_to_number(snapshot, focus, number)
    return move_to(snapshot, focus, number - 1) if found is None else found


def to_percent(snapshot: Snapshot, focus: Focus, number: int) -> Focus:
    """Move to the row of the focused pane before which a share of all rows are.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        number: The share in percent.
    """
    count = pane_named(focus.pane).rows.count(snapshot, focus)
    return move_to(snapshot, focus, count * min(number, 100) // 100)


def repeat(snapshot: Snapshot, focus: Focus, navigate: Navigate, times: int) -> Focus:
    """Go somewhere several times, as often as it leads anywhere.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        navigate: Goes there once.
        times: How often, 1 or more.

    Raises:
        NowhereError: It leads nowhere from here.
    """
    for done in range(times):
        try:
            focus = navigate(snapshot, focus)
        except NowhereError:
            if not done:
                raise
            break
    return focus


def step_frame(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go one frame up to the caller (-1) or down to the callee (1).

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: -1 or 1.

    Raises:
        NowhereError: There is no such frame.
    """
    position = FRAMES.position(snapshot, focus)
    target = None if position is None else position + step
    if target is None or not 0 <= target < FRAMES.count(snapshot, focus):
        raise NowhereError("this is the outermost frame" if step < 0 else "the innermost frame")
    return FRAMES.select(snapshot, focus, target)


def latest(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to what was recorded last."""
    return pane_named(focus.pane).rows.newest(snapshot, focus)


def looks_elsewhere(snapshot: Snapshot, before: Focus, after: Focus) -> bool:
    """Whether the user has moved to another event, op or line, rather than to another pane.

    Args:
        snapshot: What is shown.
        before: What was focused.
        after: What is focused.
    """
    elsewhere = replace(
        before,
        pane=after.pane,
        library_frames=after.library_frames,
        filters=after.filters,
        in_time=after.in_time,
        worker=after.worker,
        sorts=after.sorts,
        relisted=after.relisted,
    )
    return after != pane_named(after.pane).rows.look(snapshot, elsewhere)
