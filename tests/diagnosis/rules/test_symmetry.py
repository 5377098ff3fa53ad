"""Units of a layer stay alike only where weights before and after them began with one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 9
KERNEL, BIAS, LAST = 1, 2, 3


def told(tmp_path: Path, values: dict[str, list[np.ndarray]]) -> list[tuple[str, str]]:
    """Returns what is suspected of two layers, given the weights in each step."""
    recorded = Program(tmp_path)
    recorded.layer(1, 0, "hidden", "Dense")
    recorded.layer(2, 0, "out", "Dense")
    recorded.variable(KERNEL, layer=1)
    recorded.variable(BIAS, layer=1)
    recorded.variable(LAST, layer=2)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "k", "b", "l", captured=(KERNEL, BIAS, LAST))
    for name in ("x", "k", "b", "l"):
        recorded.op("f", "Placeholder", name)
    for name, variable in (("kernel", "k"), ("bias", "b"), ("last", "l")):
        recorded.op("f", "ReadVariableOp", name, f"{variable}:0")
    recorded.op("f", "MatMul", "MatMul", "x:0", "kernel:0", layer=1)
    recorded.op("f", "BiasAdd", "BiasAdd", "MatMul:0", "bias:0", layer=1)
    recorded.op("f", "MatMul", "out", "BiasAdd:0", "last:0", layer=2)
    for step in range(STEPS):
        made = {name: of_steps[step] for name, of_steps in values.items()}
        made |= {name: np.linspace(0.5, 1, 6, dtype="f") for name in ("MatMul", "BiasAdd", "out")}
        for name, value in made.items():
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: np.ones(6, np.float32)}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    return [(one.rule, one.layer.name if one.layer else "") for one in suspects]


def weights(*, first: float, spread: float = 0.0, changes: float = 0.01) -> list[np.ndarray]:
    """Returns six numbers in each step, apart by so much after the first, or from that on."""
    apart = np.linspace(-1, 1, 6)
    return [(first + changes * step + spread * step * apart).astype("f") for step in range(STEPS)]


ALIKE = {
    "kernel": weights(first=0.1, spread=0.02),
    "bias": weights(first=0.0),
    "last": weights(first=0.1),
}
RANDOM = [value + np.linspace(-0.1, 0.1, 6, dtype="f") for value in weights(first=0.1)]


def test_units_that_stay_alike(tmp_path: Path) -> None:
    assert told(tmp_path, ALIKE) == [("units-alike", "hidden")]


@pytest.mark.parametrize(
    "other",
    [
        {"kernel": RANDOM},
        {"last": RANDOM},
        {"kernel": weights(first=0.0, spread=0.02)},  # 0 is told by the gradients
        {"bias": weights(first=0.0, spread=0.001)},
        {"bias": weights(first=0.0, changes=0.0)},  # it is not trained
    ],
)
def test_units_that_may_differ(tmp_path: Path, other: dict[str, list[np.ndarray]]) -> None:
    assert told(tmp_path, ALIKE | other) == []
