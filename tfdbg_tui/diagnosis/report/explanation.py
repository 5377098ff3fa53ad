"""A diagnosis to ask: which finding an alert goes back to, and the chain to any tensor."""

from __future__ import annotations

import bisect
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report.chains import Chain, GroupKind, chain_to
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
from tfdbg_tui.diagnosis.report.groups import AlertGroup
from tfdbg_tui.diagnosis.roots.alert_sites import place_of, recount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfdbg_tui.diagnosis.alerts import Alerts
    from tfdbg_tui.diagnosis.events import Kind, TensorEvent
    from tfdbg_tui.diagnosis.report.findings import Finding, Report
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertPlace, AlertSite
    from tfdbg_tui.logdir import Run

_CHAINS = 64  # kept


class Explanation:
    """What diagnosis says of a run.

    It takes time to make, and stays true of what it was made of when the run has grown.

    Args:
        run: The run.
        alerts: Its alerts.

    Attributes:
        report: The report.
        alerts: The alerts that it explains, in order of time.
        groups: The findings: roots in order of first occurrence, suspects, what else is benign.
    """

    def __init__(self, run: Run, alerts: Alerts) -> None:
        self._diagnosed = run
        self._diagnosis = Diagnosis(run)
        self._chains: dict[TensorEvent, Chain] = {}
        roots = self._diagnosis.causes.roots
        bad, benign = (
            [[node.site for node in root.members] for root in roots if root.contained is contained]
            for contained in (False, True)
        )
        self._tell(run, alerts, self._diagnosis.report(), bad, benign)

    def recounted(self, run: Run, alerts: Alerts) -> Explanation | None:
        """Return the same for the run as it has grown, if only the numbers of alerts have changed.

        That takes as long as there are places, however many alerts there are.

        Args:
            run: The run as it is now.
            alerts: Its alerts.
        """
        sites = [site for of_finding in (*self._bad, *self._benign) for site in of_finding]
        grown = recount(run, sites)
        if grown is None or run.num_graph_ops != self._run.num_graph_ops:
            return None
        bad, benign = (
            [[grown[site] for site in of_finding] for of_finding in of_kind]
            for of_kind in (self._bad, self._benign)
        )
        report = self.report.grown(
            run,
            tuple(map(_with_alerts, self.report.roots, bad)),
            tuple(map(_with_alerts, self.report.benign, benign)),
        )
        again = copy(self)
        again._tell(run, alerts, report, bad, benign)
        for before, group in zip(self.groups, again.groups, strict=True):
            if before.is_listed:
                _ = group.alerts  # here, not in the thread that draws
        return again

    def retold(self, findings: Mapping[TensorEvent, Finding]) -> Explanation:
        """Return the same with other words for some roots, by their first bad tensors."""
        again = copy(self)
        again._chains = {}
        roots = tuple(findings.get(root.event, root) for root in self.report.roots)
        again.report = replace(self.report, roots=roots)
        again.groups = tuple(
            group.retold(findings.get(group.finding.event, group.finding)) for group in self.groups
        )
        return again

    def _tell(
        self,
        run: Run,
        alerts: Alerts,
        report: Report,
        bad: Sequence[Sequence[AlertSite]],
        benign: Sequence[Sequence[AlertSite]],
    ) -> None:
        self._run, self.alerts, self.report = run, alerts, report
        self._bad, self._benign = bad, benign
        # What a suspect tells of a tensor stands for what does no harm about it.
        harmless = {
            found.event: (found, sites) for found, sites in zip(report.benign, benign, strict=True)
        }
        suspects = [
            (suspect, harmless.pop(suspect.event, (suspect, ()))[1]) for suspect in report.suspects
        ]
        kinds: tuple[tuple[GroupKind, Iterable[tuple[Finding, Sequence[AlertSite]]]], ...] = (
            ("root", zip(report.roots, bad, strict=True)),
            ("suspect", suspects),
            ("benign", harmless.values()),
        )
        self.groups = tuple(
            AlertGroup(kind, finding, sites, run, alerts)
            for kind, of_kind in kinds
            for finding, sites in of_kind
        )
        self._about: dict[TensorEvent, int] = {}
        self._of_place: dict[tuple[AlertPlace, int], list[tuple[int, int]]] = {}
        for number, group in enumerate(self.groups):
            self._about.setdefault(group.finding.event, number)
            for site in group.sites:
                parts = self._of_place.setdefault((site.place, site.slot), [])
                bisect.insort(parts, (site.first.index, number))

    @property
    def used_in(self) -> dict[int, int]:
        """The step that first uses what a data pipeline made ahead of it, by graph execution.

        Of other graph executions of pipelines than causes it is not known.
        """
        ahead = (group.finding for group in self.groups if group.finding.made_ahead)
        return {found.event.index: found.step for found in ahead if found.step is not None}

    @property
    def root(self) -> TensorEvent | None:
        """The first bad tensor of the first root."""
        return self.report.roots[0].event if self.report.roots else None

    @property
    def harmless(self) -> list[AlertSite]:
        """Places whose bad tensors do no harm."""
        return [site for of_finding in self._benign for site in of_finding]

    @property
    def first(self) -> TensorEvent | None:
        """The tensor to look at first: that of the first root, else of the first suspect."""
        findings = (*self.report.roots, *self.report.suspects)
        return findings[0].event if findings else None

    def is_of(self, run: Run) -> bool:
        """Whether it still holds of a run: the same one, perhaps grown."""
        return (
            run.files.identity == self._run.files.identity
            and run.state.generation == self._run.state.generation
            and len(run.executions) >= len(self._run.executions)
            and len(run.graph_executions) >= len(self._run.graph_executions)
        )

    def group_about(self, event: TensorEvent) -> int | None:
        """Return which of the groups has a finding about a tensor, or None."""
        return self._about.get(event)

    def group_listing(self, alert: TensorEvent) -> int | None:
        """Return which of the groups lists an alert, or None."""
        is_known = alert.index < _size(self._run, alert.kind)
        if not is_known or self.alerts.position(alert) is None:
            return None
        parts = self._of_place.get((place_of(self._run, alert), alert.slot), ())
        found = [number for first, number in parts if first <= alert.index]
        return found[-1] if found else None

    def group_of(self, event: TensorEvent) -> int | None:
        """Return which of the groups explains a tensor, or None.

        What a suspect tells of a tensor need not be told of the root that made it bad.
        """
        about = self.group_about(event)
        return self.group_listing(event) if about is None else about

    def known_chain(self, event: TensorEvent) -> Chain | None:
        """Return the chain to a tensor, if it has been found before."""
        return self._chains.get(event)

    def find_chain(self, event: TensorEvent, run: Run) -> Chain:
        """Return the chain to a tensor; reads many records where it is long.

        Args:
            event: The tensor, which may be newer than the explanation.
            run: The run as it is now.
        """
        chain = self._chain(event, run)
        if len(self._chains) >= _CHAINS:
            self._chains.clear()
        self._chains[event] = chain
        return chain

    def _chain(self, event: TensorEvent, run: Run) -> Chain:
        number, diagnosis = self.group_of(event), self._diagnosis_of(event, run)
        if number is None:
            bad = (link.event for link in diagnosis.links.to(event) if link.is_bad)
            numbers = map(self.group_of, bad)
            number = next((found for found in numbers if found is not None), None)
        if number is None:
            return chain_to(diagnosis, event)
        group = self.groups[number]
        chain = chain_to(diagnosis, event, group.finding, group.kind)
        return chain.continued() if group.finding.event == event else chain

    def _diagnosis_of(self, event: TensorEvent, run: Run) -> Diagnosis:
        """Return a diagnosis that knows an event, which may be newer than the one that was made."""
        if event.index >= _size(self._diagnosed, event.kind):
            self._diagnosis, self._diagnosed = Diagnosis(run), run
        return self._diagnosis


def _size(run: Run, kind: Kind) -> int:
    return len(run.graph_executions if kind == "graph_execution" else run.executions)


def _with_alerts(finding: Finding, sites: Sequence[AlertSite]) -> Finding:
    return replace(finding, alerts=sum(site.alerts for site in sites))
