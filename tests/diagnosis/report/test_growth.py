"""How large something was before is looked up by executions: graphs number their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.diagnosis.report.growth import not_measured_before, start_of

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


def test_parts_of_a_loss_that_a_line_adds_up_tell_how_large_it_was(tmp_path: Path) -> None:
    """The last of them, which is the loss, was not measured."""
    recorded = Program(tmp_path)
    for step in range(2):
        part, loss = 10 * step + 11, 10 * step + 12
        recorded.execution("AddV2", [5], {part: floats(_HUGE)}, line=3, extremes=True, step=step)
        recorded.execution("AddV2", [part], {loss: floats(_HUGE)}, line=3, step=step)
    recorded.gradients([1], of_eager=12)
    recorded.execution("MatMul", [1, 2], {99: floats(float("inf"))}, step=1)
    assert start_of(Dataflow(recorded.open()), TensorEvent("execution", 4, 0)) is not None


@pytest.mark.parametrize(("sign", "line"), [(-1.0, 6), (1.0, 5)])
@pytest.mark.parametrize("grows", ["first", "second"])
def test_a_divergence_is_told_with_the_weights_that_grew_first(
    tmp_path: Path, sign: float, line: int, grows: str
) -> None:
    """Where the loss falls without end it is told at the line of the loss."""
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v1", "v2", captured=(1, 2))
    for handle, name in ((1, "first"), (2, "second")):
        recorded.variable(handle, name=name)
        recorded.op("f", "Placeholder", f"v{handle}")
        recorded.op("f", "ReadVariableOp", name, f"v{handle}:0", dtype="float32")
        change = f"a{handle}", f"v{handle}:0", "g:0"
        recorded.op("f", "AssignSubVariableOp", *change, outputs=0, line=10 + handle)
    recorded.op("f", "MatMul", "product", "first:0", "second:0", line=4, dtype="float32")
    recorded.op("f", "Square", "square", "product:0", line=5, dtype="float32")
    recorded.op("f", "Neg", "loss", "square:0", line=6, dtype="float32")
    recorded.gradients([1, 2], of=("f", "loss:0"))
    for step, size in enumerate((1.0, 1e3, 1e8, 1e18)):
        weights = {"first": 0.5 * 3**step, "second": 0.5 * (2 - (grows == "first")) ** (2 * step)}
        square = size**2 if step < 3 else float("inf")
        values = {**weights, "product": size, "square": square, "loss": sign * square}
        for name, value in values.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=step < 3)
        recorded.execution("f", [], {step + 9: floats(1)}, "f", serial=step + 1, step=step)
    (root,) = diagnose(recorded.open()).roots
    assert root.rule == ("loss-without-lower-bound" if sign < 0 else "diverged-until-overflow")
    assert root.location is not None
    assert root.location.line == line
    assert ("it overflows at program.py:5" in root.evidence) is (sign < 0)
    grown = {
        "first": "first, from 0.5 in step 0 to 1.5",
        "second": "second, from 0.5 in step 0 to 2",
    }
    assert f"the weights that grew first: {grown[grows]} in step 1" in root.evidence
    changed_at = {"first": 11, "second": 12}[grows]
    assert f"in step 1 (changed at program.py:{changed_at})" in root.evidence


def test_what_a_loop_computes_in_the_same_step_is_no_step_before(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.op("f", "MatMul", "product", "x:0", "y:0")
    for step, measured in enumerate((True, False, True)):
        for iteration in range(3):
            is_measured = measured and not iteration
            recorded.trace("f", "product", floats(2), serial=step + 1, extremes=is_measured)
        recorded.execution("f", [], {step + 9: floats(1)}, "f", serial=step + 1, step=step)
    dataflow = Dataflow(recorded.open())
    said = [not_measured_before(dataflow, TensorEvent("graph_execution", row, 0)) for row in (6, 8)]
    assert said == ["at most 2 when it was measured last, and not measured in steps 0 to 1", ""]
