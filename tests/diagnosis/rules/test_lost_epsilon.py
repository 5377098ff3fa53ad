"""An epsilon is lost where it is added to a constant, and what it is added to was 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 4


class Case(NamedTuple):
    """What a program computes of p."""

    epsilon: float = 1e-9
    least: float = 0.0
    user: str = "Log"
    inner: str = "Sub"
    large: str = "Const"
    dtype: type = np.float32
    used_twice: bool = False


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (Case(), True),
        (Case(user="Rsqrt"), True),
        (Case(user="RealDiv"), True),
        (Case(inner="AddV2"), True),
        (Case(epsilon=1e-7), False),  # 1 + 1e-7 is more than 1
        (Case(least=0.25), False),  # p is never 1
        (Case(user="Mean"), False),
        (Case(inner="Mul"), False),  # no sum
        (Case(used_twice=True), False),  # 1 - p is computed all the same
        (Case(large="Placeholder"), False),  # no constant
        (Case(dtype=np.float16), False),
    ],
)
def test_an_epsilon_that_the_graph_optimizer_adds_to_a_constant(
    tmp_path: Path, case: Case, told: bool
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.op("f", "Placeholder", "p")
    recorded.op("f", case.large, "one")
    recorded.op("f", "Const", "epsilon")
    recorded.op("f", case.inner, "inner", "one:0", "p:0")
    recorded.op("f", "AddV2", "sum", "inner:0", "epsilon:0", line=5)
    given = ("p:0", "sum:0") if case.user == "RealDiv" else ("sum:0", "p:0")
    recorded.op("f", case.user, "result", *given)
    if case.used_twice:
        recorded.op("f", "Mul", "weighted", "inner:0", "p:0")
    for step in range(STEPS):
        least = case.least if step == 2 else 0.5
        values = {"one": [1.0], "epsilon": [case.epsilon], "inner": [least, 0.9]}
        values["sum"] = [least + case.epsilon, 0.9]
        for name, value in values.items():
            array: np.ndarray = np.array(value).astype(case.dtype)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: np.ones(1, np.float32)}, "f", serial=step + 1)
    found = diagnose(recorded.open()).suspects
    assert [one.rule for one in found] == ["epsilon-lost"] * told
    for one in found:
        assert (one.op_name, one.step, one.location and one.location.line) == ("sum", 2, 5)
        assert "in float32 1 + 1e-09 is 1" in one.evidence
