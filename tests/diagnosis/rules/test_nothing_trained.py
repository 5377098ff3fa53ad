"""A fit trains nothing only where no variable may be trained, and none changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, dense_layer, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 9
KERNEL, OTHER = 1, 2
LOSS_OF_FIT = "fit/train_step/compute_loss"
FROZEN: dict[str, bool | str] = {
    "fits": True,
    "trainable": False,
    "asked": False,
    "assigned": False,
    "changes": False,
    "loss": LOSS_OF_FIT,
}


def told(tmp_path: Path, how: dict[str, bool | str]) -> list[tuple[str, str, int | None]]:
    """Returns what is suspected of a model of one layer, the name of the layer, and the step."""
    recorded = dense_layer(tmp_path, KERNEL, trainable=bool(how["trainable"]))
    recorded.op("f", "Mean", "loss", "MatMul:0", line=7, in_library=str(how["loss"]))
    if how["assigned"]:
        recorded.op("f", "AssignVariableOp", "assign", "v:0", "x:0", outputs=0)
    if how["asked"]:
        recorded.gradients([KERNEL], of=("f", "loss:0"), line=7)
    for step in range(STEPS):
        if how["fits"]:
            recorded.fit_batch(step, 1, step + 1)
        kernel = 0.5 + 0.1 * step * bool(how["changes"])
        for name, value in {"x": 1.0, "read": kernel, "MatMul": kernel, "loss": 1.0}.items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        marked = step if how["fits"] else None
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1, step=marked)
    suspects = diagnose(recorded.open()).suspects
    assert all(one.location and one.location.line == 7 for one in suspects)  # that of fit
    return [(one.rule, one.layer.name if one.layer else "", one.step) for one in suspects]


def test_a_fit_of_a_frozen_model(tmp_path: Path) -> None:
    assert told(tmp_path, FROZEN) == [("nothing-trained", "hidden", 0)]


def test_gradients_that_a_fit_never_applies(tmp_path: Path) -> None:
    asked = FROZEN | {"trainable": True, "asked": True}
    assert told(tmp_path, asked) == [("gradients-not-applied", "hidden", 0)]


@pytest.mark.parametrize(
    "other",
    [
        {"trainable": True, "asked": True, "assigned": True},
        {"trainable": True, "asked": True, "changes": True},
        {"trainable": True, "asked": True, "fits": False},  # gradients to look at
        {"trainable": True},
        {"asked": True},
        {"assigned": True},  # a layer or a training step that learns without gradients
        {"changes": True},  # a callback that sets weights
        {"loss": "fit/train_step"},  # a training step of the program's own
        {"loss": "evaluate/test_step/compute_loss"},
    ],
)
def test_what_may_be_meant(tmp_path: Path, other: dict[str, bool | str]) -> None:
    assert told(tmp_path, FROZEN | other) == []


@pytest.mark.parametrize(
    ("unconnected", "change", "expected"),
    [
        ((OTHER,), 0.0, [("layer-never-changes", "what is assigned to them is what they were")]),
        ((OTHER,), 0.01, []),
        ((), 0.0, []),  # it has a gradient, which may be 0
    ],
)
def test_zeros_in_place_of_no_gradient(
    tmp_path: Path, unconnected: tuple[int, ...], change: float, expected: list[tuple[str, str]]
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "v", "w", captured=(KERNEL, OTHER))
    for number, (handle, name) in enumerate(((KERNEL, "v"), (OTHER, "w")), start=1):
        recorded.layer(number, 0, name, "Dense")
        recorded.variable(handle, layer=number)
        recorded.op("f", "ReadVariableOp", f"read_{name}", f"{name}:0")
        recorded.op("f", "MatMul", f"MatMul_{name}", "x:0", f"read_{name}:0", layer=number)
    recorded.op("f", "AddV2", "loss", "MatMul_v:0", "MatMul_w:0")
    for name in ("v", "w"):
        recorded.op("f", "AssignSubVariableOp", f"assign_{name}", f"{name}:0", "x:0", outputs=0)
    recorded.gradients([KERNEL, OTHER], unconnected=unconnected, of=("f", "loss:0"))
    for step in range(STEPS):
        values = {"read_v": 0.5 + 0.01 * step, "read_w": 0.5 + change * step, "loss": 1.0}
        for name, value in (values | {"MatMul_v": 1.0, "MatMul_w": 1.0}).items():
            recorded.trace("f", name, floats(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: floats(1)}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    assert [one.rule for one in suspects] == [rule for rule, _ in expected]
    for one, (_, evidence) in zip(suspects, expected, strict=True):
        assert evidence in one.evidence
        assert one.layer is not None
        assert one.layer.name == "w"
