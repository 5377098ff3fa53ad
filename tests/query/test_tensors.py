"""Rows of tensors: each recorded tensor once, with what its record tells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.logdir import Run, open_run
from tfdbg_tui.query import COLUMNS, parse, tensor_rows
from tfdbg_tui.query.trace_events import trace_events
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


@pytest.fixture(scope="module")
def run(logdirs: RecordedLogdirs) -> Run:
    return open_run(logdirs["mnist"])


def test_each_recorded_tensor_is_one_row_in_order_of_time(run: Run) -> None:
    rows = list(tensor_rows(run, parse("")))
    outputs = sum(max(1, len(execution.outputs)) for execution in run.executions)
    assert len(rows) == len(run.graph_executions) + outputs
    assert len({row.event for row in rows}) == len(rows)
    assert sum(bool(row.summary and row.summary.bad) for row in rows) == run.num_alerts
    times = [row.wall_time for row in rows]
    assert times == sorted(times)


def test_the_first_bad_tensor_is_told_with_its_counts_and_line(run: Run) -> None:
    values = next(tensor_rows(run, parse("bad"))).values()
    assert list(values) == list(COLUMNS)
    expected = {"name": "Log:0", "function": "loss", "size": 1000, "neg_inf": 3, "line": 183}
    assert values.items() >= expected.items()
    assert json.loads(json.dumps(values, allow_nan=False)) == values


def test_of_an_event_with_several_outputs_only_those_that_fit_are_rows(run: Run) -> None:
    rows = list(tensor_rows(run, parse('"loss (forward)" nan'), ["execution"]))
    assert rows
    assert all(row.summary and row.summary.nan for row in rows)
    first = rows[0].event.index
    bad = list(tensor_rows(run, parse('"loss (forward)" bad'), ["execution"]))
    assert [row.event.slot for row in bad if row.event.index == first] == [0, 1]
    assert len(run.executions[first].outputs) > 2


def test_a_trace_has_an_instant_for_each_tensor_and_counts_the_bad(run: Run) -> None:
    events = list(trace_events(run))
    instants = [event for event in events if event["ph"] == "i"]
    assert len(instants) == len(list(tensor_rows(run, parse(""))))
    tracks = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert {(event["pid"], event["tid"]) for event in instants} == tracks
    counters = [event["args"]["bad"] for event in events if event["ph"] == "C"]
    assert counters == list(range(1, run.num_alerts + 1))


def test_the_type_of_a_healthy_tensor_is_that_of_its_op(tmp_path: Path) -> None:
    """In ADAPTIVE its record does not hold it."""
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "MatMul", "product", dtype="float16")
    made.trace("f", "product", floats(1.0), mode=TensorDebugMode.CONCISE_HEALTH)
    run = made.open()
    (row,) = tensor_rows(run, parse("dtype=float16"))
    assert row.values()["dtype"] == "float16"
    summary = Snapshot(run).summary(row.event)
    assert summary is not None
    assert chips.size_and_type(summary) == "float16 1 element"


@pytest.mark.parametrize(("query", "found"), [("dtype=float32", [0]), ("dtype!=float32", [1])])
def test_a_tensor_of_which_nothing_tells_the_type_is_of_none(
    tmp_path: Path, query: str, found: list[int]
) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Log", "unknown")
    made.op("f", "Log", "known")
    made.trace("f", "known", floats(1.0), mode=TensorDebugMode.FULL_HEALTH)
    made.trace("f", "unknown", floats(1.0), mode=TensorDebugMode.CONCISE_HEALTH)
    rows = tensor_rows(made.open(), parse(query))
    assert [row.event.index for row in rows] == found


@pytest.mark.parametrize(("query", "found"), [("program", [0]), ("program.py", [1])])
def test_a_word_is_looked_for_in_lines_where_no_name_has_it(
    tmp_path: Path, query: str, found: list[int]
) -> None:
    made = Program(tmp_path)
    made.execution("ProgramOp", [], {1: floats(1.0)})
    made.execution("Log", [], {2: floats(1.0)}, line=7)
    rows = tensor_rows(made.open(), parse(query), ["execution"])
    assert [row.event.index for row in rows] == found
