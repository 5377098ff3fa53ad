"""What the Alerts pane lists: the causes, unfolded or not; or each alert in order of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import TensorEvent, name_of
from tfdbg_tui.query import BAD_KINDS, OF_TENSORS, SORT_FIELDS, Outputs, with_kind
from tfdbg_tui.tui.panes.event_rows import row_of
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.panes.matching import Matches
from tfdbg_tui.tui.panes.rows import Rows, ToSort
from tfdbg_tui.tui.panes.selected_alerts import KINDS, select_alerts
from tfdbg_tui.tui.panes.titles import field_of_title
from tfdbg_tui.tui.session.focusing import (
    focus_alert,
    focus_event,
    focus_first_alert,
    focused_event,
)
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis import AlertGroup, Explanation
    from tfdbg_tui.query import Kind, TextTerm
    from tfdbg_tui.tui.panes.matching import Flags
    from tfdbg_tui.tui.panes.selected_alerts import SelectedAlerts
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

    Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A row.

    Attributes:
        group: The cause that the row is, or that the alert belongs to; None in order of time.
        alert: Position of the alert; None for the row of a cause.
    """

    group: AlertGroup | None
    alert: int | None


class AlertRows(Rows):
    """The causes, each with its alerts under it where it is unfolded; or the alerts alone.

    They are alone until the run has been diagnosed.
    """

    LISTS_EVENTS = True
    ALL_BAD = True
    VOCABULARY = OF_TENSORS
    PANE = "alerts"

    def click_title(self, snapshot: Snapshot, focus: Focus, title: str) -> Focus:
        """See `Rows`: list only the kind of bad values whose chip was clicked on, or all again."""
        kind, text = field_of_title(title.rpartition(" ")[0]), focus.filter_of(self.PANE)
        if kind not in BAD_KINDS:
            return focus
        chosen = None if kind in text.split() else kind
        return focus.filtered(self.PANE, with_kind(text, chosen))

    def explanation(self, snapshot: Snapshot, focus: Focus) -> Explanation | None:
        """Return what the rows are grouped by; None where they are alerts in order of time."""
        found, flat = snapshot.explanation, focus.in_time or focus.sort_of(self.PANE)
        return None if found is None or flat or not found.groups else found

    def columns(self, snapshot: Snapshot) -> Sequence[str]:
        """See `Rows`: sorted, they are not grouped."""
        return SORT_FIELDS

    def to_sort(self, snapshot: Snapshot, focus: Focus) -> ToSort | None:
        """See `Rows`."""
        selected = self.selected(snapshot, focus)
        ids, tensors = [], []
        for kind in KINDS:
            positions = snapshot.alerts.positions(kind)
            rows = snapshot.events(kind).alert_rows[:]
            slots = np.zeros(len(rows), np.int64)
            if kind == "execution":
                slots = snapshot.run.executions.alert_slots[:]
            mine = slice(None) if selected is None else selected.flags[positions]
            ids.append(positions[mine])
            tensors.append(Outputs(kind, rows[mine], slots[mine]))
        return ToSort(np.concatenate(ids), tensors)

    def _positions(self, snapshot: Snapshot, focus: Focus) -> Positions | None:
        """Return which alerts are listed where no causes are; None for all in order of time."""
        in_order = snapshot.sorted_in(self.PANE, focus)
        if in_order is not None:
            return in_order.rows
        selected = self.selected(snapshot, focus)
        return None if selected is None else selected.positions

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        groups = self.groups(snapshot, focus)
        if groups is None:
            positions = self._positions(snapshot, focus)
            return len(snapshot.alerts) if positions is None else len(positions)
        return sum(1 + self._unfolded(snapshot, focus, group) for group in groups)

    def num_listed(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`: causes do not count."""
        selected = self.selected(snapshot, focus)
        return len(snapshot.alerts) if selected is None else len(selected.positions)

    def groups(self, snapshot: Snapshot, focus: Focus) -> Sequence[AlertGroup] | None:
        """Return the causes that are listed: under a filter, those of alerts that it selects."""
        explanation, selected = self.explanation(snapshot, focus), self.selected(snapshot, focus)
        if explanation is None or selected is None:
            return explanation.groups if explanation else None
        return [group for group in explanation.groups if selected.of(group).size]

    def num_alerts(self, snapshot: Snapshot, focus: Focus, group: AlertGroup) -> int:
        """Return how many alerts of a cause there are, folded or not.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            group: The cause and its alerts.
        """
        selected = self.selected(snapshot, focus)
        return group.num_alerts if selected is None else selected.of(group).size

    def _alerts_of(self, snapshot: Snapshot, focus: Focus, group: AlertGroup) -> Positions:
        selected = self.selected(snapshot, focus)
        return group.alerts if selected is None else selected.of(group)

    def _unfolded(self, snapshot: Snapshot, focus: Focus, group: AlertGroup) -> int:
        """Return how many alerts of a cause are listed below it."""
        opened = group.finding.event in focus.open_causes
        return self.num_alerts(snapshot, focus, group) if opened else 0

    def selections(self, focus: Focus) -> Sequence[tuple[Kind, str]]:
        """See `Rows`: of either list what is bad."""
        text = focus.filter_of(self.PANE)
        return tuple((kind, f"{text} bad") for kind in KINDS) if text else ()

    def selected(self, snapshot: Snapshot, focus: Focus) -> SelectedAlerts | None:
        """Return which alerts the filter selects; None where there is none.

        Args:
            snapshot: What is shown.
            focus: What is focused.
        """
        keys = self.selections(focus)
        return select_alerts(snapshot, keys) if keys else None

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`: of an alert that is folded away, the row of its cause."""
        explanation, groups = self.explanation(snapshot, focus), self.groups(snapshot, focus)
        if explanation is None or groups is None:
            return self._place_in_list(snapshot, focus)
        number = explanation.group_about(focus.cause) if focus.cause else None
        if number is None and focus.alert is not None:
            number = explanation.group_listing(focus.alert)
        group = None if number is None else explanation.groups[number]
        if group is None or group not in groups:
            return None
        before = groups[: groups.index(group)]
        row = sum(1 + self._unfolded(snapshot, focus, other) for other in before)
        if focus.cause is None and focus.alert is not None:
            position = explanation.alerts.position(focus.alert)
            if position is not None and self._unfolded(snapshot, focus, group):
                listed = self._alerts_of(snapshot, focus, group)
                return row + min(1 + int(listed.searchsorted(position)), listed.size)
        return row

    def _place_in_list(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """Return the row of the alert; in order of time, of the last one before it."""
        position = snapshot.alerts.position(focus.alert) if focus.alert else None
        in_order = snapshot.sorted_in(self.PANE, focus) is None
        return row_of(position, self._positions(snapshot, focus), in_order=in_order)

    def at(self, snapshot: Snapshot, focus: Focus, row: int) -> AlertRow:
        """Return what is in a row.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            row: The row, from 0.
        """
        groups = self.groups(snapshot, focus)
        if groups is None:
            positions = self._positions(snapshot, focus)
            return AlertRow(None, row if positions is None else int(positions[row]))
        for group in groups:
            if row == 0:
                return AlertRow(group, None)
            listed = self._unfolded(snapshot, focus, group)
            if row <= listed:
                return AlertRow(group, int(self._alerts_of(snapshot, focus, group)[row - 1]))
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
            assert found.alert is not None
            return focus_alert(snapshot, focus, found.alert)
        event = self.event(snapshot, found)
        cause = event if found.alert is None else None
        return focus_event(snapshot, replace(focus, alert=event, cause=cause), event)

    def matches(self, snapshot: Snapshot, focus: Focus, term: TextTerm) -> Matches:
        """See `Rows`."""
        groups, positions = self.groups(snapshot, focus), self._positions(snapshot, focus)
        flags = _matching_alerts(snapshot, term)
        if groups is not None:
            flags = self._matching_rows(snapshot, focus, groups, flags, term)
        elif positions is not None:
            flags = flags[positions]
        return Matches(len(flags), lambda rows: flags[rows])

    def _matching_rows(
        self,
        snapshot: Snapshot,
        focus: Focus,
        groups: Sequence[AlertGroup],
        alerts: Flags,
        term: TextTerm,
    ) -> Flags:
        """Return which rows match where alerts are grouped by what caused them."""
        rows = [np.zeros(0, bool)]
        for group in groups:
            rows.append(np.array([any(map(term.finds, _texts(snapshot, group)))]))
            if self._unfolded(snapshot, focus, group):
                rows.append(alerts[self._alerts_of(snapshot, focus, group)])
        return np.concatenate(rows)

    def listing(self, snapshot: Snapshot, focus: Focus) -> Hashable:
        """See `Rows`."""
        filtered = focus.filter_of(self.PANE), self.num_listed(snapshot, focus)
        in_order = focus.in_time, focus.sort_of(self.PANE), snapshot.sorted_in(self.PANE, focus)
        return in_order, focus.open_causes, snapshot.explanation, filtered

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
        explanation = self.explanation(snapshot, focus)
        if focus.cause is not None and explanation is not None:
            number = explanation.group_about(focus.cause)
            group = None if number is None else explanation.groups[number]
        if group is not None and group.num_alerts and focus.cause not in focus.open_causes:
            return _unfold(snapshot, focus, group, unfolded=True)
        event = focus.alert or focus.cause
        assert event is not None, "the first of them is focused above where none was"
        focus = focus_event(snapshot, focus, event)
        return replace(focus, pane=pane_of_subject(focus))

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """See `Rows`: the alerts of a cause."""
        if not self.count(snapshot, focus):
            return focus
        group = self.at(snapshot, focus, self.position(snapshot, focus) or 0).group
        if group is None and focus.sort_of(self.PANE):
            raise NowhereError("alerts are sorted: Esc groups them by cause again")
        if group is None:
            raise NowhereError("alerts are listed in order of time: r groups them by cause")
        return _unfold(snapshot, focus, group, unfolded=unfolded)

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: the last alert, while the lists of events are at what is newer."""
        focus, alerts = super().newest(snapshot, focus), snapshot.alerts
        return replace(focus, alert=alerts[len(alerts) - 1], cause=None) if len(alerts) else focus

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


def _unfold(snapshot: Snapshot, focus: Focus, group: AlertGroup, *, unfolded: bool) -> Focus:
    """List the alerts of a cause, or fold them away and stand on the cause."""
    event = group.finding.event
    if unfolded:
        return replace(focus, open_causes=focus.open_causes | {event})
    focus = replace(focus, open_causes=focus.open_causes - {event}, alert=event, cause=event)
    return focus_event(snapshot, focus, event)


def _matching_alerts(snapshot: Snapshot, term: TextTerm) -> Flags:
    """Return which alerts match, in order of time."""
    found = np.zeros(len(snapshot.alerts), np.bool_)
    for kind in KINDS:
        positions = snapshot.alerts.positions(kind)
        if len(positions):
            (test,) = snapshot.row_tests(kind).of([term])
            found[positions] = test(snapshot.events(kind).alert_rows[:])
    return found


def _texts(snapshot: Snapshot, group: AlertGroup) -> tuple[str, ...]:
    """Return what a search looks at of a cause."""
    finding = group.finding
    place = f"{finding.location.file}:{finding.location.line}" if finding.location else ""
    return name_of(snapshot.run, finding.event), finding.title, finding.graph or "", place
