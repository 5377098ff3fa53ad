"""Targets are no probabilities only where a binary cross entropy of them took the loss below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 9


OF_LOGITS = {
    "Select": ("SelectV2", "x:0"),
    "Neg": ("Neg", "x:0"),
    "mul": ("Mul", "x:0", "z:0"),
    "sub": ("Sub", "Select:0", "mul:0"),
    "Exp": ("Exp", "Neg:0"),
    "Log1p": ("Log1p", "Exp:0"),
    "entropy": ("AddV2", "sub:0", "Log1p:0"),
}
OF_PROBABILITIES = {
    "Log": ("Log", "x:0"),
    "mul": ("Mul", "z:0", "Log:0"),
    "rest": ("Sub", "one:0", "x:0"),
    "Log_1": ("Log", "rest:0"),
    "sub": ("Sub", "one:0", "z:0"),
    "mul_1": ("Mul", "sub:0", "Log_1:0"),
    "entropy": ("AddV2", "mul:0", "mul_1:0"),
}
OF_COUNTS = OF_PROBABILITIES | {"sub": ("Sub", "trials:0", "z:0")}  # a binomial likelihood
WITHOUT_MINUS = {"Log": ("Log", "x:0"), "entropy": ("Mul", "z:0", "Log:0")}
ENTROPY = {
    "Softmax": ("Softmax", "x:0"),
    "Log": ("Log", "Softmax:0"),
    "entropy": ("Mul", "Softmax:0", "Log:0"),
}
OF_SOMETHING_ELSE = {"entropy": ("AddV2", "x:0", "z:0")}


@pytest.mark.parametrize(
    ("form", "targets", "last", "expected"),
    [
        (OF_LOGITS, (1, 3), -560, ["targets-of-no-probability"]),
        (OF_LOGITS, (-1, 1), -5, ["targets-of-no-probability"]),
        (OF_PROBABILITIES, (1, 3), -560, ["targets-of-no-probability"]),
        (OF_COUNTS, (1, 3), -560, []),
        (OF_LOGITS, (-0.05, 1.05), -0.1, []),  # labels with noise
        (OF_LOGITS, (-1, 1), 0.1, []),  # -1 is masked
        (OF_SOMETHING_ELSE, (1, 3), -560, []),
        (WITHOUT_MINUS, (0, 1), -16, ["minus-missing"]),
        (WITHOUT_MINUS, (0, 4), -16, []),  # what an action costs
        (WITHOUT_MINUS, (0, 1), -0.5, []),
        (WITHOUT_MINUS, (1, 1), -16, []),  # weights, of what a generator is to make smaller
        (ENTROPY, (0, 1), -16, []),  # of what the model gives: it is to be unsure
    ],
)
def test_the_loss_has_no_least_value(
    tmp_path: Path,
    form: dict[str, tuple[str, ...]],
    targets: tuple[float, float],
    last: float,
    expected: list[str],
) -> None:
    recorded = Program(tmp_path)
    recorded.layer(1, 0, "head", "Dense")
    recorded.variable(1, layer=1)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "z", "v", captured=(1,))
    for name in ("x", "z", "v"):
        recorded.op("f", "Placeholder", name)
    for name in ("one", "trials"):
        recorded.op("f", "Const", name)
    for name, (op_type, *inputs) in form.items():
        recorded.op("f", op_type, name, *inputs)
    recorded.op("f", "Mean", "loss", "entropy:0", line=7)
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "x:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    first = -0.4 if form in (WITHOUT_MINUS, ENTROPY) else 0.4
    for step, loss in enumerate(np.linspace(first, last, STEPS).tolist()):
        numbers = {"x": floats(0.5), "z": floats(*targets), "one": floats(1), "trials": floats(5)}
        numbers |= dict.fromkeys([*form, "loss"], floats(loss))
        numbers |= {"Softmax": floats(0.5)} if "Softmax" in form else {}
        for name, value in numbers.items():
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    assert [one.rule for one in diagnose(recorded.open()).suspects] == expected
