"""Targets are too large only where the loss is of them, in all of many steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 40
KERNEL = 1


def told(
    tmp_path: Path,
    *,
    given: list[float],
    away: float = 1e8,
    loss: float = 1e14,
    distance: str = "Square",
) -> list[str]:
    """Returns what is suspected of a layer whose result is compared with targets.

    Args:
        tmp_path: Where the logdir is written.
        given: The largest number of the result in each step.
        away: The largest difference.
        loss: The loss.
        distance: Type of the op that makes the loss of differences.
    """
    recorded = Program(tmp_path)
    recorded.layer(1, 0, "head", "Dense")
    recorded.variable(KERNEL, layer=1)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "y", "v", captured=(KERNEL,))
    for name in ("x", "y", "v"):
        recorded.op("f", "Placeholder", name)
    recorded.op("f", "ReadVariableOp", "read", "v:0")
    recorded.op("f", "MatMul", "MatMul", "x:0", "read:0", layer=1)
    recorded.op("f", "Sub", "Sub", "y:0", "MatMul:0")
    recorded.op("f", distance, "distance", "Sub:0")
    recorded.op("f", "Mean", "loss", "distance:0", "axes:0")
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "x:0", outputs=0)
    recorded.gradients([KERNEL], of=("f", "loss:0"))
    for step, largest in enumerate(given):
        values = {"x": 1.0, "y": away, "read": 0.5, "MatMul": largest, "Sub": away}
        values |= {"distance": away**2 if distance == "Square" else away, "loss": loss}
        for name, value in values.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    return [one.rule for one in diagnose(recorded.open()).suspects]


GIVEN = np.linspace(0.5, 28.0, STEPS).tolist()


@pytest.mark.parametrize(("distance", "loss"), [("Square", 1e14), ("Abs", 1e7)])
def test_a_model_that_does_not_come_near_its_targets(
    tmp_path: Path, distance: str, loss: float
) -> None:
    found = told(tmp_path, given=GIVEN, distance=distance, loss=loss)
    assert found == ["targets-too-large"]


def test_a_model_that_comes_nearer(tmp_path: Path) -> None:
    assert told(tmp_path, given=np.geomspace(0.5, 2e4, STEPS).tolist()) == []


def test_the_first_steps_tell_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, given=GIVEN[:20]) == []


@pytest.mark.parametrize(
    ("loss", "distance"),
    [
        (4.0, "Square"),  # the large ones are masked
        (1e5, "Abs"),  # a few are far out
    ],
)
def test_targets_that_are_not_what_the_loss_is_of(
    tmp_path: Path, loss: float, distance: str
) -> None:
    assert told(tmp_path, given=GIVEN, loss=loss, distance=distance) == []
