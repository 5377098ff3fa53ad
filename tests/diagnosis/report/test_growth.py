"""How large something was before is looked up by executions: graphs number their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.growth import start_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_loss_of_a_graph_was_huge_before_an_eager_tensor(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    for name in ("a", "b", "c", "loss"):
        recorded.op("f", "Mean", name, "x:0")
    recorded.gradients([1], of=("f", "loss:0"))
    for step in range(2):
        for name in ("a", "b", "c", "loss"):
            recorded.trace("f", name, floats(2.0**70), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 1: floats(1)}, "f", serial=step + 1, step=step)
    recorded.execution("MatMul", [1, 2], {9: floats(float("inf"))}, step=1)
    start = start_of(Dataflow(recorded.open()), TensorEvent("execution", 2, 0))
    assert start is not None
    assert (start.step, start.largest) == (0, 2.0**70)
