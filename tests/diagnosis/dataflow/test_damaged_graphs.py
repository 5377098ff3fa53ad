"""Ops that take fewer inputs than ops of their types do, or each other's results, are no crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

_BAD = floats(float("nan"), 1)


@pytest.mark.parametrize("inputs", [(), ("one:0",)], ids=["none", "itself"])
@pytest.mark.parametrize(
    "op_type",
    [
        *("Enter", "RefEnter", "Exit", "NextIteration", "Merge", "Switch", "StackPopV2"),
        *("TensorArrayGradV3", "TensorArrayWriteV3", "TensorArrayReadV3", "IsFinite"),
        *("LookupTableFindV2", "LookupTableInsertV2", "Stage", "Unstage", "TensorMapLookup"),
        *("ReadVariableOp", "QueueDequeueV2", "QueueEnqueueV2", "Identity", "AssignVariableOp"),
    ],
)
def test_an_op_without_its_inputs(tmp_path: Path, op_type: str, inputs: tuple[str, ...]) -> None:
    program = Program(tmp_path)
    program.graph("g", "loss")
    program.op("g", op_type, "one", *inputs)
    program.op("g", "StackPopV2", "popped", "one:0")
    program.op("g", "Log", "log", "one:0", "popped:0")
    program.trace("g", "log", _BAD)
    assert diagnose(program.open()).verdict == "bad"


def test_the_body_of_a_loop_whose_result_is_a_copy_of_itself(tmp_path: Path) -> None:
    program = Program(tmp_path)
    for graph_id in ("g", "condition", "body"):
        program.graph(graph_id, graph_id, "" if graph_id == "g" else "g")
    program.op("g", "Placeholder", "x")
    program.op("g", "While", "while", "x:0", calls=("condition", "body"))
    program.op("body", "Placeholder", "argument")
    program.op("body", "Identity", "again", "again:0")
    program.function("body", "body", "argument", outputs=("again",))
    program.function("condition", "condition", "argument")
    for _ in range(2):
        program.trace("body", "argument", _BAD)
    assert len(diagnose(program.open()).roots) <= 1  # It ends.


def test_the_gradient_of_a_function_that_is_not_on_record(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("gradient", "__inference___backward_loss_1_2")
    program.op("gradient", "Placeholder", "gradients/Log_grad/Reciprocal/probs")
    program.function("gradient", "gradient", "gradients/Log_grad/Reciprocal/probs", forward="lost")
    program.op("gradient", "Reciprocal", "reciprocal", "gradients/Log_grad/Reciprocal/probs:0")
    program.trace("gradient", "gradients/Log_grad/Reciprocal/probs", _BAD)
    program.trace("gradient", "reciprocal", _BAD)
    assert diagnose(program.open()).verdict == "bad"
