"""A regulariser is too strong only where it takes all weights, and nothing else is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, dense_layer, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 9
KERNEL = 1
GONE = np.geomspace(60.0, 0.2, STEPS).tolist()


def program(tmp_path: Path, *, joined_by: str, of: str) -> Program:
    """Returns one whose loss is that of data and the sum of squares of a kernel, or of data."""
    recorded = dense_layer(tmp_path, KERNEL)
    recorded.op("f", "Mean", "data", "MatMul:0", "axes:0")
    recorded.op("f", "Square", "Square", of)
    recorded.op("f", "Sum", "penalty", "Square:0", "axes:0")
    recorded.op("f", joined_by, "joined", "data:0", "penalty:0")
    if joined_by == "Pack":
        recorded.op("f", "Sum", "loss", "joined:0", "axes:0")
    else:
        recorded.op("f", "Identity", "loss", "joined:0")
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "x:0", outputs=0)
    recorded.gradients([KERNEL], of=("f", "loss:0"))
    return recorded


def told(recorded: Program, data: list[float], penalty: list[float]) -> list[tuple[str, str]]:
    for step, (one, other) in enumerate(zip(data, penalty, strict=True)):
        values = {"x": 1.0, "read": other**0.5, "MatMul": 1.0, "data": one, "Square": other}
        values |= {"penalty": other, "joined": one + other, "loss": one + other}
        for name, value in values.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    return [(one.rule, one.layer.name if one.layer else "") for one in suspects]


@pytest.mark.parametrize("joined_by", ["AddV2", "AddN", "Pack"])
def test_weights_that_go_to_nothing(tmp_path: Path, joined_by: str) -> None:
    recorded = program(tmp_path, joined_by=joined_by, of="read:0")
    assert told(recorded, [2.4] * STEPS, GONE) == [("penalty-too-strong", "hidden")]


@pytest.mark.parametrize(
    ("data", "penalty"),
    [
        (np.geomspace(2.4, 0.3, STEPS).tolist(), GONE),  # something is learned
        ([2.4] * STEPS, np.geomspace(60.0, 20.0, STEPS).tolist()),  # weights remain
        ([2.4] * STEPS, [value / 100 for value in GONE]),  # it was never large
    ],
)
def test_weights_that_become_smaller(
    tmp_path: Path, data: list[float], penalty: list[float]
) -> None:
    assert told(program(tmp_path, joined_by="AddV2", of="read:0"), data, penalty) == []


def test_a_term_of_what_the_data_make_is_no_penalty(tmp_path: Path) -> None:
    assert told(program(tmp_path, joined_by="AddV2", of="MatMul:0"), [2.4] * STEPS, GONE) == []


@pytest.mark.parametrize(
    ("last", "loss", "expected"),
    [
        ((1e-3, 1e-3), 0.69, [("penalty-too-strong", 3, ["layer 1", "layer 2"])]),
        ((1e-3, 0.2), 0.69, []),  # one is still there
        ((1e-3, 1e-3), 0.2, []),  # 0 is right
    ],
)
def test_weights_that_decay_to_nothing(
    tmp_path: Path,
    last: tuple[float, float],
    loss: float,
    expected: list[tuple[str, int, list[str]]],
) -> None:
    """The weight decay of an optimizer is no term of the loss."""
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "v1", "v2", captured=(1, 2))
    given = "x:0"
    for number in (1, 2):
        recorded.layer(number, 0, f"layer {number}", "Dense")
        recorded.variable(number, layer=number)
        recorded.op("f", "ReadVariableOp", f"read{number}", f"v{number}:0")
        recorded.op("f", "MatMul", f"MatMul{number}", given, f"read{number}:0", layer=number)
        recorded.op("f", "AssignSubVariableOp", f"assign{number}", f"v{number}:0", "x:0", outputs=0)
        given = f"MatMul{number}:0"
    recorded.op("f", "Mean", "loss", given, "axes:0")
    recorded.gradients([1, 2], of=("f", "loss:0"))
    for step in range(STEPS):
        values = {"MatMul1": 1.0, "MatMul2": 1.0, "loss": loss if step > 2 else 0.8}
        values |= {f"read{n}": 0.4 if step < 3 else end for n, end in enumerate(last, start=1)}
        for name, value in values.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    names = [[one.layer.name if one.layer else ""] for one in suspects]
    others = [[layer.name for layer in one.other_layers] for one in suspects]
    found = [
        (one.rule, one.step, [*name, *more])
        for one, name, more in zip(suspects, names, others, strict=True)
    ]
    assert found == expected
