"""In which order lists stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import PANES, key_of, pane_named
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def columns_to_sort_by(snapshot: Snapshot, focus: Focus) -> tuple[str, ...]:
    """Return the columns that the list of the focused pane can be sorted by.

    Raises:
        NowhereError: It has an order of its own.
    """
    spec = pane_named(focus.pane)
    if columns := spec.rows.columns(snapshot):
        return tuple(columns)
    others = [one for one in PANES if one.rows.columns(snapshot)]
    named = " and ".join(f"{one.title} ({key_of(one)})" for one in others)
    raise NowhereError(f"{spec.title} has an order of its own: {named} can be sorted")


def sort_by(snapshot: Snapshot, focus: Focus, column: str) -> Focus:
    """Sort the list of the focused pane by a column, or by its beginning; "" for its own order.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        column: Name of the column, as it was typed.

    Raises:
        NowhereError: There is no such column, or the list has an order of its own.
    """
    columns = columns_to_sort_by(snapshot, focus)
    column = column.strip()
    if not column:
        return focus.sorted_by(focus.pane, None)
    fitting = [column] if column in columns else [one for one in columns if one.startswith(column)]
    if not fitting:
        raise NowhereError(f"no column is called {column}: there are {', '.join(columns)}")
    return focus.sorted_by(focus.pane, Sort(fitting[0]))


def reverse(snapshot: Snapshot, focus: Focus) -> Focus:
    """Turn the order of the list round.

    Raises:
        NowhereError: It is not sorted.
    """
    columns_to_sort_by(snapshot, focus)
    sort = focus.sort_of(focus.pane)
    if sort is None:
        raise NowhereError("the list is in its own order: s sorts it")
    return focus.sorted_by(focus.pane, replace(sort, reverse=not sort.reverse))
