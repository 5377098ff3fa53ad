"""Zeros are told only where all that layers multiply with their weights is 0 in each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 9
TOLD = ["only-zeros"]


def told(directory: Path, steps: int, **numbers: float) -> list[str]:
    """Returns what is suspected of a layer of two arrays, or of rows of a table.

    Args:
        directory: Where the logdir is written.
        steps: How many there are.
        numbers: What the arrays ``x`` and ``z``, or the ``table``, hold; else it is 1.
    """
    recorded = Program(directory)
    recorded.variable(1, name="kernel")
    recorded.variable(2, name="table", trainable=False)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "z", "v", "w", captured=(1, 2))
    for name in ("x", "z", "v", "w"):
        recorded.op("f", "Placeholder", name, dtype="float32")
    rows = "table" in numbers
    for name, op_type, *inputs in (
        ("read", "ReadVariableOp", "v:0"),
        ("table", "ReadVariableOp", "w:0"),
        ("rows", "GatherV2", "table:0", "indices:0"),
        ("scaled", "Mul", "x:0", "scale:0"),
        ("MatMul", "MatMul", "rows:0" if rows else "scaled:0", "read:0"),
        ("MatMul_1", "MatMul", "rows:0" if rows else "z:0", "read:0"),
        ("sum", "AddN", "MatMul:0", "MatMul_1:0", "x:0"),
        ("loss", "Mean", "sum:0"),
    ):
        recorded.op("f", op_type, name, *inputs, dtype="float32")
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "x:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    values = dict.fromkeys(("read", "MatMul", "MatMul_1", "sum", "loss"), 0.5)
    for name, of in {"x": "x", "scaled": "x", "z": "z", "table": "table", "rows": "table"}.items():
        values[name] = numbers.get(of, 1.0)
    for step in range(steps):
        for name, value in values.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    return [one.rule for one in diagnose(recorded.open()).suspects]


@pytest.mark.parametrize(
    ("steps", "numbers", "expected"),
    [
        (STEPS, {"x": 0.0, "z": 0.0}, TOLD * 2),
        (STEPS, {"table": 0.0}, TOLD),
        (STEPS, {"table": 1.0}, []),
        (STEPS, {"x": 0.0}, []),  # one of two arrays may be left out on purpose
        (3, {"x": 0.0, "z": 0.0}, []),
        (STEPS, {}, []),
    ],
)
def test_all_that_a_model_is_given(
    tmp_path: Path, steps: int, numbers: dict[str, float], expected: list[str]
) -> None:
    assert told(tmp_path, steps, **numbers) == expected
