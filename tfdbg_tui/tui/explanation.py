"""What diagnosis says of a run, as the panes ask for it: alerts by cause, the way to a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.report import Diagnosis, Finding
from tfdbg_tui.tui.bad_lines import find_bad_lines
from tfdbg_tui.tui.way import GroupKind, Way, is_bad, way_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.badsites import BadSite
    from tfdbg_tui.diagnosis.causes import Root
    from tfdbg_tui.diagnosis.events import Kind, TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.columns import Int64Array
    from tfdbg_tui.tui.snapshot import Snapshot

_WAYS = 64  # kept


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A cause and the alerts that go back to it.

    Attributes:
        kind: What became of it.
        finding: The cause.
        alerts: Positions of its alerts in `Explanation.alerts`, ascending.
    """

    kind: GroupKind
    finding: Finding
    alerts: Int64Array


class Explanation:
    """What diagnosis says of a snapshot.

    Made in a thread of its own: it takes time.  It stays true of what it was made of when the run
    has grown.

    Attributes:
        report: The report.
        alerts: The alerts that it explains, in order of time.
        bad_lines: The lines of the program whose ops made bad tensors.
        groups: The causes: roots in order of first occurrence, then suspects, then what is benign.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._run = snapshot.run
        self._diagnosis = Diagnosis(snapshot.run)
        self.report = self._diagnosis.report()
        self.alerts = snapshot.alerts
        self.groups = self._find_groups()
        self._group_of = np.full(len(self.alerts), -1, np.int64)
        for number, group in enumerate(self.groups):
            self._group_of[group.alerts] = number
        self.bad_lines = find_bad_lines(snapshot.run, self.report.roots)
        self._ways: dict[TensorEvent, Way] = {}

    @property
    def num_roots(self) -> int:
        """Number of causes of trouble."""
        return len(self.report.roots)

    @property
    def root(self) -> TensorEvent | None:
        """The tensor that the trouble began with."""
        return self.report.roots[0].event if self.report.roots else None

    def is_of(self, run: Run) -> bool:
        """Whether it still holds of a run: the same one, perhaps grown."""
        return (
            run.files.label == self._run.files.label
            and run.files.directory == self._run.files.directory
            and run.state.generation == self._run.state.generation
            and len(run.executions) >= len(self._run.executions)
            and len(run.graph_executions) >= len(self._run.graph_executions)
        )

    def group_of(self, event: TensorEvent) -> int | None:
        """Return which of the groups a tensor belongs to, or None."""
        position = self.alerts.position(event)
        if position is not None and self._group_of[position] >= 0:
            return int(self._group_of[position])
        of_finding = (i for i, group in enumerate(self.groups) if group.finding.event == event)
        return next(of_finding, None)

    def known_way(self, event: TensorEvent) -> Way | None:
        """Return the way to a tensor, if it has been found before."""
        return self._ways.get(event)

    def find_way(self, event: TensorEvent) -> Way:
        """Return the way to a tensor; reads many records where it is long."""
        way = self._way(event)
        if len(self._ways) >= _WAYS:
            self._ways.clear()
        self._ways[event] = way
        return way

    def _way(self, event: TensorEvent) -> Way:
        number = self.group_of(event)
        if number is None:
            bad = (link.event for link in self._diagnosis.chains.to(event) if is_bad(link))
            numbers = map(self.group_of, bad)
            number = next((found for found in numbers if found is not None), None)
        if number is None:
            return way_to(self._run, self._diagnosis, event)
        group = self.groups[number]
        return way_to(self._run, self._diagnosis, event, group.finding, group.kind)

    def _find_groups(self) -> tuple[Group, ...]:
        report, roots = self.report, self._diagnosis.causes.roots
        none = np.empty(0, np.int64)
        positions = self._positions_of_roots(roots)
        bad = [positions[i] for i, root in enumerate(roots) if not root.contained]
        benign = [positions[i] for i, root in enumerate(roots) if root.contained]
        return (
            *(Group("root", f, p) for f, p in zip(report.roots, bad, strict=True)),
            *(Group("suspect", finding, none) for finding in report.suspects),
            *(Group("benign", f, p) for f, p in zip(report.benign, benign, strict=True)),
        )

    def _positions_of_roots(self, roots: Sequence[Root]) -> list[Int64Array]:
        """Return the positions of the alerts of each root."""
        places: dict[Kind, _Places] = {
            "graph_execution": _places_in_graphs(self._run),
            "execution": _places_outside(self._run),
        }
        return [
            np.sort(
                np.concatenate([self._positions(places, member.site) for member in root.members])
            )
            for root in roots
        ]

    def _positions(self, places: dict[Kind, _Places], site: BadSite) -> Int64Array:
        kind = site.first.kind
        return self.alerts.positions(kind)[places[kind].alerts_of(site)]


class _Places:
    """The alerts of one kind of event, by place."""

    def __init__(self, rows: Int64Array, slots: Int64Array, places: Int64Array) -> None:
        self._rows = rows
        self._keys = places * (int(slots.max(initial=0)) + 1) + slots
        self._slots = slots
        self._order = np.argsort(self._keys, kind="stable")
        self._sorted = self._keys[self._order]

    def alerts_of(self, site: BadSite) -> Int64Array:
        """Return the numbers of the alerts of a place, from its first to its last one."""
        low, high = np.searchsorted(self._rows, [site.first.index, site.first.index + 1]).tolist()
        same = np.flatnonzero(self._slots[low:high] == site.slot)
        first = low + (int(same[0]) if same.size else 0)  # a graph tensor's slot is in its site
        low, high = np.searchsorted(self._sorted, [self._keys[first], self._keys[first] + 1])
        members = self._order[low:high]
        rows = self._rows[members]
        return members[(rows >= site.first.index) & (rows <= site.last.index)]


def _places_in_graphs(run: Run) -> _Places:
    rows = run.graph_executions.alert_rows
    sites = run.graph_executions.site_ids.take(rows)
    return _Places(rows, np.zeros(len(rows), np.int64), sites)


def _places_outside(run: Run) -> _Places:
    executions = run.executions
    rows = executions.alert_rows
    stacks = executions.stack_ids.take(rows)
    places = executions.kinds.take(rows) * (int(stacks.max(initial=0)) + 1) + stacks
    return _Places(rows, executions.alert_slots, places)
