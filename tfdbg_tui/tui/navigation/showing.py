"""What lists show: library frames or not, by root or by time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_NOTHING_BAD = "no tensor with NaN or ∞ has been recorded"


def toggle_in_time(snapshot: Snapshot, focus: Focus) -> Focus:
    """List each alert in order of time in Alerts, or their causes again.

    Raises:
        NowhereError: There are no causes to list.
    """
    focus = focus.sorted_by(ALERTS.PANE, None)
    if not focus.in_time and ALERTS.explanation(snapshot, focus) is None:
        if snapshot.explanation is not None and not snapshot.explanation.groups:
            raise NowhereError(_NOTHING_BAD)
        raise NowhereError("the alerts have not been diagnosed yet")
    return replace(focus, in_time=not focus.in_time)


def toggle_library_frames(focus: Focus) -> Focus:
    """Fold or unfold the frames of libraries."""
    return replace(focus, library_frames=not focus.library_frames)


def toggle_bad_branches(snapshot: Snapshot, focus: Focus) -> Focus:
    """Leave out of Graph Structure what does not lead to NaN and ∞, or show all again.

    Raises:
        NowhereError: All would be left out.
    """
    if not focus.bad_branches and not len(snapshot.alerts):
        raise NowhereError(_NOTHING_BAD)
    return replace(focus, bad_branches=not focus.bad_branches)
