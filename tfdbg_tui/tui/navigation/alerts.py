"""From alert to alert, and to the tensor that the trouble began with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.session.focusing import focus_alert, pane_of_subject

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def step_alert(snapshot: Snapshot, focus: Focus, step: int) -> Focus:
    """Go to the next (1) or previous (-1) alert.

    Raises:
        NowhereError: There is none.
    """
    alerts = snapshot.alerts
    if not len(alerts) and snapshot.is_blind:
        raise NowhereError("this dump says nothing about NaN and ∞: ! tells what to record")
    if not len(alerts):
        raise NowhereError("no tensor with NaN or ∞ has been recorded")
    position = alerts.position(focus.alert) if focus.alert else None
    if position is None:
        return focus_alert(snapshot, focus, _position_of_first(snapshot))
    target = position + step
    if not 0 <= target < len(alerts):
        raise NowhereError("this is the last alert" if step > 0 else "this is the first alert")
    return focus_alert(snapshot, focus, target)


def first_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Go to the tensor that the trouble began with, in the pane that lists it.

    As long as the run has not been diagnosed, that is the first alert in order of time.

    Raises:
        NowhereError: There is none.
    """
    focus = step_alert(snapshot, replace(focus, alert=None), 1)
    return replace(focus, pane=pane_of_subject(focus))


def _position_of_first(snapshot: Snapshot) -> int:
    """Return the position of the alert that the trouble began with.

    Within one call of a function the order of time need not be the order of cause and effect.
    """
    root = snapshot.explanation.root if snapshot.explanation else None
    return (snapshot.alerts.position(root) if root else None) or 0
