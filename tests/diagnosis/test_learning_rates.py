"""The learning rate is told where steps are too long, with the line that made the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

RATE, OTHER = 8, 9


def thrown(recorded: Program, numbers: dict[int, list[float]], reads_at: str) -> None:
    """Records steps that make two variables many times as large, by a rate that is read."""
    for handle in numbers:
        recorded.execution("VarHandleOp", [], {handle: np.ones(1, np.float32)}, line=handle)
    for step in range(6):
        at = 100 * step + 100
        for handle in (1, 2):
            weights = np.full(64, 0.5 + 3.0 * step, np.float32)
            read = {at + handle: weights}
            recorded.execution("ReadVariableOp", [handle], read, line=5, extremes=True, step=step)
            recorded.execution("AssignSubVariableOp", [handle, 99], {}, step=step, line=20)
        for handle, values in numbers.items():
            value = np.full(1, values[min(step, len(values) - 1)], np.float32)
            recorded.execution(
                *("ReadVariableOp", [handle], {at + handle: value}),
                line=20,
                in_library=reads_at,
                extremes=True,
                step=step,
            )


@pytest.mark.parametrize(
    ("reads_at", "lines", "told_at"),
    [
        ("update_step", (20, 20), RATE),  # that made the optimizer
        ("call", (20, 20), 20),  # the program changes its variables itself
        ("call", (20, 21), 3),  # that asks for gradients
    ],
)
def test_a_divergence_is_told_at_the_line_of_its_rate(
    tmp_path: Path, reads_at: str, lines: tuple[int, int], told_at: int
) -> None:
    recorded = Program(tmp_path)
    for handle in (1, 2, RATE):
        recorded.execution("VarHandleOp", [], {handle: np.ones(1, np.float32)}, line=handle)
    for handle in (1, 2):
        recorded.variable(handle)
    for step in range(12):
        at = 100 * step + 100
        loss = np.full(1, 1.0 if step < 4 else 1e3, np.float32)
        recorded.execution("Mean", [], {at: loss}, line=3, extremes=True, step=step)
        rate = {at + 1: np.full(1, 0.5, np.float32)}
        recorded.execution(
            *("ReadVariableOp", [RATE], rate),
            line=20,
            in_library=reads_at,
            extremes=True,
            step=step,
        )
        for handle, line in zip((1, 2), lines, strict=True):
            recorded.execution("AssignSubVariableOp", [handle, 99], {}, step=step, line=line)
    recorded.gradients([1, 2], of_eager=at)
    (found,) = diagnose(recorded.open()).suspects
    assert found.rule == "training-diverges"
    assert found.location is not None
    assert found.location.line == told_at
    assert ("its op is at program.py:3" in found.evidence) is (told_at != 3)


@pytest.mark.parametrize(
    ("numbers", "reads_at", "told"),
    [
        ({RATE: [0.5]}, "update_step", "the learning rate is 0.5 (of the optimizer made at"),
        ({RATE: [0.5, 0.1]}, "update_step", "rate is 0.5 at first and 0.1 at last (of the"),
        ({RATE: [0.5], OTHER: [0.1]}, "update_step", "rates are 0.5 (of the optimizer made at"),
        ({RATE: [0.5]}, "call", ""),  # a number that something else reads
    ],
)
def test_steps_that_are_too_long_are_told_with_their_rate(
    tmp_path: Path, numbers: dict[int, list[float]], reads_at: str, told: str
) -> None:
    recorded = Program(tmp_path)
    for handle in (1, 2):
        recorded.variable(handle)
        recorded.execution("VarHandleOp", [], {handle: np.ones(1, np.float32)})
    thrown(recorded, numbers, reads_at)
    (found,) = diagnose(recorded.open()).suspects
    assert found.rule == "steps-too-long"
    assert told in found.evidence
    assert ("learning rate" in found.evidence) is bool(told)
    is_told_there = found.location is not None and found.location.line == RATE
    assert is_told_there is (bool(told) and len(numbers) == 1)
