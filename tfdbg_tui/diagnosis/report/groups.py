"""Alerts by finding: each with the alerts that go back to it."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.roots.alert_sites import alerts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.alerts import Alerts
    from tfdbg_tui.diagnosis.report.chains import GroupKind
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array


class AlertGroup:
    """A finding and the alerts that go back to it.

    Attributes:
        kind: What became of it.
        finding: The finding.
        sites: The places of its alerts.
    """

    def __init__(
        self,
        kind: GroupKind,
        finding: Finding,
        sites: Sequence[AlertSite],
        run: Run,
        alerts: Alerts,
    ) -> None:
        """Make a group.

        Args:
            kind: What became of the finding.
            finding: The finding.
            sites: The places of its alerts.
            run: The run.
            alerts: All its alerts.
        """
        self.kind = kind
        self.finding = finding
        self.sites = sites
        self._run = run
        self._alerts = alerts

    def retold(self, finding: Finding) -> AlertGroup:
        """Return the same with other words for its finding."""
        twin = copy(self)
        twin.finding = finding
        return twin

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
