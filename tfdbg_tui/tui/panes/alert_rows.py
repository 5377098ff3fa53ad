"""What the Alerts pane lists: the causes, unfolded or not; or each alert in order of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import name_of
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.panes.matching import Matches
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focusing import (
    focus_alert,
    focus_event,
    focus_first_alert,
    focused_event,
)
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.diagnosis import Explanation, Group, TensorEvent
    from tfdbg_tui.query import Kind, TextTerm
    from tfdbg_tui.tui.panes.matching import Flags
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_KINDS: tuple[Kind, Kind] = ("graph_execution", "execution")


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A row.

    Attributes:
        group: The cause that the row is, or that the alert belongs to; None in order of time.
        alert: Position of the alert; None for the row of a cause.
    """

    group: Group | None
    alert: int | None


class AlertRows(Rows):
    """The causes, each with its alerts under it where it is unfolded; or the alerts alone.

    They are alone until the run has been diagnosed.
    """

    LISTS_EVENTS = True

    def explanation(self, snapshot: Snapshot, focus: Focus) -> Explanation | None:
        """Return what the rows are grouped by; None where they are alerts in order of time."""
        found = snapshot.explanation
        return None if found is None or focus.in_time or not found.groups else found

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        explanation = self.explanation(snapshot, focus)
        if explanation is None:
            return len(snapshot.alerts)
        return sum(1 + _listed(group, focus) for group in explanation.groups)

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`: of an alert that is folded away, the row of its cause."""
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
            if position is not None:
                return row + 1 + int(group.alerts.searchsorted(position))
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
        """See `Rows`."""
        found = self.at(snapshot, focus, row)
        if found.group is None:
            return focus_alert(snapshot, focus, row)
        event = self.event(snapshot, found)
        cause = event if found.alert is None else None
        return focus_event(snapshot, replace(focus, alert=event, cause=cause), event)

    def matches(self, snapshot: Snapshot, focus: Focus, term: TextTerm) -> Matches:
        """See `Rows`."""
        explanation = self.explanation(snapshot, focus)
        flags = _matching_alerts(snapshot, term)
        if explanation is not None:
            flags = _matching_rows(snapshot, focus, explanation, flags, term)
        return Matches(len(flags), lambda rows: flags[rows])

    def listing(self, snapshot: Snapshot, focus: Focus) -> Hashable:
        """See `Rows`."""
        return focus.in_time, focus.open_causes, snapshot.explanation

    def for_search(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: with the alerts of all causes."""
        explanation = self.explanation(snapshot, focus)
        if explanation is None:
            return focus
        causes = frozenset(group.finding.event for group in explanation.groups)
        return replace(focus, open_causes=causes)

    def select_found(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`: below a cause, that is unfolded."""
        unfolded = self.for_search(snapshot, focus)
        found, group = self.select(snapshot, unfolded, row), self.at(snapshot, unfolded, row).group
        opened = focus.open_causes
        if group is not None and found.cause is None:
            opened |= {group.finding.event}
        return replace(found, open_causes=opened)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: unfold the alerts of a cause, or go to the tensor of the row."""
        if focus.alert is None:
            focus = focus_first_alert(snapshot, focus)
        group = None
        if focus.cause is not None and not focus.in_time and snapshot.explanation is not None:
            number = snapshot.explanation.group_of(focus.cause)
            group = None if number is None else snapshot.explanation.groups[number]
        if group is not None and group.num_alerts:
            return _unfold(snapshot, focus, group, unfolded=focus.cause not in focus.open_causes)
        focus = focus_event(snapshot, focus, focus.alert or snapshot.alerts[0])
        return replace(focus, pane=pane_of_subject(focus))

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """See `Rows`: the alerts of a cause."""
        if not self.count(snapshot, focus):
            return focus
        group = self.at(snapshot, focus, self.position(snapshot, focus) or 0).group
        if group is None:
            raise NowhereError("alerts are listed in order of time: r groups them by cause")
        return _unfold(snapshot, focus, group, unfolded=unfolded)

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`."""
        if not len(snapshot.alerts):
            return super().newest(snapshot, focus)
        return focus_alert(snapshot, focus, len(snapshot.alerts) - 1)

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """See `Rows`."""
        if not self.count(snapshot, focus):
            return focused_event(snapshot, focus)
        return focus.alert or self.event(snapshot, self.at(snapshot, focus, 0))

    def go_to_number(self, snapshot: Snapshot, focus: Focus, number: int) -> Focus:
        """See `Rows`: alerts count from 1."""
        count = len(snapshot.alerts)
        if not 1 <= number <= count:
            raise NowhereError(f"there is no alert {number:,}: there are {count:,}, from 1 on")
        return focus_alert(snapshot, focus, number - 1)


ALERTS = AlertRows()


def _unfold(snapshot: Snapshot, focus: Focus, group: Group, *, unfolded: bool) -> Focus:
    """List the alerts of a cause, or fold them away and stand on the cause."""
    event = group.finding.event
    if unfolded:
        return replace(focus, open_causes=focus.open_causes | {event})
    focus = replace(focus, open_causes=focus.open_causes - {event}, alert=event, cause=event)
    return focus_event(snapshot, focus, event)


def _listed(group: Group, focus: Focus) -> int:
    """Return how many alerts of a cause are listed."""
    return group.num_alerts if group.finding.event in focus.open_causes else 0


def _matching_alerts(snapshot: Snapshot, term: TextTerm) -> Flags:
    """Return which alerts match, in order of time."""
    found = np.zeros(len(snapshot.alerts), np.bool_)
    for kind in _KINDS:
        positions = snapshot.alerts.positions(kind)
        if len(positions):
            (test,) = snapshot.row_tests(kind).of([term])
            found[positions] = test(snapshot.events(kind).alert_rows[:])
    return found


def _matching_rows(
    snapshot: Snapshot, focus: Focus, explanation: Explanation, alerts: Flags, term: TextTerm
) -> Flags:
    """Return which rows match where alerts are grouped by what caused them."""
    rows = []
    for group in explanation.groups:
        finding = group.finding
        place = f"{finding.location.file}:{finding.location.line}" if finding.location else ""
        texts = (name_of(snapshot.run, finding.event), finding.title, finding.graph or "", place)
        rows.append(np.array([any(map(term.finds, texts))]))
        rows.append(alerts[group.alerts[: _listed(group, focus)]])
    return np.concatenate(rows)
