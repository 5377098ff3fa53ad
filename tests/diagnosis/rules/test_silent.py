"""Suspects: defects without NaN, and its healthy look-alikes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.diagnosis.report.words import to_text
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 10
HALF = np.float16


def some(value: float, *shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.full(shape or (64,), value, dtype)


def program(tmp_path: Path) -> Program:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    return made


def suspects(recorded: Program) -> list[str]:
    report = diagnose(recorded.open())
    assert report.verdict == ("suspect" if report.suspects else "clean")
    return [finding.rule for finding in report.suspects]


@pytest.mark.parametrize(("alive", "expected"), [(False, ["dead-relu"]), (True, [])])
def test_a_relu_is_dead_only_if_it_never_fires(
    tmp_path: Path, alive: bool, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    for call in range(CALLS):
        recorded.trace("f", "Relu", some(float(alive and call == CALLS - 1)))
    assert suspects(recorded) == expected


def test_a_hinge_may_be_zero_when_all_is_learned(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "Mean", "loss", "Relu:0", "axes:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "loss:0", outputs=0)
    for call in range(CALLS):
        recorded.trace("f", "Relu", some(0.0), serial=call + 1, extremes=True)
        recorded.trace("f", "loss", np.zeros((), np.float32), serial=call + 1, extremes=True)
        recorded.execution("f", [], {call: some(1)}, "f", serial=call + 1)
    assert suspects(recorded) == []


def test_a_dead_relu_that_is_counted_and_measured_is_told_once(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Relu:0", outputs=0)
    for call in range(CALLS):
        recorded.trace("f", "Relu", some(0.0), serial=call + 1, extremes=True)
        recorded.execution("f", [], {call: some(1)}, "f", serial=call + 1)
    assert suspects(recorded) == ["dead-relu"]


@pytest.mark.parametrize(
    ("alive", "fix", "when"),
    [
        (0, "the values that the layer starts with", "steps 0 to 37"),
        (8, "Lower the learning rate", "steps 8 to 37 of 0 to 37, from batch 9 of epoch 1 on"),
    ],
    ids=["never", "once"],
)
def test_a_relu_that_was_never_on_is_for_its_first_values_to_blame(
    tmp_path: Path, alive: int, fix: str, when: str
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Relu:0", outputs=0)
    for call in range(38):
        value = some(float(call < alive))
        recorded.trace("f", "Relu", value, serial=call + 1, extremes=True)
        recorded.execution("f", [], {call: some(1)}, "f", serial=call + 1, step=call)
        recorded.fit_batch(call, 1, call + 1)
    (found,) = diagnose(recorded.open()).suspects
    assert (found.rule, fix in found.fix) == ("dead-relu", True)
    assert (found.step, found.when) == (alive, when)


@pytest.mark.parametrize("mode", [TensorDebugMode.FULL_HEALTH, TensorDebugMode.FULL_TENSOR])
@pytest.mark.parametrize(("largest", "expected"), [(3e38, ["near-overflow"]), (1e30, [])])
def test_an_exponential_close_to_the_largest_number(
    tmp_path: Path, largest: float, expected: list[str], mode: TensorDebugMode
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Exp", "Exp", "x:0")
    for _ in range(CALLS):
        measured = mode == TensorDebugMode.FULL_HEALTH
        recorded.trace("f", "Exp", some(largest), mode=mode, extremes=measured)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(("value", "expected"), [(0, ["exp-underflow"]), (1e-30, [])])
def test_an_exponential_that_is_always_zero(
    tmp_path: Path, value: float, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Exp", "Exp", "x:0")
    for _ in range(CALLS):
        recorded.trace("f", "Exp", some(value))
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("logits", "zeros", "expected"),
    [
        ("BiasAdd", 48, ["saturated-softmax"]),
        ("BiasAdd", 8, []),
        ("AddV2", 48, []),  # a mask may have been added
    ],
)
def test_a_layer_with_a_saturated_softmax(
    tmp_path: Path, logits: str, zeros: int, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", logits, "logits", "x:0", "b:0")
    recorded.op("f", "Softmax", "Softmax", "logits:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Softmax:0", outputs=0)
    for _ in range(CALLS):
        recorded.trace("f", "logits", some(300.0))
        recorded.trace("f", "Softmax", np.repeat(np.array([0, 1], np.float32), [zeros, 64 - zeros]))
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("op_type", "before", "ends", "expected"),
    [
        ("Tanh", "BiasAdd", (-900, 700), ["saturated-activation"]),
        ("Sigmoid", "AddV2", (-900, 700), ["saturated-activation"]),
        ("Softmax", "Einsum", (-300, 300), ["saturated-softmax"]),
        ("Softmax", "RealDiv", (100, 900), ["saturated-softmax"]),  # by a temperature
        ("Softmax", "Einsum", (100, 190), []),
        ("Softmax", "AddV2", (-1e9, 300), []),  # a mask
        ("Softmax", "AddV2", (-9997, 3), []),  # another one
        ("LogSoftmax", "AddV2", (-7e4, 6e4), ["saturated-softmax"]),
        ("SparseSoftmaxCrossEntropyWithLogits", "BiasAdd", (-7e4, 6e4), ["saturated-softmax"]),
        ("SparseSoftmaxCrossEntropyWithLogits", "BiasAdd", (-4e3, 6e3), []),  # it is learned
        ("SoftmaxCrossEntropyWithLogits", "BiasAdd", (-1e9, 300), []),  # a mask
        ("Tanh", "BiasAdd", (-9, 700), []),  # some inputs are far off
        ("Tanh", "BiasAdd", (-40, 40), []),
        ("Tanh", "RealDiv", (-900, 700), []),  # a step that is made smooth
    ],
)
def test_activations_of_what_has_been_too_large_from_the_beginning(
    tmp_path: Path, op_type: str, before: str, ends: tuple[float, float], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", before, "before", "x:0", "b:0")
    recorded.op("f", op_type, "last", "before:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "last:0", outputs=0)
    for step in range(CALLS):
        wide = np.linspace(*ends, 64, dtype=np.float32)
        recorded.trace("f", "before", wide, serial=step + 1, extremes=True)
        recorded.trace("f", "last", some(0.5), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize("by_softmax", [False, True])
def test_logits_that_are_too_wide_for_a_loss_are_told_once(
    tmp_path: Path, *, by_softmax: bool
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "BiasAdd", "logits", "x:0", "b:0")
    recorded.op("f", "Softmax", "shares", "logits:0")
    recorded.op("f", "SparseSoftmaxCrossEntropyWithLogits", "loss", "logits:0", "labels:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "loss:0", outputs=0)
    for step in range(CALLS):
        wide = np.linspace(-7e4, 6e4, 64, dtype=np.float32)
        recorded.trace("f", "logits", wide, serial=step + 1, extremes=True)
        if by_softmax:
            recorded.trace("f", "shares", some(0.5), serial=step + 1, extremes=True)
        recorded.trace("f", "loss", some(7e4), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (suspect,) = diagnose(recorded.open()).suspects
    assert suspect.rule == "saturated-softmax"
    assert suspect.op_type == ("Softmax" if by_softmax else "SparseSoftmaxCrossEntropyWithLogits")
    assert by_softmax or suspect.step == 0


@pytest.mark.parametrize(
    ("first", "last", "product", "expected"),
    [
        (0.5, 1e12, "MatMul", ["numbers-explode"]),  # and the softmax is saturated because of it
        (1e12, 1e12, "MatMul", ["saturated-softmax"]),
        (0.5, 1e7, "MatMul", ["saturated-softmax"]),
        (0.5, 1e12, "AddV2", ["saturated-softmax"]),  # a mask may have been added
    ],
)
def test_products_that_have_exploded_saturate_what_comes_after(
    tmp_path: Path, first: float, last: float, product: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", product, "product", "x:0", "y:0")
    recorded.op("f", "BiasAdd", "logits", "product:0", "b:0")
    recorded.op("f", "Softmax", "last", "logits:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "last:0", outputs=0)
    for step in range(CALLS):
        size = first if step < 2 else last
        wide = np.linspace(-size, size, 64, dtype=np.float32)
        for name in ("product", "logits"):
            recorded.trace("f", name, wide, serial=step + 1, extremes=True)
        recorded.trace("f", "last", some(0.5), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(("end", "expected"), [(1e12, ["numbers-explode"]), (1e6, [])])
def test_products_become_as_large_as_their_targets(
    tmp_path: Path, end: float, expected: list[str]
) -> None:
    """What a layer without an activation gives is compared with numbers of any size."""
    recorded = program(tmp_path)
    recorded.variable(1)
    recorded.op("f", "MatMul", "product", "x:0", "y:0")
    recorded.op("f", "Square", "Square", "product:0")
    recorded.op("f", "Mean", "loss", "Square:0", "axes:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "loss:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    for step in range(CALLS):
        for name, size in (("product", (0.5, 1e9)), ("Square", (1e12, end)), ("loss", (1e12, end))):
            value = some(size[step >= 2], 1 if name == "loss" else 64)
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("before", "expected"), [("BiasAdd", ["saturated-activation"]), ("RealDiv", [])]
)
def test_the_gates_of_a_cell_are_parts_of_one_product(
    tmp_path: Path, before: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", before, "before", "x:0", "b:0")
    recorded.op("f", "Split", "gates", "axis:0", "before:0", outputs=2)
    recorded.op("f", "Sigmoid", "gate", "gates:1")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gate:0", outputs=0)
    for step in range(CALLS):
        wide = np.linspace(-900, 700, 128, dtype=np.float32)
        recorded.trace("f", "before", wide, serial=step + 1, extremes=True)
        for slot in range(2):
            half = wide[slot::2]
            recorded.trace("f", "gates", half, slot=slot, serial=step + 1, extremes=True)
        recorded.trace("f", "gate", some(0.5), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("to", "ends", "expected"),
    [
        ("BatchMatMulV2", (-70, 70), ["saturated-softmax"]),
        ("BatchMatMulV2", (-40, 40), []),
        ("Mul", (-70, 70), []),  # of classes, not of what is attended to
    ],
)
def test_attention_without_a_scale(
    tmp_path: Path, to: str, ends: tuple[float, float], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "BatchMatMulV2", "scores", "x:0", "y:0")
    recorded.op("f", "Softmax", "Softmax", "scores:0")
    recorded.op("f", to, "attended", "Softmax:0", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "attended:0", outputs=0)
    for step in range(CALLS):
        wide = np.linspace(*ends, 64, dtype=np.float32)
        for name, value in (("scores", wide), ("Softmax", some(1.0)), ("attended", some(1.0))):
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("first", "width", "expected"),
    [(1, 3000.0, ["saturated-softmax"]), (1, 300.0, []), (CALLS - 3, 3000.0, [])],
)
@pytest.mark.parametrize("size", [64, 2], ids=["batch", "two-actions"])
def test_what_one_step_has_saturated(
    tmp_path: Path, first: int, width: float, expected: list[str], size: int
) -> None:
    """A classifier that is sure of all that it has learned gets far apart, but not that far."""
    recorded = program(tmp_path)
    recorded.op("f", "BiasAdd", "logits", "x:0", "b:0")
    recorded.op("f", "LogSoftmax", "LogSoftmax", "logits:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "LogSoftmax:0", outputs=0)
    for step in range(CALLS):
        half = width / 2 if step >= first else 1.0
        wide = np.linspace(-half, half, size, dtype=np.float32)
        recorded.trace("f", "logits", wide, serial=step + 1, extremes=True)
        recorded.trace("f", "LogSoftmax", -wide, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("first", "ends", "expected"),
    [
        (1, (-15, 150), ["saturated-activation"]),
        (1, (110, 150), ["saturated-activation"]),
        (1, (-5, 150), []),
        (1, (-80, 80), []),
        (CALLS - 3, (-15, 150), []),
    ],
)
def test_what_a_tanh_takes_since_a_step_that_was_too_long(
    tmp_path: Path, first: int, ends: tuple[float, float], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "BiasAdd", "before", "x:0", "b:0")
    recorded.op("f", "Tanh", "Tanh", "before:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Tanh:0", outputs=0)
    for step in range(CALLS):
        low, high = ends if step >= first else (-1.0, 1.0)
        wide = np.linspace(low, high, 64, dtype=np.float32)
        recorded.trace("f", "before", wide, serial=step + 1, extremes=True)
        recorded.trace("f", "Tanh", np.tanh(wide), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize("op_type", ["Softmax", "Tanh"])
def test_a_softmax_given_to_a_loss_that_wants_logits(tmp_path: Path, op_type: str) -> None:
    recorded = program(tmp_path)
    recorded.op("f", op_type, "last", "x:0")
    recorded.op("f", "Reshape", "Reshape", "last:0", "shape:0")
    loss = "SoftmaxCrossEntropyWithLogits"
    recorded.op("f", loss, "loss", "Reshape:0", "labels:0", outputs=2)
    for name in ("last", "Reshape", "loss"):
        recorded.trace("f", name, some(0.5))
    assert suspects(recorded) == (["softmax-twice"] if op_type == "Softmax" else [])


@pytest.mark.parametrize(
    ("op_type", "negates", "told"),
    [("Sigmoid", "last", True), ("BiasAdd", "last", False), ("Sigmoid", "other", False)],
)
def test_a_sigmoid_given_to_a_loss_that_wants_logits(
    tmp_path: Path, op_type: str, negates: str, told: bool
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", op_type, "last", "x:0")
    recorded.op("f", op_type, "other", "y:0")
    recorded.op("f", "Neg", "Neg", f"{negates}:0")
    recorded.op("f", "Select", "Select", "flags:0", "Neg:0", "last:0")
    recorded.op("f", "Exp", "Exp", "Select:0")
    recorded.op("f", "Log1p", "Log1p", "Exp:0")
    for name in ("last", "other", "Neg", "Select", "Exp", "Log1p"):
        recorded.trace("f", name, some(0.5))
    assert suspects(recorded) == ["sigmoid-twice"] * told


@pytest.mark.parametrize("slot", [0, 1])
def test_a_softmax_given_to_a_loss_of_eager_code(tmp_path: Path, slot: int) -> None:
    recorded = Program(tmp_path)
    recorded.execution("Softmax", [1], {2: some(0.5)}, line=1)
    given = [2, 3] if slot == 0 else [3, 2]  # the labels may be one, of another model
    losses = {4: some(0.5), 5: some(0.5)}
    recorded.execution("SoftmaxCrossEntropyWithLogits", given, losses, line=2)
    assert suspects(recorded) == (["softmax-twice"] if slot == 0 else [])


@pytest.mark.parametrize("column", ["BiasAdd", "ExpandDims"])
def test_a_column_minus_a_row_in_a_loss(tmp_path: Path, column: str) -> None:
    recorded = program(tmp_path)
    recorded.op("f", column, "predictions", "x:0")
    recorded.op("f", "Neg", "targets", "y:0")
    recorded.op("f", "Sub", "sub", "predictions:0", "targets:0")
    recorded.op("f", "Square", "Square", "sub:0")
    recorded.op("f", "Mean", "Mean", "Square:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Mean:0", outputs=0)
    for _ in range(CALLS):
        recorded.trace("f", "predictions", some(1, 8, 1))
        recorded.trace("f", "targets", some(2, 8))
        recorded.trace("f", "sub", some(-1, 8, 8))
        recorded.trace("f", "Square", some(1, 8, 8))
        recorded.trace("f", "Mean", some(1, 1))
    assert suspects(recorded) == (["silent-broadcast"] if column == "BiasAdd" else [])


@pytest.mark.parametrize("column", ["BiasAdd", "ExpandDims"])
def test_a_column_minus_an_array_in_a_loss_of_eager_code(tmp_path: Path, column: str) -> None:
    """Of the array of NumPy nothing is on record, of the others no more than sizes."""
    recorded = Program(tmp_path)
    concise = TensorDebugMode.CONCISE_HEALTH
    for made in range(100, 100 + 10 * CALLS, 10):
        recorded.execution(column, [1, 2], {made: some(1, 8, 1)}, mode=concise, line=1)
        recorded.execution(
            "Sub", [made, made + 5], {made + 1: some(-1, 8, 8)}, mode=concise, line=2
        )
        recorded.execution("Pow", [made + 1, 3], {made + 2: some(1, 8, 8)}, mode=concise, line=2)
        recorded.execution("Mean", [made + 2], {made + 3: some(1, 1)}, mode=concise, line=2)
        recorded.execution("AssignSubVariableOp", [4, made + 3], {}, line=3)
    assert suspects(recorded) == (["silent-broadcast"] if column == "BiasAdd" else [])


@pytest.mark.parametrize(("kept", "expected"), [(0, ["gradient-underflow"]), (1e-3, [])])
def test_gradients_lost_in_a_cast(tmp_path: Path, kept: float, expected: list[str]) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "y:0")
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0")
    for _ in range(CALLS):
        recorded.trace("f", "gradient_tape/Mul", some(1e-9))
        recorded.trace("f", "gradient_tape/Cast", some(kept, dtype=np.float16))
    assert suspects(recorded) == expected


SKIPPED = {
    "all-steps-skipped": [True] * 40,
    "most-steps-skipped": [step % 3 > 0 for step in range(40)],
    "most-steps-skipped until it settles": [step < 26 for step in range(40)],
    "most-steps-skipped as every other one is": [step % 2 == 0 for step in range(40)],
    "at the beginning": [step < 12 for step in range(40)],
    "one in three": [step % 3 == 0 for step in range(40)],
}


@pytest.mark.parametrize("asked", ["gradient_tape/Cast", "unscaled"])
@pytest.mark.parametrize("name", SKIPPED)
def test_a_loss_scaler_may_skip_some_steps_but_not_most(
    tmp_path: Path, name: str, asked: str
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "ReadVariableOp", "scale", "w:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "scale:0")
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0")
    if asked == "unscaled":
        recorded.op("f", "IdentityN", "unscaled", "gradient_tape/Cast:0")
    recorded.op("f", "IsFinite", "IsFinite", f"{asked}:0")
    for step, skipped in enumerate(SKIPPED[name]):
        recorded.trace("f", "scale", some(2.0**-step, 1), extremes=True)
        recorded.trace("f", "gradient_tape/Mul", some(1e6))
        for made in dict.fromkeys(("gradient_tape/Cast", asked)):
            recorded.trace("f", made, some(np.inf if skipped else 1, dtype=HALF))
    report = diagnose(recorded.open())
    assert report.roots == ()
    expected = [name.partition(" ")[0]] if "-" in name else []
    assert [finding.rule for finding in report.suspects] == expected
    for finding in report.suspects:
        assert "the loss scale went from 1 to 1.82e-12" in finding.evidence


def test_steps_that_a_loss_scale_spoils_are_told_at_its_line(tmp_path: Path) -> None:
    """What it was is told of all steps, not of those in which other functions read it."""
    recorded = program(tmp_path)
    recorded.op("f", "ReadVariableOp", "scale", "w:0")
    recorded.op("f", "ReadVariableOp", "again", "w:0")
    recorded.op("f", "Mean", "loss", "x:0", line=6)
    recorded.op("f", "Mul", "scaled", "loss:0", "scale:0", line=7)
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "scale:0", line=8)
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0", line=8)
    recorded.op("f", "IsFinite", "IsFinite", "gradient_tape/Cast:0")
    recorded.gradients([7], of=("f", "scaled:0"))
    for step in range(20):
        scale = 2.0 ** min(9 + step, 20 - step // 2)
        recorded.trace("f", "scale", some(scale, 1), serial=step + 1, extremes=True)
        if step > 2:
            for _ in range(2):
                recorded.trace("f", "again", some(scale, 1), serial=step + 1, extremes=True)
        recorded.trace("f", "gradient_tape/Mul", some(1e6), serial=step + 1)
        recorded.trace("f", "gradient_tape/Cast", some(np.inf, dtype=HALF), serial=step + 1)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (found,) = diagnose(recorded.open()).suspects
    assert found.rule == "all-steps-skipped"
    assert found.location is not None
    assert found.location.line == 7
    assert "it overflows at program.py:8" in found.evidence
    assert "the loss scale went from 512 to 2.05e+03 in step 19, the last one" in found.evidence
    assert "measured, and was at most 6.55e+04" in found.evidence


@pytest.mark.parametrize(
    ("first", "halved", "expected"),
    [(2**10, 14, ["loss-scale-below-one"]), (2**15, 14, []), (2**4, 14, [])],
)
def test_a_loss_scale_below_one(
    tmp_path: Path, first: float, halved: int, expected: list[str]
) -> None:
    """Fewer than half of the steps are skipped, and none of the later ones."""
    recorded = program(tmp_path)
    recorded.op("f", "ReadVariableOp", "scale", "w:0")
    recorded.op("f", "Cast", "gradient_tape/Cast", "x:0")
    recorded.op("f", "IsFinite", "IsFinite", "gradient_tape/Cast:0")
    for step in range(3 * halved):
        scale = first * 2.0 ** -min(step, halved)
        recorded.trace("f", "scale", some(scale, 1), extremes=step < 30, serial=step + 1)
        gradient = np.inf if step < halved else 1.0
        recorded.trace("f", "gradient_tape/Cast", some(gradient, dtype=HALF), serial=step + 1)
        recorded.execution("f", [], {step + 9: some(1)}, "f", serial=step + 1, step=step)
    found = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in found] == expected
    assert all("0.0625 in step 29, the last one measured" in one.evidence for one in found)


def test_steps_are_skipped_by_python_where_none_changes_a_variable(tmp_path: Path) -> None:
    skipped = "the gradients were not finite in 40 of 40 steps"
    assert skipped in skipped_in_python(tmp_path / "all", applied=0)
    assert skipped not in skipped_in_python(tmp_path / "none", applied=40)


def skipped_in_python(directory: Path, applied: int) -> str:
    """Returns what is said of an eager training whose gradients are ∞, and some are applied."""
    directory.mkdir()
    recorded = Program(directory)
    for step in range(40):
        loss, scaled = 3 * step + 1, 3 * step + 2
        recorded.execution("Square", [], {loss: some(1e6)})
        recorded.execution("__backward_f_1", [loss], {scaled: some(np.inf, dtype=HALF)})
        if step < applied:
            recorded.execution("AssignSubVariableOp", [1000, scaled], {})
    report = diagnose(recorded.open())
    (root,), suspects = report.roots, report.suspects
    assert suspects == ()
    return root.evidence


def test_skipped_steps_are_told_with_the_root_in_the_forward_pass(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Log", "Log", "x:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "Log:0", "scale:0")
    recorded.op("f", "IsFinite", "IsFinite", "gradient_tape/Mul:0")
    recorded.op("f", "AssignVariableOp", "Assign", "loss:0", "Log:0", outputs=0)
    for _ in range(20):
        recorded.trace("f", "Log", some(np.nan))
        recorded.trace("f", "gradient_tape/Mul", some(np.nan))
    report = diagnose(recorded.open())
    (root,) = report.roots
    assert (root.op_type, report.suspects) == ("Log", ())
    assert "the gradients were not finite in 20 of 20 steps" in root.evidence


def test_skipped_steps_are_told_with_the_cause_of_what_makes_them_so(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Sqrt", "Sqrt", "x:0")
    recorded.op("f", "SqrtGrad", "gradient_tape/SqrtGrad", "Sqrt:0", "dy:0")
    recorded.op("f", "AddN", "AddN", "gradient_tape/SqrtGrad:0", "other:0")
    recorded.op("f", "IsFinite", "IsFinite", "AddN:0")
    for _ in range(20):
        recorded.trace("f", "Sqrt", some(0))
        recorded.trace("f", "gradient_tape/SqrtGrad", some(np.inf))
        recorded.trace("f", "AddN", some(np.inf))
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.rule, suspect.op_type) == ("all-steps-skipped", "SqrtGrad")
    assert "gradient of a square root at zero: 64 zeros in" in suspect.evidence
    assert "scale" not in suspect.why + suspect.fix


def test_skipped_steps_are_told_beside_the_root_of_other_numbers(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Log", "Log", "x:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "y:0", "scale:0")
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0")
    recorded.op("f", "IsFinite", "IsFinite", "gradient_tape/Cast:0")
    recorded.op("f", "AssignVariableOp", "Assign", "loss:0", "Log:0", outputs=0)
    for _ in range(20):
        recorded.trace("f", "Log", some(np.nan))
        recorded.trace("f", "gradient_tape/Mul", some(1e6))
        recorded.trace("f", "gradient_tape/Cast", some(np.inf, dtype=HALF))
    report = diagnose(recorded.open())
    assert [finding.op_type for finding in report.roots] == ["Log"]
    assert [finding.rule for finding in report.suspects] == ["all-steps-skipped"]
    assert "\n\nSuspects:\n" in to_text(report)


@pytest.mark.parametrize(
    ("before", "factor", "expected"),
    [
        (2e-9, 1.0, ["gradient-underflow"]),
        (2e-2, 1.0, ["layer-never-changes"]),  # something else than float16 makes it 0
        (2e-9, 0.0, ["layer-never-changes"]),  # it would be 0 in any type
    ],
)
def test_a_layer_whose_gradient_float16_rounds_to_zero(
    tmp_path: Path, before: float, factor: float, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "a", "Dense")
    recorded.layer(2, 0, "b", "Dense")
    recorded.op("f", "MatMul", "a/MatMul", "x:0", "y:0", layer=1)
    recorded.op("f", "MatMul", "b/MatMul", "x:0", "y:0", layer=2)
    recorded.op("f", "Sin", "slope", "x:0")
    names = [f"gradient_tape/{name}/MatMul/MatMul" for name in ("b", "a")]
    recorded.op("f", "MatMul", names[0], "x:0", "y:0", dtype="float16")
    recorded.op("f", "Mean", "gradient_tape/g", f"{names[0]}:0")
    recorded.op("f", "Mul", "gradient_tape/z", "gradient_tape/g:0", "slope:0", dtype="float16")
    recorded.op("f", "MatMul", names[1], "gradient_tape/z:0", "y:0", dtype="float16")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{names[1]}:0", outputs=0)
    values = {
        "slope": factor,
        names[0]: 0.1,
        "gradient_tape/g": before,
        "gradient_tape/z": 0.0,
        names[1]: 0.0,
    }
    for step in range(STEPS):
        for name, value in values.items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (suspect,) = diagnose(recorded.open()).suspects
    assert [suspect.rule] == expected
    assert suspect.layer is not None
    assert suspect.layer.path == "a"


def test_gradients_of_no_layer_that_float16_rounds_to_zero(tmp_path: Path) -> None:
    """A loss that is divided by the size of the batch, in a program without layers."""
    recorded = program(tmp_path)
    recorded.op("f", "Tile", "gradient_tape/Tile", "x:0", dtype="float16")
    recorded.op("f", "Const", "gradient_tape/Const", dtype="float16")
    given = "gradient_tape/Tile:0", "gradient_tape/Const:0"
    recorded.op("f", "RealDiv", "gradient_tape/truediv", *given, dtype="float16")
    values = {given[0][:-2]: 1e-6, given[1][:-2]: 256.0, "gradient_tape/truediv": 0.0}
    for name in ("gradient_tape/MatMul", "gradient_tape/MatMul_1"):
        recorded.op("f", "MatMul", name, "gradient_tape/truediv:0", dtype="float16")
        values[name] = 0.0
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/MatMul:0", outputs=0)
    for step in range(STEPS):
        for name, value in values.items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == ["gradient-underflow"]


@pytest.mark.parametrize(("largest", "expected"), [(4e-5, ["gradient-underflow"]), (1e-3, [])])
def test_gradients_that_are_too_small_for_float16(
    tmp_path: Path, largest: float, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    for name in ("gradient_tape/MatMul", "gradient_tape/MatMul_1"):
        recorded.op("f", "MatMul", name, "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/MatMul:0", outputs=0)
    for step in range(CALLS):
        value = largest if step == 3 else 1e-6
        for name, number in (("MatMul", value), ("MatMul_1", 0)):
            half = some(number, dtype=HALF)
            recorded.trace("f", f"gradient_tape/{name}", half, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


GROWING = [2.0 * 3.0**step for step in range(14)]


def trained(tmp_path: Path, largest: list[float], op: str = "gradient_tape/MatMul") -> Program:
    """Returns a training of which a tensor has these magnitudes, one a step."""
    recorded = program(tmp_path)
    recorded.op("f", "MatMul", op, "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{op}:0", outputs=0)
    for step, value in enumerate(largest):
        recorded.trace("f", op, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    return recorded


def test_gradients_that_grow_without_end(tmp_path: Path) -> None:
    (finding,) = diagnose(trained(tmp_path, GROWING).open()).suspects
    assert finding.rule == "training-diverges"
    assert "grew from 2 in step 0 to 3.19e+06 in step 13: ×3 a step" in finding.evidence
    assert "at that pace float32 overflows about step 81" in finding.evidence  # 13 + log3(1.1e32)


@pytest.mark.parametrize("given", ["p:0", "gradient_tape/Mul:0"])
def test_only_what_a_gradient_goes_into_is_one(tmp_path: Path, given: str) -> None:
    """1 / p of the gradient of log(p) grows as a classifier becomes sure of the others."""
    recorded = program(tmp_path)
    recorded.op("f", "Softmax", "p", "x:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "p:0", "y:0")
    recorded.op("f", "Reciprocal", "gradient_tape/Reciprocal", given)
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{given[:-2]}:0", outputs=0)
    for step, value in enumerate(GROWING):
        for name, number in (("p", 0.9), ("gradient_tape/Mul", 0.1)):
            recorded.trace("f", name, some(number), serial=step + 1, extremes=True)
        grown = some(value)
        recorded.trace("f", "gradient_tape/Reciprocal", grown, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    expected = ["training-diverges"] if given.startswith("gradient") else []
    assert suspects(recorded) == expected


FAR_BEYOND = [0.7, 4e11, 5e13, 2e13, 3e13]


def test_gradients_that_are_beyond_all_bounds_at_once(tmp_path: Path) -> None:
    """As where the rate is far too large; what is nothing beside the largest is no small one."""
    gradients = {"MatMul": [*FAR_BEYOND, *[2e13] * 8], "MatMul_1": [11.0, *[1e21] * 12]}
    recorded = program(tmp_path)
    for name in gradients:
        recorded.op("f", "MatMul", f"gradient_tape/{name}", "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/MatMul:0", outputs=0)
    for step in range(13):
        for name, largest in gradients.items():
            value = some(largest[step])
            recorded.trace("f", f"gradient_tape/{name}", value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (finding,) = diagnose(recorded.open()).suspects
    assert (finding.rule, finding.step) == ("training-diverges", 1)
    assert (
        "grew from 11 in step 0 to 1e+21 in step 1, and is 1e+21 in step 12; so did 1 other"
        in finding.evidence
    )


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (FAR_BEYOND, ["training-diverges"]),
        ([*FAR_BEYOND, 1e3], []),  # it recovers
        ([0.0, *FAR_BEYOND[1:]], []),  # nothing was known of it before
        ([0.7, *[2e7] * 5], []),  # as a loss scale makes it
        ([1e9, *FAR_BEYOND[1:]], []),
    ],
)
def test_gradients_that_are_beyond_all_bounds_after_few_steps(
    tmp_path: Path, largest: list[float], expected: list[str]
) -> None:
    assert suspects(trained(tmp_path, largest)) == expected


@pytest.mark.parametrize(
    "largest",
    [
        [value * 1e-9 for value in GROWING],  # the end of a plateau
        [*GROWING, *[GROWING[-1]] * 16],  # it has settled
        [*GROWING, 1.0],  # it has recovered
        [*[1.0] * 12, 1e9],  # one bad batch
        [1e4 * (1 + step) for step in range(30)],  # linear, as of a score
        [10.0 ** (step % 7) for step in range(35)],  # noise
        [0.0] * 14,
    ],
)
def test_gradients_that_do_not(tmp_path: Path, largest: list[float]) -> None:
    assert suspects(trained(tmp_path, largest)) == []


@pytest.mark.parametrize(
    ("op_type", "times", "steps"),
    [
        ("AssignSubVariableOp", 99, [4]),
        ("AssignVariableOp", 99, [4]),  # as `assign_sub` of Keras' variables does
        ("AssignVariableOp", 1, []),  # the first value: nothing is trained
    ],
)
def test_a_loss_that_has_risen_is_told_in_the_step_since_when(
    tmp_path: Path, op_type: str, times: int, steps: list[int]
) -> None:
    recorded = program(tmp_path)
    for step in range(STEPS):
        recorded.execution(
            "Mean", [], {step + 10: some(1.0 if step < 4 else 1e3, 1)}, extremes=True
        )
        if step < times:
            recorded.execution(op_type, [1, step + 10], {})
    recorded.gradients([1], of_eager=10)
    assert [suspect.step for suspect in diagnose(recorded.open()).suspects] == steps


def test_a_loss_that_has_risen_is_compared_with_steps_before_that(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step, loss in enumerate([1.0, 7e13, 0.9, *[2.0] * 3, 7e12, *[2.0] * 5]):
        recorded.trace("f", "loss", some(loss, 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (found,) = diagnose(recorded.open()).suspects
    assert "the loss was about 1 in step 0, is 7e+13 in step 1, and 2 in" in found.evidence


def test_what_is_no_gradient_may_grow(tmp_path: Path) -> None:
    assert suspects(trained(tmp_path, GROWING, op="MatMul")) == []


@pytest.mark.parametrize(
    ("op_type", "name", "values", "expected"),
    [
        ("MatMul", "MatMul", [100.0, 4e4], True),
        ("MatMul", "MatMul", [-100.0, -4e4], True),
        ("MatMul", "MatMul", [100.0, 3e4], False),
        ("MatMul", "MatMul", [4e4, *[100.0] * 20], False),  # at the beginning alone
        ("MatMul", "gradient_tape/MatMul", [100.0, 4e4], False),  # as a loss scale makes them
        ("Mul", "Mul", [0.0, 4e4], True),
        ("Mul", "Mul", [0.0, -4e4], False),  # a mask
        ("Mul", "Mul", [0.0, 65504.0], False),  # the limit itself, for a minimum
        ("Fill", "Fill", [4e4, 4e4], False),
    ],
)
def test_a_half_precision_tensor_close_to_its_limit(
    tmp_path: Path, op_type: str, name: str, values: list[float], expected: bool
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", op_type, name, "x:0", "y:0")
    for value in values:
        recorded.trace("f", name, some(value, dtype=HALF), extremes=True)
    assert suspects(recorded) == ["near-overflow"] * expected


STEPS = 12
FADING = [0.1 * 0.9**step for step in range(STEPS)]
"""Gradients of a training that goes on."""


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        # A rectifier that goes off, that goes on again, and one of few elements.
        ({"Relu": ("Relu", [*[1.0] * 8, *[0.0] * 5])}, ["dead-relu"]),
        ({"Relu": ("Relu", [*[1.0] * 8, *[0.0] * 4])}, []),
        ({"Relu": ("Relu", [*[0.0] * 11, 0.1])}, []),
        # What comes back through a tanh.
        (
            {
                "gradient_tape/Mul": ("Mul", FADING),
                "gradient_tape/TanhGrad": ("TanhGrad", [1e-6 * value for value in FADING]),
            },
            ["saturated-activation"],
        ),
        (
            {
                "gradient_tape/Mul": ("Mul", FADING),
                "gradient_tape/TanhGrad": ("TanhGrad", [*[1e-9] * 8, *[1e-3] * 4]),
            },
            [],
        ),
        # The gradients of two layers.
        (
            {
                "gradient_tape/MatMul": ("MatMul", FADING),
                "gradient_tape/MatMul_1": ("MatMul", [1e-8 * value for value in FADING]),
            },
            ["vanishing-gradient"],
        ),
        (
            {
                "gradient_tape/MatMul": ("MatMul", FADING),
                "gradient_tape/MatMul_1": ("MatMul", [1e-5 * value for value in FADING]),
            },
            [],
        ),
        # What is large, or grows, does not vanish.
        (
            {
                "gradient_tape/MatMul": ("MatMul", [1e13] * STEPS),
                "gradient_tape/MatMul_1": ("MatMul", [10.0] * STEPS),
            },
            [],
        ),
        (
            {
                "gradient_tape/MatMul": ("MatMul", [1e3] * STEPS),
                "gradient_tape/MatMul_1": ("MatMul", [1e-7, *[1e-4] * (STEPS - 1)]),
            },
            [],
        ),
        # Both fade as the training comes to its end.
        (
            {
                "gradient_tape/MatMul": ("MatMul", [1e-9 * value for value in FADING]),
                "gradient_tape/MatMul_1": ("MatMul", [1e-10 * value for value in FADING]),
            },
            [],
        ),
    ],
)
def test_layers_that_nothing_comes_through(
    tmp_path: Path, tensors: dict[str, tuple[str, list[float]]], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    for name, (op_type, _) in tensors.items():
        recorded.op("f", op_type, name, "x:0", f"{next(iter(tensors))}:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{name}:0", outputs=0)
    for step in range(max(len(values) for _, values in tensors.values())):
        for name, (_, values) in tensors.items():
            recorded.trace("f", name, some(values[step]), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(("size", "expected"), [(30, ["dead-relu"]), (20, []), (6, [])])
def test_a_rectifier_of_few_elements(tmp_path: Path, size: int, expected: list[str]) -> None:
    """Off for 256 elements in all, in computations of at least eight."""
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Relu:0", outputs=0)
    for step in range(STEPS if size > 6 else 5 * STEPS):
        recorded.trace("f", "Relu", some(0.0, size), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


def test_the_gates_of_a_cell_are_one_suspect_that_tells_since_when(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "cell", "LSTMCell")
    gates = ("Sigmoid", "Tanh")
    for gate in gates:
        recorded.op("f", gate, f"cell/{gate}", "x:0", layer=1)
        inputs = f"cell/{gate}:0", "gradient_tape/Mul:0"
        recorded.op("f", f"{gate}Grad", f"gradient_tape/cell/{gate}Grad", *inputs)
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/Mul:0", outputs=0)
    for step in range(STEPS):
        values = {"gradient_tape/Mul": 1.0}
        for gate in gates:
            values[f"cell/{gate}"] = 0.5
            values[f"gradient_tape/cell/{gate}Grad"] = 0.1 if step < 4 else 1e-9
        for name, value in values.items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (finding,) = diagnose(recorded.open()).suspects
    assert finding.rule == "saturated-activation"
    assert finding.layer is not None
    assert finding.layer.name == "cell"
    told = f"come back at most 1e-09, from step 4 to {STEPS - 1}; seen in 2 ops of the layer"
    assert told in finding.evidence


def test_a_layer_is_not_off_because_batches_are_blank(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Conv2D", "Conv2D", "images:0")
    recorded.op("f", "Relu", "Relu", "Conv2D:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Relu:0", outputs=0)
    for step in range(STEPS):
        for name in ("Conv2D", "Relu"):
            recorded.trace("f", name, some(float(step < 3), 300), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == []


@pytest.mark.parametrize(
    ("size", "measured", "off_from", "expected"),
    [
        (64, (0, 1, 2, 4, 7, 12, 20, 30), 12, ["dead-relu"]),
        (64, (0, 1, 2, 4, 7, 12, 20, 30), 20, []),  # of so few elements twice says little
        (256, (0, 1, 2, 4, 7, 12, 20, 30), 20, ["dead-relu"]),
        (256, (0, 1, 2, 4, 7, 12, 20, 30), 30, []),
        (256, (*range(12), 28, 29, 30), 28, []),  # in three steps that follow each other
    ],
)
def test_layers_that_are_off_in_few_measured_steps(
    tmp_path: Path, size: int, measured: tuple[int, ...], off_from: int, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Relu:0", outputs=0)
    for step in range(31):
        value, extremes = some(float(step < off_from), size), step in measured
        recorded.trace("f", "Relu", value, serial=step + 1, extremes=extremes)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


def test_gradients_that_vanish_name_the_layers_that_get_no_more(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    for number, name in ((1, "first"), (2, "middle"), (3, "last")):
        recorded.layer(number, 0, name, "Dense")
        recorded.op("f", "MatMul", f"{name}/MatMul", "x:0", "y:0", layer=number)
    names = [f"gradient_tape/{name}/MatMul/MatMul" for name in ("last", "middle", "first")]
    for name, given in zip(names, ("x", *names), strict=False):
        recorded.op("f", "MatMul", name, f"{given}:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{names[-1]}:0", outputs=0)
    for step in range(STEPS):
        # The weights of the first layer have a larger gradient, as what goes in is large.
        for name, share in zip(names, (1.0, 1e-8, 1e-4), strict=True):
            value = some(share * FADING[step])
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.layer.path, [layer.path for layer in suspect.other_layers]) == (
        "middle",
        ["first"],
    )
    assert "also in    first (Dense)" in to_text(diagnose(recorded.open()))


@pytest.mark.parametrize(("first", "expected"), [(1.0, []), (1e-4, ["vanishing-gradient"])])
def test_gradients_on_the_way_to_a_layer_that_learns_do_not_vanish(
    tmp_path: Path, first: float, expected: list[str]
) -> None:
    """Where what goes in is large, so are the gradients of the first weights, and only they."""
    recorded = program(tmp_path)
    gradients = {
        "of_last": ("x:0", "labels:0", 1.0),
        "back": ("gradient_tape/of_last:0", "weights:0", 1e-7),
        "of_middle": ("x:0", "gradient_tape/back:0", 1e-7),
        "further_back": ("gradient_tape/back:0", "weights:0", 1e-8),
        "of_first": ("x:0", "gradient_tape/further_back:0", first),
    }
    recorded.op("f", "ReadVariableOp", "weights", "w:0")
    for name, (one, other, _) in gradients.items():
        recorded.op("f", "MatMul", f"gradient_tape/{name}", one, other)
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/of_first:0", outputs=0)
    for step in range(STEPS):
        recorded.trace("f", "weights", some(1.0), serial=step + 1, extremes=True)
        for name, (*_, size) in gradients.items():
            value = some(size * FADING[step])
            recorded.trace("f", f"gradient_tape/{name}", value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("before", "expected"), [("loss", []), ("of_large", ["vanishing-gradient"])]
)
def test_a_gradient_that_is_small_in_the_loss_does_not_vanish_in_shared_layers(
    tmp_path: Path, before: str, expected: list[str]
) -> None:
    """As that of a detector's map of large objects, where there are none; not in time."""
    recorded = program(tmp_path)
    for number, name in ((1, "head"), (2, "map")):
        recorded.layer(number, 0, name, "Conv2D")
    gradients = {
        "head_of_large": ("Filter", "loss", 1, 1.0, 64),
        "of_large": ("Input", "loss", 1, 1e-2, 128),
        "head_of_small": ("Filter", before, 1, 1e-7, 64),
        "of_small": ("Input", before, 1, 1e-8, 32),
        "map": ("Filter", "AddN", 2, 1e-8, 64),
    }
    for name, (of, given, layer, _, _) in gradients.items():
        given = f"gradient_tape/{given}" if given in gradients else given
        inputs = "x:0", f"{given}:0"
        op_type = f"Conv2DBackprop{of}"
        recorded.op("f", op_type, f"gradient_tape/{name}", *inputs, layer=layer)
    recorded.op("f", "AddN", "AddN", "gradient_tape/of_small:0", "boxes:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/map:0", outputs=0)
    for step in range(STEPS):
        for name, (_, _, _, share, size) in gradients.items():
            value = some(share * FADING[step], size)
            recorded.trace("f", f"gradient_tape/{name}", value, serial=step + 1, extremes=True)
            if name == "of_small":
                recorded.trace("f", "AddN", value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(("of_layer", "expected"), [(True, []), (False, ["vanishing-gradient"])])
def test_one_of_several_parts_of_a_gradient_may_vanish(
    tmp_path: Path, of_layer: bool, expected: list[str]
) -> None:
    """As that of the second derivative in a physics-informed network; not beside a decay."""
    recorded = program(tmp_path)
    other = "gradient_tape/MatMul_2" if of_layer else "gradient_tape/mul"
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "x:0", "y:0")
    recorded.op("f", "MatMul", "gradient_tape/MatMul_1", "x:0", "gradient_tape/MatMul:0")
    recorded.op("f", "MatMul" if of_layer else "Mul", other, "x:0", "y:0")
    recorded.op("f", "Reshape", "Reshape", f"{other}:0")
    recorded.op("f", "AddN", "AddN", "gradient_tape/MatMul_1:0", "Reshape:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "AddN:0", outputs=0)
    sizes = {"gradient_tape/MatMul": 1.0, "gradient_tape/MatMul_1": 1e-8}
    sizes |= {other: 0.5, "Reshape": 0.5, "AddN": 0.5}
    for step in range(STEPS):
        for name, size in sizes.items():
            value = some(size * FADING[step])
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("each", "loss", "expected"),
    [
        ([0.4] * STEPS, [0.69] * STEPS, ["vanishing-gradient"]),
        ([0.6] * STEPS, [0.69] * STEPS, []),  # as in a GRU at the beginning
        # What is near is learned.
        ([0.4] * STEPS, [0.69 * 0.95**step for step in range(STEPS)], []),
        # All steps are on record; at the end it fades a little more slowly.
        ([*[0.4] * 30, *[0.51] * 6], [0.69] * 36, ["vanishing-gradient"]),
    ],
)
def test_gradients_that_vanish_in_time(
    tmp_path: Path, each: list[float], loss: list[float], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.graph("body", "while_body_grad", "f")
    recorded.function("body", "while_body_grad")
    recorded.op("f", "StatelessWhile", "gradient_tape/while", "x:0", calls=("body", "body"))
    recorded.op("body", "TanhGrad", "gradient_tape/TanhGrad", "x:0", "y:0")
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step in range(len(loss)):
        recorded.trace("f", "loss", some(loss[step], 1), serial=step + 1, extremes=True)
        for number in (0, 1, 2, 4, 8, 16, 32):
            value = some(0.01 * each[step] ** number)
            name = "gradient_tape/TanhGrad"
            recorded.trace("body", name, value, serial=step + 1, extremes=True, iteration=number)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


def test_layers_whose_gradients_are_zero_all_the_time(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    for number, name in ((1, "first"), (2, "last")):
        recorded.layer(number, 0, name, "Dense")
        recorded.op("f", "MatMul", f"{name}/MatMul", "x:0", "y:0", layer=number)
        recorded.op("f", "MatMul", f"gradient_tape/{name}/MatMul/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    for step in range(STEPS):
        for name, value in (("first", 0.0), ("last", FADING[step])):
            gradient = f"gradient_tape/{name}/MatMul/MatMul"
            recorded.trace("f", gradient, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    told = [(finding.rule, finding.layer.path) for finding in report.suspects if finding.layer]
    assert told == [("layer-never-changes", "first")]


@pytest.mark.parametrize(
    ("down", "up", "expected"),
    [
        (0.0, 0.0, ["layer-never-changes"]),
        (0.3, 0.0, []),  # as an adapter begins
        (0.0, 0.3, []),
        (0.3, 0.3, []),
    ],
)
def test_weights_of_a_layer_that_begin_with_zero_after_another_training(
    tmp_path: Path, down: float, up: float, expected: list[str]
) -> None:
    """What it was trained in before has gradients in steps of its own, and more of them."""
    recorded = program(tmp_path)
    recorded.layer(1, 0, "base", "Dense")
    recorded.layer(2, 0, "adapter", "Adapter")
    recorded.graph("g", "g")
    recorded.function("g", "g", "v1", "v2", captured=(1, 2))
    for number, layer in ((1, "base"), (2, "base"), (3, "base")):
        recorded.op("f", "MatMul", f"{layer}/MatMul_{number}", "x:0", "y:0", layer=1)
        recorded.op("f", "MatMul", f"gradient_tape/{layer}/MatMul_{number}/MatMul", "x:0", "y:0")
    recorded.op("g", "MatMul", "base/MatMul", "x:0", "y:0", layer=1)
    recorded.op("g", "MatMul", "gradient_tape/base/MatMul/MatMul", "x:0", "y:0")
    for number, name in ((1, "down"), (2, "up")):
        recorded.variable(number, layer=2, name=name)
        recorded.op("g", "Placeholder", f"v{number}")
        recorded.op("g", "ReadVariableOp", f"adapter/{name}", f"v{number}:0")
        recorded.op("g", "MatMul", f"adapter/MatMul_{number}", "x:0", f"adapter/{name}:0", layer=2)
        gradient = f"gradient_tape/adapter/MatMul_{number}/MatMul"
        recorded.op("g", "MatMul", gradient, f"adapter/MatMul_{3 - number}:0", "y:0")
        recorded.op("g", "AssignSubVariableOp", f"assign{number}", f"v{number}:0", f"{gradient}:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    for step in range(2 * STEPS):
        values = {f"gradient_tape/base/MatMul_{number}/MatMul": 0.1 for number in (1, 2, 3)}
        if step >= STEPS:
            values = {"gradient_tape/base/MatMul/MatMul": 0.1, "adapter/down": down}
            values |= {"adapter/up": up, "adapter/MatMul_1": down, "adapter/MatMul_2": up}
            values |= {"gradient_tape/adapter/MatMul_1/MatMul": up}
            values |= {"gradient_tape/adapter/MatMul_2/MatMul": down}
        graph = "f" if step < STEPS else "g"
        for name, value in values.items():
            recorded.trace(graph, name, some(value), serial=step + 1, extremes=True)
        recorded.execution(graph, [], {step + 10: some(1)}, graph, serial=step + 1)
    found = diagnose(recorded.open()).suspects
    assert [one.rule for one in found] == expected
    for one in found:
        assert (one.step, one.layer and one.layer.path) == (STEPS, "adapter")
        assert "down, up: all weights are 0, and of layer adapter: its gradients" in one.evidence
        assert "begin with random numbers" in one.fix


@pytest.mark.parametrize("falls", [False, True])
def test_a_layer_that_is_given_only_zeros(tmp_path: Path, falls: bool) -> None:
    """Where the loss falls all the same, one of several arrays may be 0 in all examples."""
    recorded = program(tmp_path)
    recorded.op("f", "Mul", "given", "x:0", "mask:0")
    for number, (name, of) in enumerate({"first": "given:0", "last": "x:0"}.items(), 1):
        recorded.layer(number, 0, name, "Dense")
        recorded.op("f", "MatMul", f"{name}/MatMul", of, "y:0", layer=number)
        recorded.op("f", "MatMul", f"gradient_tape/{name}/MatMul/MatMul", of, "y:0")
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.gradients([7], of=("f", "loss:0"))
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    for step in range(STEPS):
        values = {"given": 0.0, "gradient_tape/first/MatMul/MatMul": 0.0}
        values["loss"] = 1.0 / (1 + step * falls)
        for name, value in (values | {"gradient_tape/last/MatMul/MatMul": FADING[step]}).items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    found = [one for one in diagnose(recorded.open()).suspects if one.layer]
    assert [one.rule for one in found] == ["layer-never-changes"] * (not falls)
    assert all("as what it is given is" in one.evidence for one in found)


def test_gradients_are_compared_in_the_steps_that_all_are_measured_in(tmp_path: Path) -> None:
    """What was recorded together with something bad is measured in that step as well."""
    recorded = program(tmp_path)
    for number, name in enumerate(("first", "last", "more"), 1):
        recorded.layer(number, 0, name, "Dense")
        recorded.op("f", "MatMul", f"{name}/MatMul", "x:0", "y:0", layer=number)
        recorded.op("f", "MatMul", f"gradient_tape/{name}/MatMul/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    for step in range(STEPS):
        for name, value in (("first", 0.0), ("last", 1.0), ("more", 1.0)):
            gradient = f"gradient_tape/{name}/MatMul/MatMul"
            extremes = name != "first" or step != 3
            recorded.trace("f", gradient, some(value), serial=step + 1, extremes=extremes)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (finding,) = diagnose(recorded.open()).suspects
    assert (finding.rule, finding.layer and finding.layer.path) == ("layer-never-changes", "first")


def test_gradients_whose_finite_elements_are_zero_are_not_zero(tmp_path: Path) -> None:
    """As those behind a ReLU are, of a step that a loss scaler skips."""
    recorded = program(tmp_path)
    recorded.layer(1, 0, "first", "Dense")
    recorded.op("f", "MatMul", "first/MatMul", "x:0", "y:0", layer=1)
    recorded.op("f", "Cast", "gradient_tape/Cast", "x:0")
    gradient = "gradient_tape/first/MatMul/MatMul"
    recorded.op("f", "MatMul", gradient, "gradient_tape/Cast:0", "y:0")
    recorded.op("f", "IsFinite", "IsFinite", f"{gradient}:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    partly = np.repeat(np.array([np.nan, 0], np.float32), 64)
    for step in range(STEPS):
        recorded.trace("f", "gradient_tape/Cast", some(np.inf, dtype=HALF), serial=step + 1)
        recorded.trace("f", gradient, partly, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    assert report.roots == ()
    assert "layer-never-changes" not in [finding.rule for finding in report.suspects]


def test_a_layer_that_is_off_in_training_and_in_evaluation_is_told_once(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.graph("evaluation", "f", "root")
    recorded.layer(1, 0, "first", "Dense")
    for graph in ("f", "evaluation"):
        recorded.op(graph, "Relu", "first/Relu", "x:0", layer=1)
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "Sub:0", outputs=0)
    for step in range(CALLS):
        for graph in ("f", "evaluation"):
            recorded.trace(graph, "first/Relu", some(0.0), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == ["dead-relu"]


@pytest.mark.parametrize("trained", ["eagerly", "in a function", "alone"])
def test_training_is_to_blame_for_what_is_off_in_each_evaluation(
    tmp_path: Path, trained: str
) -> None:
    recorded = program(tmp_path)
    recorded.graph("evaluation", "g", "root")
    recorded.layer(1, 0, "first", "Dense")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.op("f", "Relu", "first/Relu", "x:0", layer=1)
    recorded.op("evaluation", "Relu", "model/first/Relu", "x:0", layer=1)
    for step in range(STEPS):
        output = some(float(step < 3))
        if trained == "in a function":
            recorded.trace("f", "first/Relu", output, serial=step + 1, extremes=True)
        if trained == "eagerly":
            recorded.execution("Relu", [1], {100 + step: output}, layer=1, extremes=True, line=2)
        recorded.execution("f", [], {200 + step: some(1)}, "f", serial=step + 1)
    for time in range(CALLS):
        name, serial = "model/first/Relu", STEPS + time + 1
        recorded.trace("evaluation", name, some(0.0), serial=serial, extremes=True)
        recorded.execution("g", [], {300 + time: some(1)}, "evaluation", serial=serial)
    (found,) = diagnose(recorded.open()).suspects
    assert ("all 64 outputs are 0 in the last" in found.evidence) is (trained != "alone")
    assert "Lower the learning rate" in found.fix


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([1.0, 1.2, 0.9, *[3e3] * 9], ["training-diverges"]),
        ([1.0, 1.2, 0.9, *[3e3] * 6, *[2.0] * 3], []),  # it recovers
        ([1.0, 1.2, 0.9, 1e13, *[2.0] * 3, 3e3, *[2.0] * 4], ["training-diverges"]),
        ([1.0, 1.2, 0.9, 1e13, *[2.0] * 8], []),  # one batch
        ([7e13, 1.2, 0.9, *[1.0] * 3, 7e13, *[2.0] * 5], []),  # the same in each epoch
        ([1.0, 1.2, 0.9, *[30.0] * 9], []),
        ([0.6, 9e5, 3e7, 2e7, *[3e3] * 8], ["training-diverges"]),  # the first step throws it away
        ([0.6, 9e5, 3e7, 2e7, *[2.0] * 8], []),
        ([0.01, *[3e3] * 11], []),  # of one batch alone
        ([1.0 / (step + 1) for step in range(STEPS)], []),
        ([1.5**step for step in range(STEPS)], ["training-diverges"]),  # steadily
        ([1.0, 0.5, *[1.5**step for step in range(2, STEPS)]], []),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_loss_that_gets_far_above_what_it_was(
    tmp_path: Path, losses: list[float], scale: float, expected: list[str]
) -> None:
    """A loss scale that grows makes another number grow, and that is none."""
    recorded = program(tmp_path)
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "ReadVariableOp", "scale", "s:0")
    recorded.op("f", "Mul", "scaled", "loss:0", "scale:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "scaled:0"))
    for step in range(STEPS):
        values = {"loss": losses[step], "scale": scale**step}
        values["scaled"] = values["loss"] * values["scale"]
        for name, value in values.items():
            recorded.trace("f", name, some(value, 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("Identity", ["training-diverges"]),
        ("StopGradient", []),
        ("MatMul", []),  # the same weights make what is learned
    ],
)
def test_a_loss_that_rises_steadily_may_be_of_what_a_network_makes(
    tmp_path: Path, beside: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.function("f", "f", "x", "w", captured=(7,))
    recorded.variable(7, name="w")
    recorded.op("f", "ReadVariableOp", "read", "w:0")
    recorded.op("f", "MatMul", "values", "x:0", "read:0")
    recorded.op("f", beside, "targets", "x:0", "read:0")
    recorded.op("f", "SquaredDifference", "loss", "values:0", "targets:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step in range(STEPS):
        values = dict.fromkeys(("read", "values", "targets"), 1.0) | {"loss": 1.5**step}
        for name, value in values.items():
            recorded.trace("f", name, some(value, 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.1, 0.1, 0.1, *[10.0] * 9], []),
        ([0.0, 0.0, 0.0, *[10.0] * 9], []),
        ([0.1, 0.1, 0.1, *[10.0] * 6, *[0.1] * 3], ["training-diverges"]),  # not those of now
        ([0.1, 0.1, 0.1, *[0.2] * 9], ["training-diverges"]),
    ],
)
def test_a_loss_may_grow_as_what_it_is_given_does(
    tmp_path: Path, rewards: list[float], expected: list[str]
) -> None:
    """A replay buffer begins with the rewards of one state, which may be next to nothing."""
    recorded = program(tmp_path)
    recorded.op("f", "Placeholder", "rewards")
    recorded.op("f", "StopGradient", "targets", "rewards:0")
    recorded.op("f", "MatMul", "values", "x:0", "w:0")
    recorded.op("f", "Sub", "Sub", "targets:0", "values:0")
    recorded.op("f", "Square", "Square", "Sub:0")
    recorded.op("f", "Mean", "loss", "Square:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    losses = [0.005, 0.006, 0.004, *[2.0] * 9]
    for step, (reward, loss) in enumerate(zip(rewards, losses, strict=True)):
        values = dict.fromkeys(("rewards", "targets"), reward) | {"values": 0.1}
        values |= {"Sub": loss**0.5, "Square": loss, "loss": loss}
        for name, value in values.items():
            recorded.trace("f", name, some(value, 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("losses", "op_type", "expected"),
    [
        ([-1e-4, 2e-4, -1e-4, *[-0.06] * 9], "Sub", []),  # a critic with clipped weights
        ([-1e-4, 2e-4, -1e-4, *[-0.06] * 9], "Mean", []),
        ([0.1, 0.1, 0.1, *[900.0] * 9], "Neg", []),  # an actor whose values of states are below 0
        ([0.1, 0.1, 0.1, *[900.0] * 9], "Mean", ["training-diverges"]),
        ([-0.1, 0.1, -0.1, *[-900.0] * 5, -2e4, -3e4, -4e4, -6e4], "Sub", ["training-diverges"]),
        ([-0.1, 0.1, -0.1, *[-900.0] * 5, -2e4, 3e4, -4e4, -40.0], "Sub", []),
        ([-2.0 * step**3 for step in range(STEPS)], "Mean", ["training-diverges"]),
        ([0.1, 0.1, -8.0, -300.0, -4e5, -3e6, -8e5, *[-900.0] * 5], "Sub", ["training-diverges"]),
        ([0.1, 0.1, -8.0, -300.0, -4e5, -3e5, -8e5, *[-900.0] * 5], "Sub", []),
        ([-200.0 * step for step in range(STEPS)], "Mean", []),
    ],
)
@pytest.mark.parametrize("is_averaged", [True, False])
@pytest.mark.parametrize("is_v1", [True, False])
def test_a_loss_that_may_be_negative_has_to_get_very_far(
    tmp_path: Path,
    losses: list[float],
    op_type: str,
    is_averaged: bool,
    is_v1: bool,
    expected: list[str],
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", op_type, "made", "x:0")
    recorded.op("f", "Mean", "loss", "made:0")
    loss = "loss" if is_averaged else "made"
    recorded.op("f", "Fill", "gradients/grad_ys_0", "one:0")
    recorded.op("f", "Mul", f"gradients/{loss}_grad/Mul", "gradients/grad_ys_0:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    if not is_v1:
        recorded.gradients([7], of=("f", f"{loss}:0"))
    for step in range(STEPS):
        for name in dict.fromkeys(("made", loss)):
            recorded.trace("f", name, some(losses[step], 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    assert [finding.rule for finding in report.suspects] == expected
    for finding in report.suspects:
        assert ("; it falls below 0" in finding.evidence) is (losses[-1] < 0)
        assert ("Check the sign of the loss" in finding.fix) is (losses[-1] < 0)


@pytest.mark.parametrize("falls", [True, False])
def test_of_a_critic_and_a_generator_the_one_that_falls_without_end_is_told(
    tmp_path: Path, falls: bool
) -> None:
    recorded = program(tmp_path)
    for name in ("critic", "generator"):
        recorded.op("f", "Neg", name, "x:0")
        recorded.gradients([7], of=("f", f"{name}:0"))
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    for step in range(STEPS):
        values = {"critic": (-1 if falls else 1) * 10.0**step, "generator": 10.0**step}
        for name, value in values.items():
            recorded.trace("f", name, some(value, 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    told = [finding.op_name for finding in diagnose(recorded.open()).suspects]
    assert told == (["critic"] if falls else ["critic", "generator"])


AT_BOUND = [-1.0, -1.2, -0.9, -5.0, -9.0, -14.0, *[-16.1] * 6]


@pytest.mark.parametrize(
    ("losses", "lowest", "size", "expected"),
    [
        (AT_BOUND, -16.1, 64, ["loss-at-bound"]),
        (AT_BOUND, -16.1, 1, []),  # the logarithm of an error, which may be small
        (AT_BOUND, -3.0, 64, []),
        ([2 * loss for loss in AT_BOUND], -16.1, 64, ["loss-at-bound"]),  # of two logarithms
        ([0.6 * loss for loss in AT_BOUND], -16.1, 64, []),
        ([-loss for loss in AT_BOUND], -16.1, 64, []),  # of wrong labels
        ([-16.1] * STEPS, -16.1, 64, []),
    ],
)
def test_a_loss_at_the_bound_of_its_logarithm(
    tmp_path: Path, losses: list[float], lowest: float, size: int, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Log", "Log", "p:0")
    recorded.op("f", "Mul", "chosen", "Log:0", "y:0")
    recorded.op("f", "Mean", "loss", "chosen:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step in range(STEPS):
        for name in ("Log", "chosen"):
            recorded.trace("f", name, some(lowest, size), serial=step + 1, extremes=True)
        recorded.trace("f", "loss", some(losses[step], 1), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    assert [suspect.rule for suspect in report.suspects] == expected
    assert all(suspect.step == 5 for suspect in report.suspects)


@pytest.mark.parametrize("rises", [True, False])
def test_an_eager_loss_is_not_compared_with_what_else_its_line_computes(
    tmp_path: Path, rises: bool
) -> None:
    """Of two that a line computes in each step, some steps measure one, and some the other."""
    recorded = program(tmp_path)
    for step in range(STEPS):
        loss = 1e5 * (rises and step > 4) + 1e-3
        at = 10 * step
        recorded.execution(
            "Neg", [at], {at + 1: some(1e3)}, line=5, extremes=step in (8, 9, 10, 11)
        )
        recorded.execution("Neg", [at + 1], {at + 2: some(loss, 1)}, line=5, extremes=step < 8)
        recorded.execution("AssignSubVariableOp", [7, at + 2], {}, line=6)
    recorded.gradients([7], of_eager=at + 2)
    assert suspects(recorded) == ["training-diverges"] * rises


@pytest.mark.parametrize(
    ("told", "trainable", "assigned", "used", "trains", "expected"),
    [
        ({"unconnected": (2,)}, True, False, True, True, True),
        ({"left_out": (2,)}, True, False, True, True, True),
        ({"left_out": (2,)}, False, False, True, True, False),  # frozen
        ({"left_out": (2,)}, True, True, True, True, False),  # a copy that is updated now and then
        (
            {"unconnected": (2,)},
            True,
            False,
            False,
            True,
            False,
        ),  # a layer whose output nobody uses
        (
            {"left_out": (2,)},
            True,
            False,
            True,
            False,
            False,
        ),  # a gradient of an input is asked for
        ({}, True, False, True, True, False),  # one that is trained like the others
    ],
)
def test_a_layer_that_nothing_changes(
    tmp_path: Path,
    told: dict[str, tuple[int, ...]],
    trainable: bool,
    assigned: bool,
    used: bool,
    trains: bool,
    expected: bool,
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "trained", "Dense")
    recorded.layer(2, 0, "other", "Dense")
    for handle in (1, 2):
        recorded.variable(handle, layer=handle, trainable=trainable or handle == 1)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle], {})
    unconnected, left_out = told.get("unconnected", ()), told.get("left_out", ())
    recorded.gradients([1] if left_out else [1, 2], unconnected=unconnected, left_out=left_out)
    for number in range(10, 50, 3):
        recorded.execution("MatMul", [], {number: some(0.1)}, layer=2, extremes=True)
        recorded.execution("Mean", [number] * used, {number + 1: some(0.1)}, layer=1)
        if trains:
            recorded.execution("AssignSubVariableOp", [1], {})
    if assigned:
        recorded.execution("AssignVariableOp", [2], {})
    assert suspects(recorded) == ["layer-never-changes"] * expected


@pytest.mark.parametrize(("in_library", "told_at"), [("", 9), ("fit", 5)])
def test_a_layer_left_out_is_told_where_gradients_of_others_are_asked_for(
    tmp_path: Path, in_library: str, told_at: int
) -> None:
    """Not where a call of `fit` does all the rest."""
    recorded = program(tmp_path)
    for handle, name in ((1, "trained"), (2, "other")):
        recorded.layer(handle, 0, name, "Dense")
        recorded.variable(handle, layer=handle)
    recorded.gradients([1], left_out=(2,), line=8, in_library="fit")
    recorded.gradients([1], left_out=(2,), line=9, in_library=in_library)
    for number in range(10, 50, 3):
        recorded.execution("MatMul", [], {number: some(0.1)}, layer=2, line=5, extremes=True)
        recorded.execution("Mean", [number], {number + 1: some(0.1)}, layer=1)
        recorded.execution("AssignSubVariableOp", [1], {})
    (found,) = diagnose(recorded.open()).suspects
    assert found.location
    assert found.location.line == told_at
    assert (found.step, found.when) == (0, "steps 0 to 13 (counted)")
    asked_at = "; those of others are asked for at program.py:9; its op is at program.py:5"
    assert (asked_at in found.evidence) == (told_at == 9)


@pytest.mark.parametrize(
    ("name", "made_in", "runs", "expected"),
    [
        ("initialize_variables", False, True, ["layer-never-changes"]),
        ("first_trace", True, False, ["layer-never-changes"]),
        ("first_trace", True, True, []),
        ("update", False, True, []),
    ],
)
def test_a_first_value_is_no_change(
    tmp_path: Path, name: str, made_in: bool, runs: bool, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.graph("i", name)
    recorded.function("i", name, "v", captured=(2,))
    if made_in:
        recorded.op("i", "VarIsInitializedOp", "IsInitialized", "v:0")
    recorded.op("i", "AssignVariableOp", "Assign", "v:0", "x:0", outputs=0)
    recorded.layer(1, 0, "trained", "Dense")
    recorded.layer(2, 0, "other", "Dense")
    for handle in (1, 2):
        recorded.variable(handle, layer=handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
    if runs:
        recorded.execution(name, [2], {}, "i")
    recorded.gradients([1], left_out=(2,))
    for number in range(10, 50, 3):
        recorded.execution("MatMul", [], {number: some(0.1)}, layer=2, extremes=True)
        recorded.execution("Mean", [number], {number + 1: some(0.1)}, layer=1)
        recorded.execution("AssignSubVariableOp", [1], {})
    assert suspects(recorded) == expected


def test_what_is_never_changed_is_not_told_to_be_assigned(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    for handle, name in ((1, "trained"), (2, "other")):
        recorded.layer(handle, 0, name, "Dense")
        recorded.variable(handle, layer=handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle, 5], {}, line=29)
    recorded.gradients([1], left_out=(2,))
    for number in range(10, 50, 3):
        read = {number: some(0.1)}
        recorded.execution("ReadVariableOp", [2], read, layer=2, extremes=True, line=3)
        recorded.execution("Mean", [number], {number + 1: some(0.1)}, layer=1)
        recorded.execution("AssignSubVariableOp", [1], {})
    (finding,) = diagnose(recorded.open()).suspects
    assert finding.rule == "layer-never-changes"
    assert "assigned at" not in finding.evidence


@pytest.mark.parametrize(
    ("trained_layer", "updates", "told", "expected"),
    [
        (1, 2, "left_out", ["layer-never-changes"]),
        (1, 1, "left_out", []),  # one update, as by hand, is no training
        (0, 2, "left_out", []),  # an image is trained, for a network that stays as it is
        (0, 1, "unconnected", ["layer-never-changes"]),  # it is asked for
    ],
)
def test_what_is_read_and_not_asked_for_may_be_meant_to_stay(
    tmp_path: Path, trained_layer: int, updates: int, told: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "trained", "Dense")
    recorded.layer(2, 0, "other", "Dense")
    for handle, layer in ((1, trained_layer), (2, 2)):
        recorded.variable(handle, layer=layer)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle], {})
    if told == "unconnected":
        recorded.gradients([1, 2], unconnected=(2,))
    else:
        recorded.gradients([1], left_out=(2,))
    for number in range(10, 50, 3):
        recorded.execution("MatMul", [], {number: some(0.1)}, layer=2, extremes=True)
        recorded.execution("Mean", [number], {number + 1: some(0.1)}, layer=1)
    for _ in range(updates):
        recorded.execution("AssignSubVariableOp", [1], {})
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("layer first", ["layer-never-changes"]),
        ("layer last", []),  # what is trained is what the layer is given: an image, say
        ("layer alone", []),  # what is trained is not in that loss, as far as is on record
        ("layer stopped", []),  # a teacher, whose result goes through `tf.stop_gradient`
    ],
)
def test_a_layer_left_out_where_loose_variables_are_trained(
    tmp_path: Path, order: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "forgotten", "Dense")
    for handle, layer in ((1, 0), (2, 1)):
        recorded.variable(handle, layer=layer)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle], {})
    for step in range(STEPS):
        at = 10 * step + 10
        variables = (at + 1, at + 2)
        recorded.execution("ReadVariableOp", [1], {at + 1: some(0.1)})
        recorded.execution("ReadVariableOp", [2], {at + 2: some(0.1)}, layer=1)
        first, second = variables if order == "layer last" else reversed(variables)
        second = at if order == "layer alone" else second
        recorded.execution("MatMul", [at, first], {at + 3: some(0.1)}, layer=1, extremes=True)
        after = "StopGradient" if order == "layer stopped" else "Exp"
        recorded.execution(after, [at + 3], {at + 6: some(0.1)}, layer=1)
        recorded.execution("MatMul", [at + 6, second], {at + 4: some(0.1)}, layer=1)
        recorded.execution("Mean", [at + 4], {at + 5: some(0.1, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    recorded.gradients([1], left_out=(2,), of_eager=at + 5)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("array", "asked", "expected"),
    [
        (True, True, ["layer-never-changes"]),
        (False, True, []),  # the next layer takes what has been there before
        (True, False, []),
    ],
)
def test_a_layer_whose_result_goes_through_numpy(
    tmp_path: Path, array: bool, asked: bool, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "head", "Dense")
    recorded.layer(2, 0, "embed", "Dense")
    for handle in (1, 2):
        recorded.variable(handle, layer=handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle], {})
    if asked:
        recorded.gradients([1, 2], unconnected=(2,))
    else:
        recorded.gradients([1], left_out=(2,))
    for number in range(10, 90, 5):
        embedded = {number + 1: some(0.1)}
        recorded.execution("MatMul", [number], embedded, layer=2, line=5, built_at=3, extremes=True)
        given = number + 2 if array else number
        recorded.execution("MatMul", [given], {number + 3: some(0.1)}, layer=1, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    report = diagnose(recorded.open())
    assert [finding.rule for finding in report.suspects] == expected
    for finding in report.suspects:
        assert finding.layer.path == "embed"
        assert "layer head takes an array that was made after it" in finding.evidence
        assert finding.location
        assert finding.location.line == 5  # not where the model was built


def test_a_variable_that_never_changes_is_told_in_the_first_step(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    for handle, name in ((1, "trained"), (2, "table/embeddings")):
        recorded.variable(handle, name=name)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
    recorded.gradients([1, 2], unconnected=(2,))
    for number in range(10, 50, 3):
        recorded.execution("Mean", [], {number: some(0.1, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1, number], {})
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.rule, suspect.step, suspect.variables) == (
        "layer-never-changes",
        0,
        ("table/embeddings",),
    )


@pytest.mark.parametrize(("given", "expected"), [(3.0, ["dead-relu"]), (0.0, [])])
def test_a_layer_that_is_off_in_predictions_alone(
    tmp_path: Path, given: float, expected: list[str]
) -> None:
    """Nothing is trained; a model that is tried out with zeros gives zeros."""
    recorded = program(tmp_path)
    recorded.op("f", "BiasAdd", "BiasAdd", "x:0")
    recorded.op("f", "Relu", "Relu", "BiasAdd:0")
    for call in range(CALLS):
        recorded.trace("f", "BiasAdd", some(-given), serial=call + 1, extremes=True)
        mode = TensorDebugMode.CONCISE_HEALTH  # which tells no numbers of zeros
        recorded.trace("f", "Relu", some(0.0), serial=call + 1, extremes=True, mode=mode)
        recorded.execution("f", [], {call: some(1)}, "f", serial=call + 1)
    assert suspects(recorded) == expected


def test_a_layer_that_is_used_twice_learns_from_what_reaches_it_once(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "head", "Dense")
    recorded.op("f", "MatMul", "head/MatMul", "x:0", "y:0", layer=1)
    names = ("gradient_tape/head/MatMul/MatMul", "gradient_tape/head/MatMul/MatMul_1")
    for name in names:
        recorded.op("f", "MatMul", name, "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", f"{names[-1]}:0", outputs=0)
    for step in range(STEPS):
        for name, share in zip(names, (1.0, 1e-8), strict=True):
            value = some(share * FADING[step])
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert diagnose(recorded.open()).suspects == ()


@pytest.mark.parametrize(
    ("result", "takes", "expected"),
    [
        (1.0, "last", ["softmax-of-one"]),
        (1.0, "logits", ["softmax-of-one"]),  # a loss of logits: no prediction will ever change
        (1.0, "both", []),  # attention to a single key, a mixture of one
        (0.5, "last", []),
    ],
)
def test_a_softmax_of_one_number(
    tmp_path: Path, result: float, takes: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    for handle in (1, 2):
        recorded.variable(handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
    for step in range(STEPS):
        at = 10 * step + 10
        recorded.execution("ReadVariableOp", [1], {at: some(0.1)})
        recorded.execution("MatMul", [at], {at + 1: some(0.3)})
        recorded.execution("Softmax", [at + 1], {at + 2: some(result)}, line=3, extremes=True)
        recorded.execution("ReadVariableOp", [2], {at + 3: some(0.1)})
        recorded.execution("Exp", [at + 3], {at + 4: some(1.1)})
        taken = {"last": [at + 2], "logits": [at + 1], "both": [at + 2, at + 4]}[takes]
        recorded.execution("Mean", taken, {at + 5: some(0.5, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    recorded.gradients([1], of_eager=at + 5)
    assert suspects(recorded) == expected


def test_a_loss_that_is_computed_in_no_step(tmp_path: Path) -> None:
    """The program marks steps, and trains before them as well."""
    recorded = program(tmp_path)
    recorded.variable(1)
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "loss:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    for call in range(CALLS):
        recorded.trace("f", "loss", some(1.0, 1), serial=call + 1, extremes=True)
        recorded.execution("f", [], {call: some(1)}, "f", serial=call + 1)
    recorded.execution("AddV2", [], {CALLS: some(1)}, step=1)
    assert suspects(recorded) == []


@pytest.mark.parametrize(
    ("of", "then", "expected"),
    [
        (64, "scaled", ["norm-of-one"]),
        (128, "scaled", []),  # means of two numbers each, which happen to be alike
        (64, "centred", []),  # nothing is divided by a deviation
        (64, "joined", []),  # the deviation is one more feature, of a batch of one
    ],
)
def test_a_normalisation_of_one_number(
    tmp_path: Path, of: int, then: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.variable(1)
    recorded.execution("VarHandleOp", [], {1: some(1)})
    for step in range(STEPS):
        at = 10 * step + 10
        recorded.execution("ReadVariableOp", [1], {at: some(0.1)})
        recorded.execution("MatMul", [at], {at + 1: some(0.3, of)})
        recorded.execution("Mean", [at + 1], {at + 2: some(0.3)}, line=3, extremes=True)
        recorded.execution("Sub", [at + 1, at + 2], {at + 3: some(0.0)}, line=4, extremes=True)
        recorded.execution("Square", [at + 3], {at + 4: some(0.0)}, line=5)
        recorded.execution("Rsqrt", [at + 4], {at + 5: some(1000.0)}, line=6)
        result, given = {
            "scaled": ("Mul", [at + 3, at + 5]),
            "centred": ("Mul", [at + 3, at]),
            "joined": ("ConcatV2", [at + 1, at + 5]),
        }[then]
        recorded.execution(result, given, {at + 6: some(0.0)}, line=7)
        recorded.execution("Mean", [at + 6], {at + 7: some(0.5, 1)}, line=8, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    recorded.gradients([1], of_eager=at + 7)
    assert suspects(recorded) == expected


def test_layers_behind_a_normalisation_of_one_number(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "a", "Dense")
    recorded.layer(2, 0, "norm", "LayerNormalization")
    recorded.layer(3, 0, "out", "Dense")
    recorded.op("f", "MatMul", "a/MatMul", "x:0", "v:0", layer=1)
    recorded.op("f", "Mean", "norm/mean", "a/MatMul:0", layer=2)
    recorded.op("f", "SquaredDifference", "norm/d", "a/MatMul:0", "norm/mean:0", layer=2)
    recorded.op("f", "Rsqrt", "norm/inv", "norm/d:0", layer=2)
    recorded.op("f", "Mul", "norm/mul", "a/MatMul:0", "norm/inv:0", layer=2)
    recorded.op("f", "MatMul", "out/MatMul", "norm/mul:0", "w:0", layer=3)
    recorded.op("f", "Mean", "loss", "out/MatMul:0")
    recorded.op("f", "MatMul", "gradient_tape/a/MatMul/MatMul", "x:0", "y:0")
    recorded.op("f", "MatMul", "gradient_tape/out/MatMul/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    values = {
        "a/MatMul": 0.3,
        "norm/mean": 0.3,
        "norm/d": 0.0,
        "norm/inv": 1000.0,
        "norm/mul": 0.0,
        "out/MatMul": 0.5,
        "loss": 0.5,
        "gradient_tape/a/MatMul/MatMul": 0.0,
        "gradient_tape/out/MatMul/MatMul": 0.1,
    }
    for step in range(STEPS):
        for name, value in values.items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.rule, suspect.layer and suspect.layer.path) == ("norm-of-one", "norm")


@pytest.mark.parametrize(
    ("relu", "loss", "gradient", "given", "expected"),
    [
        (0.0, 9.9, 0.0, 1.0, ["dead-relu"]),
        (7.0, 9.9, 0.0, 1.0, ["no-gradient"]),
        (0.0, (9.9, 0.0), 0.0, 1.0, []),  # a hinge: all is learned
        (7.0, 0.0, 0.0, 1.0, ["no-gradient"]),
        (7.0, 0.0, 0.0, 0.0, ["no-gradient"]),  # weights of samples that are 0
        (0.0, 9.9, 0.1, 1.0, []),
    ],
)
def test_gradients_that_are_zero_in_all_layers(
    tmp_path: Path,
    relu: float,
    loss: float | tuple[float, float],
    gradient: float,
    given: float,
    expected: list[str],
) -> None:
    first_loss, last_loss = loss if isinstance(loss, tuple) else (loss, loss)
    recorded = program(tmp_path)
    recorded.op("f", "Relu", "Relu", "x:0")
    recorded.op("f", "ClipByValue", "ClipByValue", "Relu:0", "low:0", "high:0")
    recorded.op("f", "Placeholder", "given")
    recorded.op("f", "Mul", "weighted", "ClipByValue:0", "given:0")
    recorded.op("f", "Mean", "loss", "weighted:0", "axes:0")
    recorded.op("f", "Fill", "gradient_tape/Fill", "shape:0", "one:0")
    recorded.op("f", "SelectV2", "gradient_tape/ClipByValue/SelectV2", "gradient_tape/Fill:0")
    made = "gradient_tape/ClipByValue/SelectV2:0"
    for number, name in ((1, "first"), (2, "last")):
        recorded.layer(number, 0, name, "Dense")
        recorded.op("f", "MatMul", f"{name}/MatMul", "x:0", "y:0", layer=number)
        recorded.op("f", "MatMul", f"gradient_tape/{name}/MatMul/MatMul", made, "y:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "x:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step in range(STEPS):
        values = {"Relu": some(relu, 5), "ClipByValue": some(min(relu, 1), 5)}
        values |= {"given": some(given, 5), "weighted": some(given * min(relu, 1), 5)}
        values |= {
            "loss": some(last_loss if step else first_loss, 1),
            "gradient_tape/Fill": some(1),
        }
        values |= {"gradient_tape/ClipByValue/SelectV2": some(gradient, 5)}
        for layer in ("first", "last"):
            values[f"gradient_tape/{layer}/MatMul/MatMul"] = some(gradient)
        for name, value in values.items():
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    assert [finding.rule for finding in report.suspects] == expected
    if expected == ["no-gradient"]:
        place = "gradient_tape/ClipByValue/SelectV2" if loss else ("loss" if given else "given")
        assert report.suspects[0].op_name == place
        assert ("sample weights" in report.suspects[0].why) is (not given)


@pytest.mark.parametrize(("weights", "expected"), [(0.0, ["layer-never-changes"]), (0.5, [])])
@pytest.mark.parametrize("is_v1", [True, False])
def test_weights_that_begin_with_zero_in_all_layers(
    tmp_path: Path, weights: float, expected: list[str], is_v1: bool
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "" if is_v1 else "f")
    if not is_v1:
        recorded.variable(1, name="v1")
        recorded.variable(2, name="v2")
        recorded.function("f", "f", "v1", "v2", captured=(1, 2))
    for number in (1, 2):
        recorded.op("f", "VariableV2" if is_v1 else "Placeholder", f"v{number}")
        read = "Identity" if is_v1 else "ReadVariableOp"
        recorded.op("f", read, f"read{number}", f"v{number}:0", dtype="float32")
        recorded.op("f", "MatMul", f"MatMul{number}", "x:0", f"read{number}:0")
        recorded.op("f", "MatMul", f"gradients/MatMul{number}_grad/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignSub" if is_v1 else "AssignSubVariableOp", "assign", "v1:0", "x:0")
    for step in range(STEPS):
        values = {f"{name}{number}": weights for name in ("read", "MatMul") for number in (1, 2)}
        values |= {f"gradients/MatMul{number}_grad/MatMul": 0.0 for number in (1, 2)}
        for name, value in values.items():
            recorded.trace("f", name, some(value), serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    report = diagnose(recorded.open())
    assert [suspect.rule for suspect in report.suspects] == expected
    assert all("v1 and 1 more: all weights are 0" in one.evidence for one in report.suspects)


@pytest.mark.parametrize(
    ("op_type", "distance", "target", "expected"),
    [
        ("Sigmoid", "Square", [103.0], ["target-out-of-reach"]),
        ("Tanh", "Abs", [103.0], ["target-out-of-reach"]),
        ("Sigmoid", "Exp", [103.0], []),  # no loss that compares them
        ("Sigmoid", "Square", [103.0, 3.0], []),  # most batches are near
        ("Relu", "Square", [103.0], []),
        ("Sigmoid", "Square of both", [103.0], []),  # what it is compared with is trained as well
    ],
)
def test_targets_that_an_activation_cannot_give(
    tmp_path: Path, op_type: str, distance: str, target: list[float], expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.variable(1)
    recorded.execution("VarHandleOp", [], {1: some(1)})
    for step in range(STEPS):
        at, mine = 10 * step + 10, target[step % len(target)]
        recorded.execution("ReadVariableOp", [1], {at: some(0.1)})
        recorded.execution("MatMul", [at], {at + 1: some(0.3)})
        recorded.execution(op_type, [at + 1], {at + 2: some(0.6)}, line=3)
        other = at if distance.endswith("both") else 5
        recorded.execution("Sub", [other, at + 2], {at + 3: some(mine)}, line=4, extremes=True)
        recorded.execution(distance.split()[0], [at + 3], {at + 4: some(mine)}, line=5)
        recorded.execution("Mean", [at + 4], {at + 5: some(mine, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    recorded.gradients([1], of_eager=at + 5)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("numbers", "taker", "expected"),
    [
        ([(-0.2, 0.7)], "Log", ["not-probabilities"]),
        ([(0.1, 7.0)], "Log", ["not-probabilities"]),
        ([(0.0, 1.0)], "Log", []),
        ([(-0.2, 0.7), (0.0, 1.0)], "Log", []),
        ([(-0.2, 0.7)], "Exp", []),
        ([(0.1, 7.0)], "AddV2 Log", ["not-probabilities"]),  # of the Keras before version 3
        ([(0.1, 7.0)], "AddV2 Exp", []),
    ],
)
def test_a_cross_entropy_of_what_is_no_probability(
    tmp_path: Path, numbers: list[tuple[float, float]], taker: str, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "last", "Dense")
    for step in range(STEPS):
        at = 10 * step + 10
        value = np.array(numbers[step % len(numbers)], np.float32)
        clipped = value.clip(1e-7, 1 - 1e-7)
        recorded.execution("BiasAdd", [1], {at: value}, line=3, extremes=True, layer=1)
        recorded.execution("RealDiv", [at, 2], {at + 1: value}, line=4, extremes=True)
        recorded.execution("Minimum", [at + 1, 3], {at + 2: clipped}, line=4, extremes=True)
        recorded.execution("Maximum", [at + 2, 4], {at + 3: clipped}, line=4, extremes=True)
        *between, last = taker.split()
        for op_type in between:
            recorded.execution(op_type, [at + 3], {at + 6: value}, line=4)
        recorded.execution(last, [at + (6 if between else 3)], {at + 4: value}, line=4)
        recorded.execution("Mean", [at + 4], {at + 5: some(0.5, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [5], {})
    recorded.gradients([5], of_eager=at + 5)
    report = diagnose(recorded.open())
    assert [finding.rule for finding in report.suspects] == expected
    assert all(finding.layer and finding.layer.path == "last" for finding in report.suspects)


@pytest.mark.parametrize(
    ("losses", "share", "expected"),
    [
        ([0.693] * STEPS, 1e-5, ["vanishing-gradient"]),
        ([0.693 * 0.9**step for step in range(STEPS)], 1e-5, []),  # it learns all the same
        ([0.693] * STEPS, 1e-3, []),
    ],
)
def test_gradients_that_vanish_less_where_nothing_is_learned(
    tmp_path: Path, losses: list[float], share: float, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "x:0")
    recorded.op("f", "MatMul", "gradient_tape/MatMul_1", "gradient_tape/MatMul:0")
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", "gradient_tape/MatMul_1:0", outputs=0)
    recorded.gradients([7], of=("f", "loss:0"))
    for step, loss in enumerate(losses):
        values = {"loss": some(loss, 1), "gradient_tape/MatMul": some(0.1)}
        values["gradient_tape/MatMul_1"] = some(0.1 * share)
        for name, value in values.items():
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("op_type", "given", "expected"),
    [
        ("Sum", 0.01, "output-cancelled"),
        ("Sum", 1e-6, "vanishing-gradient"),  # they were small before
        ("Mul", 0.01, "vanishing-gradient"),
    ],
)
def test_gradients_that_cancel_one_another_do_not_vanish_on_the_way(
    tmp_path: Path, op_type: str, given: float, expected: str
) -> None:
    """As of what is added to a whole channel before a normalisation takes its mean off."""
    recorded = program(tmp_path)
    for number, name in ((1, "head"), (2, "time")):
        recorded.layer(number, 0, name, "Dense")
    tape = "gradient_tape/"
    recorded.op("f", "MatMul", tape + "head", "x:0", layer=1)
    recorded.op("f", "AddN", "AddN", "x:0", "y:0")
    recorded.op("f", op_type, tape + "made", "AddN:0")
    recorded.op("f", "Reshape", tape + "Reshape", tape + "made:0")
    recorded.op("f", "MatMul", tape + "time", "x:0", tape + "Reshape:0", layer=2)
    recorded.op("f", "AssignSubVariableOp", "Assign", "w:0", tape + "time:0", outputs=0)
    sizes = {"head": 1.0, "made": 1e-8, "Reshape": 1e-8, "time": 1e-8}
    for step in range(STEPS):
        recorded.trace("f", "AddN", some(given), serial=step + 1, extremes=True)
        for name, size in sizes.items():
            value = some(size * FADING[step])
            recorded.trace("f", tape + name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step: some(1)}, "f", serial=step + 1)
    assert suspects(recorded) == [expected]


@pytest.mark.parametrize(
    ("op_type", "dtype", "also_of", "text"),
    [
        ("StopGradient", "float32", 2, "; StopGradient at program.py:7 lets no gradient through"),
        ("Cast", "int32", 2, "; Cast at program.py:7 lets no gradient through"),
        ("Round", "float32", 2, "; Round at program.py:7 lets no gradient through"),
        ("Relu", "float32", 2, None),
        ("Shape", "int32", 2, None),  # of how large it is
        # It is of what is trained, too, whose gradient comes another way.
        ("StopGradient", "float32", 3, "; StopGradient at program.py:7 lets no gradient through"),
    ],
)
@pytest.mark.parametrize("is_eager", [False, True])
def test_layers_behind_one_op_without_a_gradient_are_told_together(
    tmp_path: Path, op_type: str, dtype: str, also_of: int, text: str | None, is_eager: bool
) -> None:
    recorded = program(tmp_path)
    for handle, name in ((1, "first"), (2, "second"), (3, "last")):
        recorded.layer(handle, 0, name, "Dense")
        recorded.variable(handle, layer=handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
        recorded.execution("AssignVariableOp", [handle], {})
    (_cut_eagerly if is_eager else _cut_in_graph)(recorded, op_type, dtype, also_of)
    found = diagnose(recorded.open()).suspects
    assert {finding.rule for finding in found} == {"layer-never-changes"}
    named = [(f.layer.name, [o.name for o in f.other_layers], f.step) for f in found if f.layer]
    if text is None:
        assert [(name, others) for name, others, _ in named] == [("first", []), ("second", [])]
        return
    assert named == [("second", ["first"], 0)]
    assert f"{text} to it and 1 more layer" in found[0].evidence


def _cut_in_graph(recorded: Program, op_type: str, dtype: str, also_of: int) -> None:
    recorded.function("f", "f", "v1", "v2", "v3", captured=(1, 2, 3))
    for handle in (1, 2, 3):
        recorded.op("f", "Placeholder", f"v{handle}")
        recorded.op("f", "ReadVariableOp", f"read{handle}", f"v{handle}:0", dtype="float32")
    also = f"read{also_of}:0"
    recorded.op("f", "MatMul", "first", "x:0", "read1:0", layer=1, dtype="float32")
    recorded.op("f", "MatMul", "second", "first:0", also, "read2:0", layer=2, dtype="float32")
    recorded.op("f", op_type, "cut", "second:0", line=7, dtype=dtype)
    recorded.op("f", "MatMul", "last", "cut:0", "read3:0", layer=3, dtype="float32")
    recorded.op("f", "Mean", "loss", "last:0", dtype="float32")
    recorded.op("f", "AssignSubVariableOp", "assign", "v3:0", "loss:0", outputs=0)
    recorded.gradients([1, 2, 3], unconnected=(1, 2), of=("f", "loss:0"))
    for step in range(CALLS):
        for name in ("first", "second", "last", "loss"):
            recorded.trace("f", name, some(0.1), serial=100 + step, extremes=True)
        recorded.execution("f", [], {1000 + step: some(1)}, "f", serial=100 + step)


def _cut_eagerly(recorded: Program, op_type: str, dtype: str, also_of: int) -> None:
    for step in range(CALLS):
        at = 10 * step + 10
        for handle in (1, 2, 3):
            recorded.execution("ReadVariableOp", [handle], {at + handle: some(0.1)})
        recorded.execution("MatMul", [at, at + 1], {at + 4: some(0.1)}, layer=1)
        given = [at + 4, at + also_of, at + 2]
        recorded.execution("MatMul", given, {at + 5: some(0.1)}, layer=2)
        cut = some(1, dtype=np.dtype(dtype).type)
        recorded.execution(op_type, [at + 5], {at + 6: cut}, line=7)
        recorded.execution("MatMul", [at + 6, at + 3], {at + 7: some(0.1)}, layer=3)
        recorded.execution("Mean", [at + 7], {at + 8: some(0.1, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [3], {})
    recorded.gradients([1, 2, 3], unconnected=(1, 2), of_eager=18)


@pytest.mark.parametrize(
    ("loss", "of", "expected"),
    [(0.0, 64, ["softmax-of-one"]), (0.0, 128, []), (0.5, 64, [])],  # 128: of two classes
)
def test_a_cross_entropy_of_one_class(
    tmp_path: Path, loss: float, of: int, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    recorded.variable(1)
    recorded.execution("VarHandleOp", [], {1: some(1)})
    for step in range(STEPS):
        at = 10 * step + 10
        recorded.execution("ReadVariableOp", [1], {at: some(0.1)})
        recorded.execution("MatMul", [at], {at + 1: some(0.3, of)}, extremes=True)
        entropy = {at + 2: some(loss, 64), at + 3: some(0.5, of)}
        kind = "SoftmaxCrossEntropyWithLogits"
        recorded.execution(kind, [at + 1], entropy, line=3, extremes=True)
        recorded.execution("Mean", [at + 2], {at + 4: some(loss, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1], {})
    recorded.gradients([1], of_eager=at + 4)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("answers", "assigned", "expected"),
    [
        ("none", False, ["gradients-none"]),
        ("none", True, []),  # it is trained in another way
        ("one", False, []),
    ],
)
def test_gradients_of_none(
    tmp_path: Path, answers: str, assigned: bool, expected: list[str]
) -> None:
    recorded = program(tmp_path)
    for handle in (1, 2, 3):
        recorded.variable(handle)
        recorded.execution("VarHandleOp", [], {handle: some(1)})
    for step in range(STEPS):
        at = 10 * step + 10
        recorded.execution("ReadVariableOp", [3], {at: some(0.1)})
        recorded.execution("Mean", [at], {at + 1: some(0.5, 1)}, extremes=True)
        if assigned:
            recorded.execution("AssignSubVariableOp", [1], {})
    unconnected = (1, 2) if answers == "none" else (2,)
    recorded.gradients([1, 2], unconnected=unconnected, left_out=(3,), of_eager=at + 1, line=4)
    assert suspects(recorded) == expected


@pytest.mark.parametrize(
    ("between", "penalty", "beside", "told"),
    [
        ("Round", "L2Loss", "Const", True),
        ("Sigmoid", "L2Loss", "Const", False),
        ("Round", "MatMul", "Const", False),  # a layer of its own that takes the weights
        ("Round", "L2Loss", "PartitionedCall", False),  # which may compute anything
    ],
)
def test_penalties_alone_have_a_gradient(
    tmp_path: Path, between: str, penalty: str, beside: str, told: bool
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "hidden", "Dense")
    recorded.variable(1, layer=1, name="kernel")
    recorded.function("f", "f", "v", captured=(1,))
    recorded.op("f", "Placeholder", "v")
    recorded.op("f", "ReadVariableOp", "read", "v:0", dtype="float32")
    recorded.op("f", "MatMul", "product", "x:0", "read:0", layer=1, dtype="float32")
    recorded.op("f", between, "between", "product:0", line=7, dtype="float32")
    recorded.op("f", penalty, "penalty", "read:0", dtype="float32")
    recorded.op("f", beside, "beside", dtype="float32")
    recorded.op("f", "AddN", "loss", "between:0", "penalty:0", "beside:0", dtype="float32")
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "loss:0", outputs=0)
    recorded.gradients([1], of=("f", "loss:0"))
    for step in range(CALLS):
        for name in ("product", "between", "loss"):
            recorded.trace("f", name, some(0.1), serial=100 + step, extremes=True)
        recorded.execution("f", [], {1000 + step: some(1)}, "f", serial=100 + step)
    found = diagnose(recorded.open()).suspects
    assert [one.rule for one in found] == ["no-gradient"] * told
    assert all("kernel: Round at program.py:7 lets no" in one.evidence for one in found)


@pytest.mark.parametrize(
    ("penalty", "takes", "other", "told"),
    [
        ("L2Loss", "array", False, True),
        ("L2Loss", "product", False, False),
        ("L2Loss", "rounded", False, True),
        ("L2Loss", "with a gradient", False, False),  # tf.custom_gradient, of a Round
        ("MatMul", "array", False, False),  # what takes weights may be a layer
        ("L2Loss", "array", True, False),  # another loss trains them
    ],
)
def test_penalties_alone_have_a_gradient_where_results_go_through_numpy(
    tmp_path: Path, penalty: str, takes: str, other: bool, told: bool
) -> None:
    recorded = program(tmp_path)
    recorded.layer(1, 0, "hidden", "Dense")
    recorded.variable(1, layer=1, name="kernel")
    recorded.execution("VarHandleOp", [], {1: some(1)})
    for step in range(CALLS):
        at = 10 * step + 10
        recorded.execution("ReadVariableOp", [1], {at: some(0.1)})
        recorded.execution("MatMul", [at, at], {at + 1: some(0.1)}, layer=1, line=4)
        own = "_eager_mode_decorator" if takes == "with a gradient" else ""
        recorded.execution("Round", [at + 1], {at + 6: some(0.1)}, line=5, in_library=own)
        given = at + {"product": 1, "array": 9}.get(takes, 6)
        recorded.execution("Log", [given], {at + 2: some(0.1, 1)})
        recorded.execution(penalty, [at], {at + 3: some(0.1, 1)})
        recorded.execution("AddV2", [at + 2, at + 3], {at + 4: some(0.1, 1)}, extremes=True)
        recorded.execution("Mean", [at + 1], {at + 5: some(0.1, 1)}, extremes=True)
        recorded.execution("AssignSubVariableOp", [1, at], {})
    recorded.gradients([1], of_eager=at + 4)
    if other:
        recorded.gradients([1], of_eager=at + 5)
    found = diagnose(recorded.open()).suspects
    assert [one.rule for one in found] == ["no-gradient"] * told
    assert all("made of kernel by way of penalties alone" in one.evidence for one in found)
