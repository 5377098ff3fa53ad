"""How large something was before is looked up by executions: graphs number their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.growth import start_of

if TYPE_CHECKING:
    from pathlib import Path

_HUGE = 2.0**70


def test_a_loss_of_a_graph_was_huge_before_an_eager_tensor(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    for name in ("a", "b", "c", "loss"):
        recorded.op("f", "Mean", name, "x:0")
    recorded.gradients([1], of=("f", "loss:0"))
    for step in range(2):
        for name in ("a", "b", "c", "loss"):
            recorded.trace("f", name, floats(_HUGE), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 1: floats(1)}, "f", serial=step + 1, step=step)
    recorded.execution("MatMul", [1, 2], {9: floats(float("inf"))}, step=1)
    start = start_of(Dataflow(recorded.open()), TensorEvent("execution", 2, 0))
    assert start is not None
    assert (start.step, start.largest) == (0, _HUGE)


@pytest.mark.parametrize(("loss", "other"), [(_HUGE, 1.0), (1.0, _HUGE)])
def test_what_else_a_line_computes_of_eager_code_is_no_loss(
    tmp_path: Path, loss: float, other: float
) -> None:
    recorded = Program(tmp_path)
    for step in range(2):
        for made, value in ((10 * step + 11, other), (10 * step + 12, loss)):
            recorded.execution("Mean", [5], {made: floats(value)}, line=3, extremes=True, step=step)
    recorded.gradients([1], of_eager=12)
    recorded.execution("MatMul", [1, 2], {99: floats(float("inf"))}, step=1)
    start = start_of(Dataflow(recorded.open()), TensorEvent("execution", 4, 0))
    assert (start is not None) is (loss == _HUGE)
