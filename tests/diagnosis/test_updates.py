"""What goes wrong in the step of an optimizer is told with the layer that the step is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.diagnosis.report.words import to_text

if TYPE_CHECKING:
    from pathlib import Path

LARGE, BAD = (np.array([value], np.float32) for value in (1e30, np.inf))
HIDDEN, OUT, SLOT, OTHER_SLOT, UNKNOWN = range(1, 6)


def program(tmp_path: Path) -> Program:
    """Returns one with two layers, of whose variables an optimizer keeps something."""
    recorded = Program(tmp_path)
    for handle, name, slot in ((HIDDEN, "hidden", SLOT), (OUT, "out", OTHER_SLOT)):
        recorded.layer(handle, 0, name, "Dense")
        recorded.variable(handle, layer=handle)
        recorded.variable(slot, trainable=False, slot_of=handle)
    return recorded


def program_with_training_function(tmp_path: Path) -> Program:
    """Returns one whose function "f" reads the variables of both layers, and steps them."""
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v1", "v2", captured=(HIDDEN, OUT))
    for handle in (HIDDEN, OUT):
        recorded.op("f", "Placeholder", f"v{handle}")
        read, assign = f"read{handle}", f"assign{handle}"
        recorded.op("f", "ReadVariableOp", read, f"v{handle}:0", dtype="float32", line=5)
        recorded.op("f", "AssignSubVariableOp", assign, f"v{handle}:0", "x:0", outputs=0, line=9)
    return recorded


def layer_told(recorded: Program) -> str | None:
    (root,) = diagnose(recorded.open()).roots
    assert root.op_type == "Square"
    return root.layer.name if root.layer else None


CASES = [([SLOT], "hidden"), ([SLOT, OTHER_SLOT], None), ([SLOT, UNKNOWN], None), ([], None)]


@pytest.mark.parametrize(("assigned", "expected"), CASES)
def test_the_layer_of_a_step_in_a_graph(
    tmp_path: Path, assigned: list[int], expected: str | None
) -> None:
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", *(f"v{handle}" for handle in assigned), captured=(*assigned,))
    recorded.op("f", "Placeholder", "x")
    recorded.op("f", "Square", "adam/Square", "x:0")
    recorded.op("f", "Mul", "adam/Mul", "adam/Square:0", "x:0")
    for handle in assigned:
        recorded.op("f", "Placeholder", f"v{handle}")
        inputs = f"v{handle}:0", "adam/Mul:0"
        recorded.op("f", "AssignAddVariableOp", f"assign{handle}", *inputs, outputs=0)
    recorded.trace("f", "x", LARGE)
    recorded.trace("f", "adam/Square", BAD)
    recorded.trace("f", "adam/Mul", BAD)
    recorded.execution("f", [], {9: LARGE}, "f")
    assert layer_told(recorded) == expected


@pytest.mark.parametrize(("assigned", "expected"), CASES)
def test_the_layer_of_an_eager_step(
    tmp_path: Path, assigned: list[int], expected: str | None
) -> None:
    recorded = program(tmp_path)
    recorded.execution("Identity", [], {10: LARGE})
    recorded.execution("Square", [10], {11: BAD})
    recorded.execution("Mul", [11, 10], {12: BAD})
    for handle in assigned:
        recorded.execution("AssignAddVariableOp", [handle, 12], {})
    assert layer_told(recorded) == expected


def test_a_loss_is_of_no_layer(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x", "v", captured=(HIDDEN,))
    recorded.op("f", "Placeholder", "x")
    recorded.op("f", "Placeholder", "v")
    recorded.op("f", "Square", "Square", "x:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "Square:0", "x:0")
    inputs = "v:0", "gradient_tape/Mul:0"
    recorded.op("f", "AssignSubVariableOp", "assign", *inputs, outputs=0)
    recorded.trace("f", "x", LARGE)
    recorded.trace("f", "Square", BAD)
    recorded.trace("f", "gradient_tape/Mul", BAD)
    recorded.execution("f", [], {9: LARGE}, "f")
    assert layer_told(recorded) is None


def test_what_an_optimizer_keeps_is_told_with_its_layer_and_since_when(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v", captured=(SLOT,))
    recorded.op("f", "Placeholder", "v")
    recorded.op("f", "ReadVariableOp", "Read", "v:0")
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignAddVariableOp", "assign", "v:0", "gradient_tape/MatMul:0", outputs=0)
    for step in range(12):
        kept, small = (np.array([n], np.float32) for n in (1e20 if step > 2 else 1.0, 1.0))
        recorded.trace("f", "Read", kept, serial=step + 1, extremes=True)
        recorded.trace("f", "gradient_tape/MatMul", small, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: small}, "f", serial=step + 1)
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.rule, suspect.layer.name if suspect.layer else "") == (
        "optimizer-slot-exploded",
        "hidden",
    )
    assert suspect.step == 3
    assert "of up to 1e+20 (1 in step 2, 1e+20 in step 3), whose root is 1e+10" in suspect.evidence


@pytest.mark.parametrize(
    ("kept", "losses", "told"),
    [
        ([1.0, 1.0, 1e12], [2.0, 2.1, 1e15, 2.0, 2.1, 1.9, 2.2], 2),
        ([1e12], [1e15, 2.0, 2.1, 1.9, 2.2], 0),  # an outlier in the first batch
        ([1.0, 1.0, 1e12], [2.0, 2.1, 1e15, 2.0, 1.6, 1.2, 0.8, 0.7, 0.6], None),  # it learns
        ([1e12], [1e15, 3e13, 2e11, 1e7, 400.0, 20.0, 2.0], None),  # gradients were that large
        ([1.0, 1.0, 1e12, 1.0], [2.0, 2.1, 1e15, 2.0, 2.1, 1.9, 2.2], None),  # it has recovered
        ([1.0, 1.0, 1e7], [2.0, 2.1, 1e15, 2.0, 2.1, 1.9, 2.2], None),
    ],
)
def test_what_an_optimizer_keeps_of_one_batch_may_stop_a_training(
    tmp_path: Path, kept: list[float], losses: list[float], told: int | None
) -> None:
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v", captured=(SLOT,))
    recorded.op("f", "Placeholder", "v")
    recorded.op("f", "ReadVariableOp", "Read", "v:0")
    recorded.op("f", "Mean", "loss", "x:0")
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "x:0", "y:0")
    recorded.op("f", "AssignAddVariableOp", "assign", "v:0", "gradient_tape/MatMul:0", outputs=0)
    recorded.gradients([HIDDEN], of=("f", "loss:0"))
    for step in range(14):
        numbers = {
            "Read": kept[min(step, len(kept) - 1)],
            "loss": losses[min(step, len(losses) - 1)],
            "gradient_tape/MatMul": 1.0,
        }
        for name, number in numbers.items():
            value = np.array([number], np.float32)
            recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 50: value}, "f", serial=step + 1)
    found = {one.rule: one.step for one in diagnose(recorded.open()).suspects}
    assert found.get("optimizer-slot-exploded") == told


def test_all_that_an_optimizer_keeps_too_much_of_is_told(tmp_path: Path) -> None:
    """Eagerly, one line reads it all, and only some of that is too large."""
    recorded = program(tmp_path)
    recorded.layer(UNKNOWN, 0, "small", "Dense")
    recorded.variable(6, layer=UNKNOWN)
    recorded.variable(7, trainable=False, slot_of=6)
    recorded.graph("f", "f")
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "x:0", "y:0")
    for step in range(12):
        for place, (slot, kept) in enumerate(((SLOT, 1e20), (OTHER_SLOT, 1e18), (7, 1.0))):
            tensor = 100 + 10 * step + 2 * place
            one = np.ones(1, np.float32)
            value = np.float32(kept if step > 1 else 1.0) * one
            recorded.execution("ReadVariableOp", [slot], {tensor: value}, extremes=True)
        recorded.trace("f", "gradient_tape/MatMul", one, serial=step + 1, extremes=True)
        recorded.execution("f", [], {tensor + 1: one}, "f", serial=step + 1)
        recorded.execution("AssignSubVariableOp", [HIDDEN], {})
    (suspect,) = diagnose(recorded.open()).suspects
    assert suspect.rule == "optimizer-slot-exploded"
    assert suspect.layer.name == "hidden"
    assert [layer.name for layer in suspect.other_layers] == ["out"]


def test_a_root_of_no_layer_names_the_variable_that_it_takes(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.variable(1, name="wide")
    recorded.execution("ReadVariableOp", [1], {20: LARGE})
    recorded.execution("Cast", [20], {21: LARGE})
    recorded.execution("MatMul", [21, 21], {22: BAD})
    (root,) = diagnose(recorded.open()).roots
    assert root.variables == ("wide",)


def test_a_root_in_a_step_names_the_variables_that_it_is_for(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    for step in (50, 51, 52):
        recorded.execution("f", [], {step: LARGE}, "f")
    for handle, name in ((1, "wide"), (2, "scale"), (3, "healthy")):
        recorded.variable(handle, name=name)
        recorded.variable(10 + handle, trainable=False, slot_of=handle)
        recorded.execution("Identity", [], {30 + handle: LARGE})
        squared = LARGE if name == "healthy" else BAD
        recorded.execution("Square", [30 + handle], {40 + handle: squared}, line=3)
        recorded.execution("AssignAddVariableOp", [10 + handle, 40 + handle], {})
    report = diagnose(recorded.open())
    (root,) = report.roots
    assert root.variables == ("wide", "scale")
    assert "variable   wide, scale" in to_text(report)


def test_what_a_program_keeps_without_a_name_is_told_by_the_variable_that_it_changes(
    tmp_path: Path,
) -> None:
    recorded = Program(tmp_path)
    recorded.variable(1, name="proj")
    recorded.execution("Identity", [], {20: LARGE})
    recorded.execution("AddV2", [20], {21: BAD})
    recorded.execution("AssignVariableOp", [UNKNOWN, 21], {})
    recorded.execution("ReadVariableOp", [UNKNOWN], {22: BAD})
    recorded.execution("Sqrt", [22], {23: BAD})
    recorded.execution("AssignSubVariableOp", [1, 23], {})
    (root,) = diagnose(recorded.open()).roots
    assert root.variables == ("proj",)


@pytest.mark.parametrize(
    ("hidden", "out", "told"),
    [
        ([1e-4, *[1e-12] * 11], (0.0, 1e-12), False),  # what it learned is not on record
        ([1e-12] * 12, (0.0, 1e-12), True),  # what began with 0 has changed
        ([1e-12] * 12, (0.0, 1e-4), True),  # only what began with 0 learns
        ([1e-7] * 12, (0.0, 1e-12), False),
        ([*[1e-12] * 11, 1e-4], (0.0, 1e-12), False),  # the rate has risen
        ([1e-12] * 12, (0.5, 1e-4), False),
        ([0.0] * 12, (0.5, 0.0), False),  # a rate of 0 is meant
    ],
)
def test_steps_that_are_too_short_to_change_a_variable(
    tmp_path: Path, hidden: list[float], out: tuple[float, float], told: bool
) -> None:
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v1", "v2", captured=(HIDDEN, OUT))
    for handle in (HIDDEN, OUT):
        recorded.op("f", "Placeholder", f"v{handle}")
        recorded.op("f", "ReadVariableOp", f"read{handle}", f"v{handle}:0", dtype="float32")
        recorded.op("f", "Mul", f"mul{handle}", "x:0", "y:0", dtype="float32")
        inputs = f"v{handle}:0", f"mul{handle}:0"
        recorded.op("f", "AssignSubVariableOp", f"assign{handle}", *inputs, outputs=0)
    for step, added in enumerate(hidden):
        values = {"read1": 0.4, "mul1": added, "read2": out[0] + step * out[1], "mul2": out[1]}
        for name, value in values.items():
            array = np.array([value], np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["updates-too-small"] * told
    for finding in suspects:
        assert finding.layer is not None
        assert finding.layer.name == "hidden"
        assert "at most 1e-12, which is 2e-12 of its largest number, in all 12" in finding.evidence
        assert ("A bias moves" in finding.why) is (out[1] > 1e-6)


def program_of_updates(tmp_path: Path) -> Program:
    """Return a program in which a product is taken from a variable, of which a loss is made."""
    recorded = program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "v", captured=(HIDDEN,))
    recorded.op("f", "Placeholder", "v")
    recorded.op("f", "ReadVariableOp", "read", "v:0", dtype="float32")
    recorded.op("f", "Mul", "mul", "x:0", "y:0", dtype="float32")
    recorded.op("f", "Mean", "loss", "read:0", dtype="float32")
    recorded.op("f", "AssignSubVariableOp", "assign", "v:0", "mul:0", outputs=0)
    recorded.gradients([HIDDEN], of=("f", "loss:0"))
    return recorded


@pytest.mark.parametrize(
    ("added", "losses", "told"),
    [
        ([1e-4, *[1e-12] * 11], [0.7] * 12, True),
        ([1e-4, 1e-12, *[0.0] * 10], [0.7] * 12, True),  # it goes on to nothing
        ([1e-4, *[0.0] * 11], [0.7] * 12, False),  # a rate of 0 is meant
        ([*[1e-4] * 3, *[0.0] * 11], [0.7] * 14, False),  # as well
        ([1e-4, 9e-5, 3e-5, *[0.0] * 11], [0.7] * 14, True),  # by a schedule
        ([1e-4, *[1e-12] * 11], [0.7, *[1e-9] * 11], False),  # all is learned
        ([*[1e-4] * 6, *[1e-12] * 6], [0.7] * 12, False),  # annealed
    ],
)
def test_a_schedule_that_ends_too_early(
    tmp_path: Path, added: list[float], losses: list[float], told: bool
) -> None:
    recorded = program_of_updates(tmp_path)
    for step, (step_added, loss) in enumerate(zip(added, losses, strict=True)):
        for name, value in {"read": 0.4, "mul": step_added, "loss": loss}.items():
            array = np.array([value], np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["updates-too-small"] * told
    assert all("in the last 11 steps measured" in finding.evidence for finding in suspects)
    last = len(added) - 1
    when = f"steps {last - 10} to {last} of 0 to {last} (counted)"
    assert all(finding.when == when for finding in suspects)
    is_nothing = not any(added[-11:])
    assert all(("others is 0 in" in one.evidence) is is_nothing for one in suspects)
    assert all(("counts batches" in one.fix) is is_nothing for one in suspects)


@pytest.mark.parametrize(
    ("added", "last", "told"),
    [
        (1e-7, 0.7, True),
        (1e-7, 0.6, False),  # slow, but it learns
        (1e-6, 0.7, False),
    ],
)
def test_steps_that_are_next_to_nothing_from_the_first_on(
    tmp_path: Path, added: float, last: float, told: bool
) -> None:
    recorded = program_of_updates(tmp_path)
    for step, loss in enumerate(np.linspace(0.7, last, 12)):
        for name, value in {"read": 0.4, "mul": added, "loss": loss}.items():
            array = np.array([value], np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["updates-too-small"] * told
    assert all("e-07 of its largest number" in finding.evidence for finding in suspects)


@pytest.mark.parametrize(("last_step", "told"), [(400, True), (30, False)])
def test_a_schedule_is_too_short_by_steps_and_not_by_what_is_measured_of_them(
    tmp_path: Path, last_step: int, told: bool
) -> None:
    recorded = program_of_updates(tmp_path)
    for number, step in enumerate((0, 1, 2, 4, 7, 12, 21, 25, 28, last_step)):
        added = 1e-4 / (step + 1) if step < 12 else 0.0
        for name, value in {"read": 0.4, "mul": added, "loss": 0.7}.items():
            array = np.array([value], np.float32)
            recorded.trace("f", name, array, serial=number + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=number + 1, step=step)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["updates-too-small"] * told


@pytest.mark.parametrize(
    ("op_type", "rate", "gradient", "told"),
    [
        ("ResourceApplyGradientDescent", 1e-11, 0.1, True),
        ("ResourceApplyGradientDescent", 1e-6, 0.1, False),
        ("ResourceApplyGradientDescent", 1e-7, 1e-5, True),
        ("ResourceApplyGradientDescent", 1e-7, 0.0, False),  # nothing comes back: of another kind
        ("ResourceApplyAdam", 1e-12, 1e-5, True),
        ("ResourceApplyAdam", 1e-7, 1e-5, False),  # as it divides by the size of the gradient
        ("ResourceApplyCenteredRMSProp", 1e-12, 1e-5, False),  # not known
    ],
)
@pytest.mark.parametrize("is_v1", [True, False])
def test_steps_of_optimizers_that_are_too_short_to_change_a_variable(
    tmp_path: Path, op_type: str, rate: float, gradient: float, is_v1: bool, told: bool
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "" if is_v1 else "f")
    if is_v1:
        recorded.op("f", "VariableV2", "v")
        recorded.op("f", "Identity", "read", "v:0", dtype="float32")
    else:
        recorded.variable(HIDDEN)
        recorded.function("f", "f", "v", captured=(HIDDEN,))
        recorded.op("f", "Placeholder", "v")
        recorded.op("f", "ReadVariableOp", "read", "v:0", dtype="float32")
    recorded.op("f", "Const", "rate", dtype="float32")
    recorded.op("f", "Mul", "gradients/Mul", "x:0", "y:0", dtype="float32")
    recorded.op("f", "Identity", "gradients/handed_on", "gradients/Mul:0", dtype="float32")
    between = ["v:0"] * (4 if "Adam" in op_type else 0), ["v:0"] * (3 if "Adam" in op_type else 0)
    inputs = "v:0", *between[0], "rate:0", *between[1], "gradients/handed_on:0"
    op_type = op_type.removeprefix("Resource") if is_v1 else op_type
    recorded.op("f", op_type, "apply", *inputs, outputs=0)
    for step in range(12):
        values = {"read": 0.4, "rate": rate, "gradients/Mul": gradient}
        for name, value in values.items():
            array = np.array([value], np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["updates-too-small"] * told


THROWN = [0.5, 3.5, 6.0, 9.0, 12.0, 15.0, 18.0, 20.0, 21.0, 22.0, 23.0, 24.0]
SLOW = [0.5 + 0.2 * step for step in range(12)]


@pytest.mark.parametrize(
    ("hidden", "out", "size", "apart", "told"),
    [
        (THROWN, THROWN, 64, 1, True),
        (THROWN, SLOW, 64, 1, False),  # one layer alone may begin with next to nothing
        (THROWN, [0.0, *THROWN[1:]], 64, 1, False),  # what begins with 0 may go anywhere
        (SLOW, SLOW, 64, 1, False),
        ([0.05, *[0.8] * 11], [0.05, *[0.8] * 11], 64, 1, False),  # no large numbers
        ([*THROWN[:11], 0.5], [*THROWN[:11], 0.5], 64, 1, False),  # which came back
        (THROWN, THROWN, 8, 1, False),
        (THROWN, THROWN, 64, 9, False),  # in nine steps a training may get anywhere near
        ([0.5, *[50.0] * 11], [0.5, *[50.0] * 11], 64, 9, True),  # but not that far
    ],
)
def test_steps_that_are_longer_than_the_weights_are_large(
    tmp_path: Path, hidden: list[float], out: list[float], size: int, apart: int, told: bool
) -> None:
    recorded = program_with_training_function(tmp_path)
    for number, values in enumerate(zip(hidden, out, strict=True)):
        for name, value in zip(("read1", "read2"), values, strict=True):
            array = np.full(size, value, np.float32)
            recorded.trace("f", name, array, serial=number + 1, extremes=True)
        step = number * apart
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=number + 1, step=step)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["steps-too-long"] * told
    for finding in suspects:
        assert (finding.step, [layer.name for layer in finding.other_layers]) == (apart, ["out"])
        assert finding.location is not None
        assert finding.location.line == 9  # of the step, not of what reads the variable
        assert f"grew from 0.5 in step 0 to {hidden[1]:.3g} in step {apart}" in finding.evidence


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        ([0.7] * 12, True),
        ([0.7 - 0.02 * step for step in range(12)], False),  # as of small embeddings
    ],
)
def test_long_steps_by_which_all_losses_become_smaller_may_be_meant(
    tmp_path: Path, losses: list[float], told: bool
) -> None:
    recorded = program_with_training_function(tmp_path)
    recorded.op("f", "Mean", "loss", "read1:0", dtype="float32")
    recorded.gradients([HIDDEN, OUT], of=("f", "loss:0"))
    for step, (value, loss) in enumerate(zip(THROWN, losses, strict=True)):
        for name, number, size in (("read1", value, 64), ("read2", value, 64), ("loss", loss, 1)):
            array = np.full(size, number, np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1, step=step)
    suspects = diagnose(recorded.open()).suspects
    assert [finding.rule for finding in suspects] == ["steps-too-long"] * told


@pytest.mark.parametrize(
    ("at", "thrown_to", "loss", "told"),
    [
        (5, 2e3, 5e4, True),
        (5, 2e3, 5.0, False),  # larger weights may be meant, where the loss was never large
        (5, 9.0, 5e4, False),  # an outlier that has done no harm
        (1, 2e3, 5e4, True),  # no outlier: so it was from the beginning
    ],
)
def test_a_single_batch_that_throws_weights_up(
    tmp_path: Path, at: int, thrown_to: float, loss: float, told: bool
) -> None:
    """The loss falls before, and to where it was: the model gives the mean of what it learned."""
    recorded = program_with_training_function(tmp_path)
    recorded.op("f", "Mean", "loss", "read1:0", dtype="float32")
    recorded.gradients([HIDDEN, OUT], of=("f", "loss:0"))
    for step in range(12):
        weights = np.full(64, 0.5 if step <= at else thrown_to, np.float32)
        values = {"read1": weights, "read2": weights}
        values["loss"] = np.full(1, loss if step == at else 1.0 - 0.05 * step, np.float32)
        for name, array in values.items():
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1, step=step)
    suspects = diagnose(recorded.open()).suspects
    expected = "steps-too-long", at if at == 5 else at + 1
    assert [(one.rule, one.step) for one in suspects] == [expected] * told
    assert all(f"5e+04 in step {at}" in one.evidence for one in suspects)
    assert all(("data of that step" in one.fix) is (at == 5) for one in suspects)


@pytest.mark.parametrize("since", [0, 2])
def test_a_layer_that_dies_of_steps_that_are_too_long_is_told_with_these(
    tmp_path: Path, since: int
) -> None:
    """One that was never on has another cause."""
    recorded = program_with_training_function(tmp_path)
    recorded.op("f", "Relu", "Relu", "read1:0", dtype="float32")
    for step in range(24):
        thrown = np.full(64, THROWN[min(step, 11)], np.float32)
        values = {"read1": thrown, "read2": thrown, "Relu": thrown * (step < since)}
        for name, array in values.items():
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1, step=step)
    suspects = diagnose(recorded.open()).suspects
    told = {finding.rule: finding.evidence for finding in suspects}
    assert list(told) == ["dead-relu"] * (since == 0) + ["steps-too-long"]
    dies = "; then all outputs are 0 in Relu:0 from step 2 on" in told["steps-too-long"]
    assert dies is (since > 0)


def test_layers_that_die_after_one_that_has_died_are_told_with_it(tmp_path: Path) -> None:
    recorded = program_with_training_function(tmp_path)
    recorded.op("f", "Relu", "first", "read1:0", dtype="float32", layer=1)
    recorded.op("f", "Relu", "second", "read2:0", dtype="float32", layer=2)
    for step in range(40):
        for name, since in (("first", 2), ("second", 4)):
            array = np.full(64, step < since, np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1, step=step)
    (found,) = diagnose(recorded.open()).suspects
    assert (found.rule, found.step) == ("dead-relu", 2)
    assert found.layer is not None
    assert (found.layer.name, [layer.name for layer in found.other_layers]) == ("hidden", ["out"])
    assert found.evidence.endswith("; then all outputs are 0 in out from step 4 on")


def test_steps_of_eager_code_that_are_longer_than_the_weights_are_large(tmp_path: Path) -> None:
    recorded = program(tmp_path)
    for step, value in enumerate(THROWN):
        for handle in (HIDDEN, OUT):  # one line reads both
            read = {100 + 10 * step + handle: np.full(64, value, np.float32)}
            recorded.execution("ReadVariableOp", [handle], read, extremes=True, step=step)
            recorded.execution("AssignSubVariableOp", [handle, 9], {}, step=step)
    (suspect,) = diagnose(recorded.open()).suspects
    assert (suspect.rule, suspect.step) == ("steps-too-long", 1)
    assert suspect.layer is not None
    assert suspect.layer.name == "hidden"


def test_a_loop_may_take_many_steps_at_once(tmp_path: Path) -> None:
    recorded = program_with_training_function(tmp_path)
    for step, value in enumerate(THROWN):
        for name in ("read1", "read2"):
            array = np.full(64, value, np.float32)
            recorded.trace("f", name, array, serial=step + 1, extremes=True, iteration=0)
        recorded.execution("f", [], {step + 10: LARGE}, "f", serial=step + 1, step=step)
    assert not diagnose(recorded.open()).suspects


@pytest.mark.parametrize(
    ("shares", "rates", "told"),
    [
        ([1e-7, 2e-7, 5e-7, 1e-3], 1, ["vanishing-gradient"]),
        ([1e-7, 2e-7, 5e-7, 1e-3], 2, []),  # a base that is hardly to be changed
        ([1e-7, 2e-7, 1e-3, 1e-3], 1, []),  # few of them
        ([0.0, 0.0, 0.0, 1e-3], 1, []),  # left out
        ([2e-6, 2e-6, 5e-6, 1e-3], 1, []),
        ([1e-7, 2e-7, 5e-7, 2e-5], 1, []),  # a rate as of fine-tuning
        ([1e-7, 2e-7, (5e-7, 1e-5), 1e-3], 1, []),  # one begins to learn
    ],
)
def test_layers_that_hardly_change_beside_others_that_do(
    tmp_path: Path, shares: list[float | tuple[float, float]], rates: int, told: list[str]
) -> None:
    recorded = Program(tmp_path)
    names = [f"v{number}" for number in range(1, len(shares) + 1)]
    handles = tuple(range(1, len(shares) + 1))
    recorded.graph("f", "f")
    recorded.function("f", "f", *names, "r8", "r9", captured=(*handles, 8, 9))
    for rate in (8, 9)[:rates]:
        recorded.execution("VarHandleOp", [], {rate: LARGE}, line=rate)
        recorded.op("f", "Placeholder", f"r{rate}")
        reading = "ReadVariableOp", f"rate{rate}", f"r{rate}:0"
        recorded.op("f", *reading, line=2, in_library="update_step")
    for handle, name in zip(handles, names, strict=True):
        recorded.layer(handle, 0, f"layer{handle}", "Dense")
        recorded.variable(handle, layer=handle, name=f"kernel{handle}")
        recorded.op("f", "Placeholder", name)
        recorded.op("f", "ReadVariableOp", f"read{handle}", f"{name}:0", dtype="float32")
        recorded.op("f", "MatMul", f"MatMul{handle}", "x:0", f"read{handle}:0", layer=handle)
        recorded.op("f", "MatMul", f"gradient_tape/MatMul{handle}/MatMul", "x:0", "y:0")
        recorded.op("f", "Mul", f"update{handle}", "x:0", "y:0", dtype="float32")
        change = f"assign{handle}", f"{name}:0", f"update{handle}:0"
        recorded.op("f", "AssignSubVariableOp", *change, outputs=0)
    for step in range(12):
        for rate in (8, 9)[:rates]:
            value = np.array([0.1], np.float32)
            recorded.trace("f", f"rate{rate}", value, serial=step + 1, extremes=True)
        for handle, share in zip(handles, shares, strict=True):
            now = share[step > 8] if isinstance(share, tuple) else share
            values = {f"read{handle}": 1.0, f"update{handle}": now}
            values[f"gradient_tape/MatMul{handle}/MatMul"] = 1e-4 if now else 0.0
            for name, number in values.items():
                value = np.full(64, number, np.float32)
                recorded.trace("f", name, value, serial=step + 1, extremes=True)
        recorded.execution("f", [], {step + 100: LARGE}, "f", serial=step + 1)
    found = [one for one in diagnose(recorded.open()).suspects if one.rule == "vanishing-gradient"]
    assert [one.rule for one in found] == told
    for one in found:
        assert (one.step, one.layer and one.layer.path) == (0, "layer3")
        assert [layer.path for layer in one.other_layers] == ["layer2", "layer1"]
        assert "is at most 5e-07 of the largest number of each, in all 12 steps" in one.evidence
