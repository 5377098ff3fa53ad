"""Alerts: all of them, in order of time, and back again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tfdbg_tui.diagnosis.alerts import AlertCounts, find_alerts
from tfdbg_tui.diagnosis.events import name_of, op_type_of, summary_of, wall_time_of
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from tests.conftest import GrowingRun, RecordedLogdirs
    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.logdir import Run, TensorSummary


def test_alerts_are_all_bad_tensors_in_order_of_time(logdirs: RecordedLogdirs) -> None:
    run = open_run(logdirs["mnist"])
    alerts = find_alerts(run)

    assert len(alerts) == run.num_alerts > 100
    assert all(summary_of(run, event).bad for event in alerts)
    times = [wall_time_of(run, event) for event in alerts]
    assert times == sorted(times)
    assert [alerts.position(event) for event in alerts] == list(range(len(alerts)))
    assert sum(alerts.by_op_type.values()) == len(alerts)


@pytest.mark.parametrize("name", ["mnist", "control_flow"])
def test_alerts_of_a_run_that_grows_are_those_of_a_fresh_one(
    growing_run: GrowingRun, name: str
) -> None:
    first, *runs = growing_run(name, 6)
    found, alerts = [], find_alerts(first)
    counts = alerts.count_kinds()
    for run in runs:
        before, alerts = alerts, find_alerts(run, alerts)
        counts = alerts.count_more_kinds(counts, before)
        found.append((alerts, find_alerts(run)))
    assert len({len(grown) for grown, _ in found}) > 2
    for grown, fresh in found:  # what was handed out has not changed since
        assert list(grown) == list(fresh)
        assert [grown.position(event) for event in fresh] == list(range(len(fresh)))
    assert counts == find_alerts(run).count_kinds()


@pytest.mark.parametrize("name", ["mnist", "curt_health", "control_flow"])
def test_some_alerts_are_counted_by_what_their_records_say(
    logdirs: RecordedLogdirs, name: str
) -> None:
    run = open_run(logdirs[name])
    alerts = find_alerts(run)
    some = np.arange(0, len(alerts), 3)
    summaries = [summary_of(run, alerts[i]) for i in some.tolist()]
    known = [summary for summary in summaries if summary and summary.nan is not None]
    assert alerts.count_kinds(some) == AlertCounts(
        nan=sum(bool(summary.nan) for summary in known),
        neg_inf=sum(bool(summary.neg_inf) for summary in known),
        pos_inf=sum(bool(summary.pos_inf) for summary in known),
        unknown=len(some) - len(known),
    )
    op_types = Counter(op_type_of(run, alerts[i]) for i in some.tolist())
    assert alerts.op_types_of(some) == op_types


def test_the_records_of_executions_are_read_once_however_often_they_are_counted(
    logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[TensorEvent] = []

    def noted(run: Run, event: TensorEvent) -> TensorSummary | None:
        read.append(event)
        return summary_of(run, event)

    monkeypatch.setattr("tfdbg_tui.diagnosis.alerts.summary_of", noted)
    alerts = find_alerts(open_run(logdirs["mnist"]))
    assert alerts.count_kinds() == alerts.count_kinds()
    assert read
    assert len(read) == len(set(read))


def test_first_alert_of_the_tutorial_is_the_log(logdirs: RecordedLogdirs) -> None:
    run = open_run(logdirs["mnist"])
    alerts = find_alerts(run)
    assert name_of(run, alerts.first) == "Log:0"
    assert op_type_of(run, alerts.first) == "Log"
    assert alerts.count_kinds(np.arange(1)).neg_inf == 1


def test_a_run_without_values_has_no_alerts(logdirs: RecordedLogdirs) -> None:
    alerts = find_alerts(open_run(logdirs["no_tensor"]))
    assert len(alerts) == 0
    assert alerts.first is None
    assert alerts.by_op_type == {}
