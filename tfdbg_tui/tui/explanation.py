"""What diagnosis says of a run, as the panes ask for it: alerts by cause, the way to a tensor."""

from __future__ import annotations

import bisect
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.report.findings import Diagnosis, Finding, Report
from tfdbg_tui.diagnosis.roots.alert_sites import alerts_of, place_of, recount
from tfdbg_tui.tui.bad_lines import find_bad_lines
from tfdbg_tui.tui.way import GroupKind, Way, is_bad, way_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.diagnosis.alerts import Alerts
    from tfdbg_tui.diagnosis.events import Kind, TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import BadSite, Place
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.tui.session.snapshot import Snapshot

_WAYS = 64  # kept


class Group:
    """A cause and the alerts that go back to it.

    Attributes:
        kind: What became of it.
        finding: The cause.
        sites: The places of its alerts.
    """

    def __init__(
        self, kind: GroupKind, finding: Finding, sites: Sequence[BadSite], run: Run, alerts: Alerts
    ) -> None:
        self.kind = kind
        self.finding = finding
        self.sites = sites
        self._run = run
        self._alerts = alerts

    @property
    def num_alerts(self) -> int:
        """Number of its alerts."""
        return sum(site.alerts for site in self.sites)

    @cached_property
    def alerts(self) -> Int64Array:
        """Positions of its alerts in `Explanation.alerts`, ascending; looks at all alerts."""
        found = [
            self._alerts.positions(kind)[alerts_of(self._run, kind, self.sites)]
            for kind in ("graph_execution", "execution")
            if any(site.place[0] == kind for site in self.sites)
        ]
        return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)

    @property
    def is_listed(self) -> bool:
        """Whether somebody has asked for `alerts`."""
        return "alerts" in self.__dict__


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
        self._diagnosed = snapshot.run
        self._diagnosis = Diagnosis(snapshot.run)
        self._ways: dict[TensorEvent, Way] = {}
        roots = self._diagnosis.causes.roots
        bad, benign = (
            [[node.site for node in root.members] for root in roots if root.contained is contained]
            for contained in (False, True)
        )
        self._tell(snapshot, self._diagnosis.report(), bad, benign)

    def recounted(self, snapshot: Snapshot) -> Explanation | None:
        """Return the same for the run as it has grown, if only the numbers of alerts have changed.

        That takes as long as there are places, however many alerts there are.
        """
        sites = [site for group in self.groups for site in group.sites]
        grown = recount(snapshot.run, sites, snapshot.summary)
        if grown is None or snapshot.run.num_graph_ops != self._run.num_graph_ops:
            return None
        bad, benign = (
            [[grown[site] for site in group.sites] for group in self.groups if group.kind == kind]
            for kind in ("root", "benign")
        )
        report = self.report.grown(
            snapshot.run,
            tuple(map(_with_alerts, self.report.roots, bad)),
            tuple(map(_with_alerts, self.report.benign, benign)),
        )
        again = copy(self)
        again._tell(snapshot, report, bad, benign)
        for before, group in zip(self.groups, again.groups, strict=True):
            if before.is_listed:
                _ = group.alerts  # here, not in the thread that draws
        return again

    def _tell(
        self,
        snapshot: Snapshot,
        report: Report,
        bad: Sequence[Sequence[BadSite]],
        benign: Sequence[Sequence[BadSite]],
    ) -> None:
        self._run, self.report = snapshot.run, report
        self.alerts: Alerts = snapshot.alerts
        kinds: tuple[tuple[GroupKind, Sequence[Finding], Iterable[Sequence[BadSite]]], ...] = (
            ("root", report.roots, bad),
            ("suspect", report.suspects, repeat(())),
            ("benign", report.benign, benign),
        )
        self.groups = tuple(
            Group(kind, finding, sites, snapshot.run, snapshot.alerts)
            for kind, findings, of_findings in kinds
            for finding, sites in zip(findings, of_findings, strict=False)
        )
        self._of_place: dict[tuple[Place, int], list[tuple[int, int]]] = {}
        for number, group in enumerate(self.groups):
            for site in group.sites:
                parts = self._of_place.setdefault((site.place, site.slot), [])
                bisect.insort(parts, (site.first.index, number))
        self.bad_lines = find_bad_lines(snapshot.run, report.roots)

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
        if self.covers(event) and self.alerts.position(event) is not None:
            parts = self._of_place.get((place_of(self._run, event), event.slot), ())
            found = [number for first, number in parts if first <= event.index]
            if found:
                return found[-1]
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
        number, diagnosis = self.group_of(event), self._diagnosis_of(event)
        if number is None:
            bad = (link.event for link in diagnosis.chains.to(event) if is_bad(link))
            numbers = map(self.group_of, bad)
            number = next((found for found in numbers if found is not None), None)
        if number is None:
            return way_to(self._run, diagnosis, event)
        group = self.groups[number]
        return way_to(self._run, diagnosis, event, group.finding, group.kind)

    def covers(self, event: TensorEvent) -> bool:
        """Whether a tensor had been recorded when the run was looked at last."""
        return event.index < _size(self._run, event.kind)

    def _diagnosis_of(self, event: TensorEvent) -> Diagnosis:
        """Return a diagnosis that knows an event, which may be newer than the one that was made."""
        if event.index >= _size(self._diagnosed, event.kind) and self.covers(event):
            self._diagnosis, self._diagnosed = Diagnosis(self._run), self._run
        return self._diagnosis


def _size(run: Run, kind: Kind) -> int:
    return len(run.graph_executions if kind == "graph_execution" else run.executions)


def _with_alerts(finding: Finding, sites: Sequence[BadSite]) -> Finding:
    return replace(finding, alerts=sum(site.alerts for site in sites))
