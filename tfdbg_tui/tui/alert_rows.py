"""What the Alerts pane lists: the causes, unfolded or not; or each alert in order of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import name_of
from tfdbg_tui.tui.focus import Focus, focus_alert, focus_event
from tfdbg_tui.tui.matching import first_match, rows_from

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.tui.explanation import Explanation, Group
    from tfdbg_tui.tui.snapshot import Snapshot

_NAMES_LOOKED_AT = 20_000  # they are not in memory


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A row.

    Attributes:
        group: The cause that the row is, or that the alert belongs to; None in order of time.
        alert: Position of the alert; None for the row of a cause.
    """

    group: Group | None
    alert: int | None


class AlertList:
    """The causes, each with its alerts under it where it is unfolded; or the alerts alone.

    They are alone until the run has been diagnosed.
    """

    def explanation(self, snapshot: Snapshot, focus: Focus) -> Explanation | None:
        """Return what the rows are grouped by; None where they are alerts in order of time."""
        found = snapshot.explanation
        return None if found is None or focus.in_time or not found.groups else found

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        explanation = self.explanation(snapshot, focus)
        if explanation is None:
            return len(snapshot.alerts)
        return sum(1 + _listed(group, focus) for group in explanation.groups)

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`: of an alert that is folded away, the row of its cause."""
        explanation = self.explanation(snapshot, focus)
        if explanation is None:
            return snapshot.alerts.position(focus.alert) if focus.alert else None
        chosen = focus.cause or focus.alert
        number = explanation.group_of(chosen) if chosen else None
        if number is None:
            return None
        row = sum(1 + _listed(group, focus) for group in explanation.groups[:number])
        group = explanation.groups[number]
        if focus.cause is None and focus.alert is not None and _listed(group, focus):
            position = explanation.alerts.position(focus.alert)
            return row + 1 + int(group.alerts.searchsorted(position or 0))
        return row

    def at(self, snapshot: Snapshot, focus: Focus, row: int) -> AlertRow:
        """Return what is in a row."""
        explanation = self.explanation(snapshot, focus)
        if explanation is None:
            return AlertRow(None, row)
        for group in explanation.groups:
            if row == 0:
                return AlertRow(group, None)
            listed = _listed(group, focus)
            if row <= listed:
                return AlertRow(group, int(group.alerts[row - 1]))
            row -= 1 + listed
        raise IndexError(row)

    def event(self, snapshot: Snapshot, found: AlertRow) -> TensorEvent:
        """Return the tensor of a row."""
        if found.alert is None:
            assert found.group is not None
            return found.group.finding.event
        explanation = snapshot.explanation
        alerts = explanation.alerts if explanation and found.group else snapshot.alerts
        return alerts[found.alert]

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        found = self.at(snapshot, focus, row)
        if found.group is None:
            return focus_alert(snapshot, focus, row)
        event = self.event(snapshot, found)
        cause = event if found.alert is None else None
        return focus_event(snapshot, replace(focus, alert=event, cause=cause), event)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        rows = rows_from(start, step, self.count(snapshot, focus))[:_NAMES_LOOKED_AT]

        def name(row: int) -> str:
            found = self.at(snapshot, focus, row)
            title = found.group.finding.title if found.group and found.alert is None else ""
            return f"{name_of(snapshot.run, self.event(snapshot, found))} {title}"

        return first_match(rows, text, name)


def unfold(snapshot: Snapshot, focus: Focus, group: Group, *, unfolded: bool) -> Focus:
    """List the alerts of a cause, or fold them away and stand on the cause."""
    event = group.finding.event
    if unfolded:
        return replace(focus, open_causes=focus.open_causes | {event})
    focus = replace(focus, open_causes=focus.open_causes - {event}, alert=event, cause=event)
    return focus_event(snapshot, focus, event)


def _listed(group: Group, focus: Focus) -> int:
    """Return how many alerts of a cause are listed."""
    return len(group.alerts) if group.finding.event in focus.open_causes else 0
