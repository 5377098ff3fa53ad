"""All computations of a tensor, of graphs and of eager code, without reading their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import Dataflow, TensorEvent, history_of, outputs_of_same_op
from tfdbg_tui.diagnosis.history import tensors_of_line
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

BAD = floats(np.nan, 1.0)
PATH = "/home/program.py"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Split", "split", "x:0", outputs=2, line=3)
    for number in (1.0, 20.0, 3.0):
        made.trace("f", "split", floats(-number), 0, extremes=True)
        made.trace("f", "split", floats(number), 1)
        made.execution("Mul", [], {int(number): floats(number), 100: floats(number)}, line=4)
        made.execution("Add", [], {int(number): floats(number)}, line=4)
    made.trace("f", "split", BAD, 0, TensorDebugMode.CONCISE_HEALTH)
    made.execution("Mul", [], {200: floats(1.0), 201: BAD}, line=4)
    return made.open()


def test_of_a_graphs_tensor_in_all_modes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(type(run.graph_executions), "_decoded")
    (event,) = (TensorEvent("graph_execution", 2, 0),)
    monkeypatch.setattr("tfdbg_tui.diagnosis.history.dtype_of", lambda *_: None)
    history = history_of(Dataflow(run), event)
    assert history.rows.tolist() == [0, 2, 4, 6]
    assert history.largest.tolist() == pytest.approx([1.0, 20.0, 3.0, np.nan], nan_ok=True)
    assert history.bad.tolist() == [False, False, False, True]
    assert history.latest == history.event(3) == TensorEvent("graph_execution", 6, 0)


def test_of_an_eager_op_only_the_bad_output_is_bad(run: Run) -> None:
    bad = []
    for slot in (0, 1):
        history = history_of(Dataflow(run), TensorEvent("execution", 2, slot))
        assert history.rows.tolist() == [0, 2, 4, 6]
        bad.append(history.bad.tolist())
    assert bad == [[False] * 4, [False, False, False, True]]


def test_the_call_that_traces_a_function_is_one_of_its_calls(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    for call, way in enumerate(("trace", "call", "call")):
        made.execution("f", [], {call: floats(1)}, "f", line=4, in_library=way, extremes=True)
    made.execution("f", [], {10: floats(1)}, "f", line=5, in_library="call")
    made.execution("Add", [], {11: floats(1)}, line=4, in_library="trace")
    made.execution("Add", [], {12: floats(1)}, line=4, in_library="call")
    run = made.open()
    dataflow = Dataflow(run)
    history = history_of(dataflow, TensorEvent("execution", 1, 0))
    assert history.rows.tolist() == [0, 1, 2]
    assert history.largest.tolist() == [1.0, 1.0, 1.0]
    assert dataflow.timeline.alike(5).tolist() == [5], "an op is told from another by its way"


def test_the_dtype_of_an_eager_tensor_is_where_it_was_bad_first(tmp_path: Path) -> None:
    made = Program(tmp_path)
    for number, value in enumerate((floats(1.0), BAD, BAD)):
        mode = TensorDebugMode.FULL_HEALTH if number == 1 else TensorDebugMode.CONCISE_HEALTH
        made.execution("Mul", [], {number: value}, mode=mode, line=4)
    run = made.open()
    assert history_of(Dataflow(run), TensorEvent("execution", 0, 0)).dtype == "float32"


def test_the_outputs_of_an_op(run: Run) -> None:
    for event, expected in (
        (TensorEvent("graph_execution", 0, 0), [(4, 0), (5, 1)]),
        (TensorEvent("execution", 0, 1), [(0, 0), (0, 1)]),
    ):
        found = outputs_of_same_op(Dataflow(run), event)
        assert [(other.index, other.slot) for other in found] == expected


def test_the_tensors_of_a_line(run: Run) -> None:
    found = [tensors_of_line(Dataflow(run), PATH, line) for line in (3, 4, 5)]
    assert [[(other.index, other.slot) for other in events] for events in found] == [
        [(4, 0), (5, 1)],
        [(6, 0), (6, 1), (5, 0)],
        [],
    ]
