"""What the lists show: folded or not, all of it or only what is bad, by cause or by time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.panes import alert_rows
from tfdbg_tui.tui.panes.lists import ALERTS, CHAIN, LISTS

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def unfold(snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
    """Unfold or fold the focused row of Alerts or Why: a cause's alerts, a run of copies.

    Raises:
        NowhereError: The alerts are in order of time, where nothing is folded.
    """
    if not LISTS[focus.pane].count(snapshot, focus):
        return focus
    row = LISTS[focus.pane].position(snapshot, focus) or 0
    if focus.pane == "alerts":
        group = ALERTS.at(snapshot, focus, row).group
        if group is None:
            raise NowhereError("alerts are listed in order of time: r groups them by cause")
        return alert_rows.unfold(snapshot, focus, group, unfolded=unfolded)
    copies = CHAIN.fold_at(snapshot, focus, row)
    if copies is None:
        return focus
    opened = focus.open_copies | {copies} if unfolded else focus.open_copies - {copies}
    return replace(focus, open_copies=opened)


def toggle_in_time(snapshot: Snapshot, focus: Focus) -> Focus:
    """List each alert in order of time in Alerts, or their causes again.

    Raises:
        NowhereError: There are no causes to list.
    """
    if not focus.in_time and ALERTS.explanation(snapshot, focus) is None:
        raise NowhereError("the alerts have not been diagnosed yet")
    return replace(focus, in_time=not focus.in_time)


def toggle_library_frames(focus: Focus) -> Focus:
    """Fold or unfold the frames of libraries."""
    return replace(focus, library_frames=not focus.library_frames)


def toggle_bad_only(snapshot: Snapshot, focus: Focus) -> Focus:
    """List only tensors with NaN or ∞ in Graph Execution, or all again.

    Raises:
        NowhereError: There are none.
    """
    if not focus.bad_only and not len(snapshot.run.graph_executions.alert_rows):
        raise NowhereError("no graph execution with NaN or ∞ has been recorded")
    return replace(focus, bad_only=not focus.bad_only)
