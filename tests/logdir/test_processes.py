"""Several processes of one run: one timeline, with nothing mixed up between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.logdir.synthetic import (
    GRAPHS,
    content,
    execution_record,
    read,
    record,
    trace_record,
    vector_proto,
    write_logdir,
)
from tfdbg_tui.diagnosis.alerts import find_alerts
from tfdbg_tui.logdir import RunReader, list_runs
from tfdbg_tui.storage import local
from tfdbg_tui.wire import events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest

    from tfdbg_tui.logdir import Run


def process(host: str, times: Iterable[float], *, bad_every: int = 3) -> dict[str, Any]:
    """Returns the files of a process that ran one op at each of some times."""
    source = events.SourceFile(f"/home/user/{host}.py", host, ["code\n"])
    frame = events.StackFrameWithId("frame", events.FileLineCol(0, 7, func=host))
    location = events.CodeLocation(host, ["frame"]).encode()
    op = events.GraphOpCreation("Log", "op", "f", GRAPHS[0], num_outputs=1, code_location=location)
    op.op_type = f"Log{host}"
    traces = executions = b""
    for i, at in enumerate(times):
        nan = float(i % bad_every == 0)
        proto = vector_proto([1.0, 3.0, 0.0, 0.0, nan])
        trace = events.GraphExecutionTrace(
            GRAPHS[0], "op", 0, 3, proto, "/device:CPU:0", execution_serial=i + 1
        )
        execution = events.Execution(
            host, 1, tensor_debug_mode=3, tensor_protos=[proto], code_location=location
        )
        execution.serial = i + 1
        traces += trace_record(trace, wall_time=at)
        executions += execution_record(execution, wall_time=at)
    return {
        "prefix": f"tfdbg_events.1700000000.{host}",
        "sources": record(source_file=source.encode()),
        "frames": record(stack_frame_with_id=frame.encode()),
        "graphs": record(graph_op_creation=op.encode()),
        "traces": traces,
        "executions": executions,
    }


A_TIMES = [1.7e9 + t for t in range(0, 100, 2)]
B_TIMES = [1.7e9 + t for t in (1, 5, 5, 3, 60, *range(61, 90))]  # a clock that steps back
C_TIMES = [1.7e9 + t for t in (0, 50, 99)]


def test_merged_by_time(tmp_path: Path) -> None:
    for host, times in (("a", A_TIMES), ("b", B_TIMES)):
        write_logdir(tmp_path / "logdir", **process(host, times))
    run = read(tmp_path / "logdir")
    expected = sorted(
        [(t, "a", i) for i, t in enumerate(A_TIMES)]
        + [(t, "b", i) for i, t in enumerate(np.maximum.accumulate(B_TIMES))],
        key=lambda event: (event[0], event[1]),
    )
    assert [(e.host, e.serial - 1) for e in run.executions] == [(h, i) for _, h, i in expected]
    assert run.hosts == ("a", "b")
    assert {path for _, path in run.source_paths} == {"/home/user/a.py", "/home/user/b.py"}
    for trace in run.graph_executions:
        assert trace.op_type == f"Log{trace.host}"
        assert run.executions[trace.execution_index].host == trace.host
        (frame,) = run.stack(run.op(trace.graph_id, "op").stack_id)
        assert frame.path == f"/home/user/{trace.host}.py"
    for found in (run.executions, run.graph_executions):
        assert found.wall_times(np.arange(len(found))).tolist() == [
            event.wall_time for event in found
        ]
    bad = [i for i, e in enumerate(run.executions) if e.outputs[0].bad]
    assert run.executions.alert_rows[:].tolist() == bad
    assert run.graph_executions.alert_rows[:].tolist() == [
        i for i, e in enumerate(run.graph_executions) if e.summary.bad
    ]
    site = run.graph_executions.site_ids[0]
    rows = run.graph_executions.rows_of(site)
    assert {run.graph_executions[int(row)].host for row in rows} == {"a"}
    assert run.graph_executions.last_before(site, int(rows[5])) == rows[4]


def by_name(run: Run) -> tuple[object, ...]:
    """Returns the events with names; file sets are numbered in the order in which they joined."""
    executions = [(e.host, e.serial, e.wall_time, e.outputs) for e in run.executions]
    traces = [(t.host, t.op_type, t.wall_time, t.execution_index) for t in run.graph_executions]
    alerts = run.executions.alert_rows[:].tolist(), run.graph_executions.alert_rows[:].tolist()
    return executions, traces, alerts


def test_processes_that_write_and_join_late(tmp_path: Path) -> None:
    """However the files grow, the order at the end is that of a fresh reading."""
    whole = {h: process(h, t) for h, t in (("a", A_TIMES), ("b", B_TIMES), ("c", C_TIMES))}
    logdir = tmp_path / "logdir"
    write_logdir(logdir, **{**whole["a"], "traces": b"", "executions": b""})
    (files,) = list_runs(logdir)
    reader = RunReader(files, chunk_bytes=700)
    snapshots, alerts = [], None
    for part in range(1, 7):
        for host in "abc":
            if host == "a" or part >= 3:
                cut = {
                    name: whole[host][name][: len(whole[host][name]) * part // 6]
                    for name in ("traces", "executions")
                }
                if part == 6 or host != "b":
                    write_logdir(logdir, **{**whole[host], **cut})
        run = reader.read_all()
        snapshots.append((run, content(run)))
        alerts = find_alerts(run, alerts)
        assert list(alerts) == list(find_alerts(run))
        assert [alerts.position(event) for event in alerts] == list(range(run.num_alerts))
    assert by_name(snapshots[-1][0]) == by_name(read(logdir))
    assert len(snapshots[-1][0].executions) == len(A_TIMES) + len(B_TIMES) + len(C_TIMES)
    for run, then in snapshots:  # what was handed out has not changed since
        now = content(run)
        for name in ("executions", "traces", "execution alerts", "trace alerts", "trace times"):
            assert now[name] == then[name]


def test_other_runs_in_the_directory_stay_apart(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    write_logdir(logdir, **process("a", A_TIMES))
    (files,) = list_runs(logdir)
    reader = RunReader(files)
    write_logdir(logdir, run_id="other", **process("b", B_TIMES))
    assert reader.read_all().hosts == ("a",)
    assert sorted(run.run_id for run in list_runs(logdir)) == ["0123abcd", "other"]


def test_serials_out_of_order(tmp_path: Path) -> None:
    """Executions of several threads end in another order than they began in."""
    order = list(range(1, 400))
    order[10], order[11], order[200] = order[11], order[10], 1000
    execution = events.Execution("f", tensor_debug_mode=1)
    executions = b""
    for serial in order:
        execution.serial = serial
        executions += tfrecord.frame(
            events.DebugEvent(1.7e9, execution=execution.encode()).encode()
        )
    traces = b"".join(
        trace_record(events.GraphExecutionTrace("g", "op", 0, 1, execution_serial=serial))
        for serial in (*order, 0, 5000)
    )
    run = read(write_logdir(tmp_path / "logdir", executions=executions, traces=traces))
    found = [trace.execution_index for trace in run.graph_executions]
    assert found == [*range(len(order)), None, None]


def test_more_files_than_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are opened when they are read; a run of 200 processes has 1,200 of them."""
    for number in range(12):
        write_logdir(tmp_path, **process(f"host{number}", [1, 2]))
    expected = content(read(tmp_path))
    monkeypatch.setattr(local, "_limit", lambda: 3)
    (files,) = list_runs(tmp_path)
    reader = RunReader(files)
    run = reader.read_all()
    assert len(local._open) <= 3
    assert content(run) == expected
    assert not run.problems
    for number in range(12):  # what is appended, and what another process adds, is still found
        write_logdir(tmp_path, **process(f"host{number}", [1, 2, 3]))
    write_logdir(tmp_path, **process("late", [9]))
    while not (run := reader.poll()).progress.complete or len(run.executions) < 37:
        pass
    assert run.executions[36].op_type == "late"
    assert not run.problems


def test_a_closed_file_is_not_mistaken_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_logdir(tmp_path, **process("one", [1, 2]))
    run = read(tmp_path)
    monkeypatch.setattr(local, "_limit", lambda: 1)
    run.graph_executions[0]  # closes the file of the executions
    (path,) = tmp_path.glob("*.execution")
    path.rename(tmp_path / "old")
    path.write_bytes((tmp_path / "old").read_bytes())
    assert "another file" in run.executions[0].unreadable
    assert run.graph_executions[1].unreadable is None
