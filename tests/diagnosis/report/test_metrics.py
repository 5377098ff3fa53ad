"""Of a bad tensor that makes no gradient bad it is said that the training goes on without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 3
TOLD = "no gradient, and no loss of which one is asked for, is bad because of it"


@pytest.mark.parametrize(
    ("takes", "steps", "expected"),
    [
        ("metric", STEPS, True),
        ("loss", STEPS, False),
        ("gradient_tape/loss", STEPS, False),
        ("metric", 1, False),  # the program has stopped before it computed the loss
    ],
)
def test_what_only_a_metric_is_made_of(
    tmp_path: Path, takes: str, steps: int, expected: bool
) -> None:
    recorded = Program(tmp_path)
    recorded.variable(1)
    recorded.graph("f", "f")
    recorded.op("f", "Log", "Log", "x:0")
    for name in ("metric", "loss", "gradient_tape/loss"):
        recorded.op("f", "Mean", name, "Log:0" if name == takes else "y:0")
    recorded.gradients([1], of=("f", "loss:0"))
    for step in range(steps):
        recorded.trace("f", "Log", floats(-np.inf), serial=step + 1)
        for name in ("metric", "loss", "gradient_tape/loss")[: 1 if steps == 1 else 3]:
            value = floats(-np.inf if name == takes else 0.5)
            recorded.trace("f", name, value, serial=step + 1)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    (root,) = diagnose(recorded.open()).roots
    assert (TOLD in root.evidence) is expected
