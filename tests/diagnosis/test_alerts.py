"""Alerts: all of them, in order of time, and back again."""

from __future__ import annotations

from tfdbg_tui.diagnosis.alerts import find_alerts
from tfdbg_tui.diagnosis.events import name_of, op_type_of, summary_of, wall_time_of
from tfdbg_tui.logdir import open_run


def test_alerts_are_all_bad_tensors_in_order_of_time(logdirs):
    run = open_run(logdirs["mnist"])
    alerts = find_alerts(run)

    assert len(alerts) == run.num_alerts > 100
    assert all(summary_of(run, event).bad for event in alerts)
    times = [wall_time_of(run, event) for event in alerts]
    assert times == sorted(times)
    assert [alerts.position(event) for event in alerts] == list(range(len(alerts)))
    assert sum(alerts.by_op_type.values()) == len(alerts)


def test_first_alert_of_the_tutorial_is_the_log(logdirs):
    run = open_run(logdirs["mnist"])
    alerts = find_alerts(run)
    assert name_of(run, alerts.first) == "Log:0"
    assert op_type_of(run, alerts.first) == "Log"
    assert alerts.count_kinds(1).neg_inf == 1


def test_a_run_without_values_has_no_alerts(logdirs):
    alerts = find_alerts(open_run(logdirs["no_tensor"]))
    assert len(alerts) == 0
    assert alerts.first is None
    assert alerts.by_op_type == {}
