"""What the data of a run means: alerts, dataflow, causes, rules, reports.  Headless.

`find_alerts` lists the bad tensors, `Dataflow` says what a tensor was computed from, and
`diagnose` gives the report that the terminal app and the command line show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.lazy import lazily

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.alerts import Alerts as Alerts
    from tfdbg_tui.diagnosis.alerts import find_alerts as find_alerts
    from tfdbg_tui.diagnosis.dataflow import Dataflow as Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent as TensorEvent
    from tfdbg_tui.diagnosis.report.findings import Finding as Finding
    from tfdbg_tui.diagnosis.report.findings import Report as Report
    from tfdbg_tui.diagnosis.report.findings import diagnose as diagnose
    from tfdbg_tui.diagnosis.report.words import to_text as to_text

_HOMES = {
    "Alerts": "tfdbg_tui.diagnosis.alerts",
    "Dataflow": "tfdbg_tui.diagnosis.dataflow",
    "Finding": "tfdbg_tui.diagnosis.report.findings",
    "Report": "tfdbg_tui.diagnosis.report.findings",
    "TensorEvent": "tfdbg_tui.diagnosis.events",
    "diagnose": "tfdbg_tui.diagnosis.report.findings",
    "find_alerts": "tfdbg_tui.diagnosis.alerts",
    "to_text": "tfdbg_tui.diagnosis.report.words",
}

__all__ = [*_HOMES]
__getattr__ = lazily(__name__, _HOMES)
