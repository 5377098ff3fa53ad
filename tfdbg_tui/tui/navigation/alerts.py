"""From alert to alert, and to the root."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.chosen import in_view
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.session.focusing import focus_alert, focus_first_alert
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def step_alert(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) alert.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        step: 1 or -1.

    Raises:
        NowhereError: There is none.
    """
    alerts = snapshot.alerts
    position = alerts.position(focus.alert) if focus.alert else None
    if position is None:
        first = focus_first_alert(snapshot, focus)
        if first == focus:
            raise NowhereError("there are no alerts: this is the first suspect")
        return first
    target = position + step
    if not 0 <= target < len(alerts):
        raise NowhereError("this is the last alert" if step > 0 else "this is the first alert")
    return in_view(snapshot, focus_alert(snapshot, focus, target))


def first_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to the first root, in the pane that lists it.

    As long as the run has not been diagnosed, that is the first alert in order of time.

    Raises:
        NowhereError: There is none.
    """
    focus = focus_first_alert(snapshot, focus)
    return replace(focus, pane=pane_of_subject(focus))
