"""Which of several calls of a function its tensors belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir import Run, open_run

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs

FORMULAS = {"AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "Sin": np.sin, "Tanh": np.tanh}


@pytest.fixture(scope="module")
def run(logdirs: RecordedLogdirs) -> Run:
    return open_run(logdirs["nested_calls"])


@pytest.fixture(scope="module")
def dataflow(run: Run) -> Dataflow:
    return Dataflow(run)


def value(run: Run, event: TensorEvent) -> float:
    if event.kind == "execution":
        tensor = run.executions.tensor(event.index, event.slot)
    else:
        tensor = run.graph_executions.tensor(event.index)
    assert tensor is not None
    return float(tensor)


def float_tensors(run: Run) -> list[TensorEvent]:
    traces = run.graph_executions
    return [
        TensorEvent("graph_execution", row, 0)
        for row in range(len(traces))
        if (tensor := traces.tensor(row)) is not None and tensor.dtype == np.float64
    ]


def test_each_tensor_is_what_its_op_makes_of_its_sources(run: Run, dataflow: Dataflow) -> None:
    computed = handed_on = 0
    for event in float_tensors(run):
        site = run.graph_executions.site(event.index)
        op = run.op(site.graph_id, site.op_name)
        assert op is not None
        sources = [producer.event for producer in dataflow.producers(event)]
        given = [value(run, source) for source in sources if source is not None]
        if op.op_type in FORMULAS:
            assert len(given) == len(op.inputs)
            assert value(run, event) == pytest.approx(FORMULAS[op.op_type](*given), rel=1e-12)
            computed += 1
        elif op.op_type == "Placeholder" and dataflow.calls.call_site(site.graph_id):
            assert given == [value(run, event)]
            handed_on += 1
    assert computed > 400
    assert handed_on > 300


def test_each_use_is_computed_from_the_tensor(run: Run, dataflow: Dataflow) -> None:
    uses = 0
    for event in float_tensors(run):
        for use in dataflow.consumers(event):
            if use.event is None or use.event.kind == "execution":
                continue
            source = dataflow.producers(use.event)[use.input_slot].event
            assert source is not None
            assert value(run, source) == value(run, event)
            uses += 1
    assert uses > 1000
