"""Choosing a row of a list that has just been filtered or sorted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import chosen_tensor
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.snapshot import NOTHING_YET

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def choose_listed(snapshot: Snapshot, focus: Focus) -> Focus:
    """Choose a row of the list that has just been filtered or sorted, as soon as it is known.

    Of a sorted list that is the first row; of a filtered one the row that was chosen before, where
    it is still listed, else the nearest before it.
    """
    if not focus.relisted or not _is_known(snapshot, focus, focus.relisted):
        return focus
    rows, is_here = pane_named(focus.pane).rows, focus.relisted == focus.pane
    focus = replace(focus, relisted="")
    if not is_here or not rows.LISTS_EVENTS or not rows.count(snapshot, focus):
        return focus
    row = 0 if focus.sort_of(focus.pane) else rows.position(snapshot, focus) or 0
    chosen = rows.select(snapshot, focus, row)
    return focus if chosen_tensor(snapshot, chosen) == chosen_tensor(snapshot, focus) else chosen


def _is_known(snapshot: Snapshot, focus: Focus, pane: str) -> bool:
    """Whether the rows of a pane are known, in their order."""
    if focus.sort_of(pane):
        return snapshot.sorted_in(pane, focus) is not None
    keys = pane_named(pane).rows.selections(focus)
    return all(snapshot.listed.get(key, NOTHING_YET).complete for key in keys)
