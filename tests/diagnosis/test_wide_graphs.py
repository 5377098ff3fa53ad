"""What a diagnosis costs grows with the connections of a graph, not with the ways through it."""

from __future__ import annotations

import cProfile
import pstats
from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

_LEVELS = 5


def levels(directory: Path, width: int, scope: str) -> Run:
    """Return a run of ops in levels: each takes all of the level before, the last ones are bad."""
    program = Program(directory)
    program.graph("g", "loss")
    before = [f"x{number}" for number in range(width)]
    for name in before:
        program.op("g", "Placeholder", name)
        program.trace("g", name, floats(1, 2))
    for level in range(_LEVELS):
        names = [f"{scope}sum{level}_{number}" for number in range(width)]
        for name in names:
            program.op("g", "AddN", name, *(f"{one}:0" for one in before))
            program.trace("g", name, floats(1, 2))
        before = names
    inputs = [f"{one}:0" for one in before]
    program.op("g", "Log", f"{scope}log", inputs[0])
    program.op("g", "AddN", f"{scope}total", f"{scope}log:0", *inputs)
    for name in ("log", "total"):
        program.trace("g", scope + name, floats(float("nan"), 1))
    return program.open()


@pytest.mark.parametrize("scope", ["", "gradients/"])
def test_many_inputs_at_each_level_cost_no_more_than_they_are(tmp_path: Path, scope: str) -> None:
    def calls(width: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(diagnose, levels(tmp_path / str(width), width, scope))
        return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]

    calls(2)  # What is imported and parsed once is none of it.
    few, many = calls(6), calls(12)
    assert many < 8 * few, (few, many)  # There are four times as many connections.
