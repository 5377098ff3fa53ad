"""Whose gradient a tensor of a backward pass is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfdbg_tui
from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.gradients import forward_op
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.diagnosis.report.words import to_text
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("op_type", "op_name", "input_name", "forward"),
    [
        ("Pow", "gradient_tape/layer/Pow/Pow", "x:0", "Pow"),  # by its name
        ("SqrtGrad", "gradient_tape/SqrtGrad", "Sqrt:0", "Sqrt"),  # by what made its input
        ("Reciprocal", "gradient_tape/Reciprocal", "x:0", "Log"),  # by what took the same input
        ("Mul", "gradient_tape/mul", "Sqrt:0", None),
    ],
)
def test_the_forward_op_of_a_gradient(
    tmp_path: Path, op_type: str, op_name: str, input_name: str, forward: str
) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.op("f", "Abs", "x", "y:0")
    for used, name in (("Log", "Log"), ("Pow", "layer/Pow"), ("Sqrt", "Sqrt")):
        program.op("f", used, name, "x:0")
    program.op("f", "Mul", "mul", "x:0", "y:0")
    program.op("f", op_type, op_name, input_name)
    for name in ("x", "Sqrt"):
        program.trace("f", name, floats(0))
    program.trace("f", op_name, floats(np.inf))
    run = program.open()
    found = forward_op(Dataflow(run), TensorEvent("graph_execution", 2, 0))
    assert (found.op_type if found else None) == forward


def test_gradients_of_loops_that_call_each_other_in_a_circle_end(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    program.graph("g", "g", "f")
    for mine, other in (("f", "g"), ("g", "f")):
        name = "gradient_tape/while/while_grad"
        program.op(mine, "While", name, "x:0", calls=(other,))
    program.op("f", "SqrtGrad", "gradient_tape/a/SqrtGrad", "x:0")
    program.trace("f", "gradient_tape/a/SqrtGrad", floats(np.inf))
    assert diagnose(program.open()).verdict == "bad"


def test_the_forward_op_of_an_eager_gradient_took_the_same_tensor(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("Acos", [3], {4: floats(1.5)})
    program.execution("Acos", [7], {8: floats(0)})  # of a variable, whose reading has no record
    program.execution("Log", [9], {10: floats(0)})
    program.execution("Reciprocal", [7], {11: floats(np.inf)})
    program.execution("Reciprocal", [5], {12: floats(np.inf)})
    run = program.open()
    dataflow = Dataflow(run)
    assert forward_op(dataflow, TensorEvent("execution", 3, 0)).op_type == "Acos"
    assert forward_op(dataflow, TensorEvent("execution", 4, 0)) is None


@pytest.mark.tensorflow
def test_the_place_of_a_gradient_is_the_line_of_the_forward_pass(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    from tests.diagnosis.gradient_programs import PROGRAMS

    for program in PROGRAMS:
        for name, function in (("eager", program), ("graph", tf.function(program))):
            root = str(tmp_path / program.__name__ / name)
            tfdbg_tui.enable_dump_debug_info(root, "ADAPTIVE", -1)
            function()
            tfdbg_tui.disable_dump_debug_info()
            report = diagnose(open_run(root))
            (finding,) = report.roots
            assert "# FORWARD" in finding.location.code, (program.__name__, name)
            asked = finding.differentiated_at
            if "gradient" in finding.evidence:
                assert ".gradient(" in asked.code or ".jacobian(" in asked.code
                text = "".join(to_text(report).split())  # a long path is wrapped
                assert f"differentiatedat{asked.file}:{asked.line}" in text
                assert finding.to_json()["differentiated_at"]["line"] == asked.line


@pytest.mark.tensorflow
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("selected", [False, True])
def test_a_select_that_leaves_out_the_value_alone_is_told(
    tmp_path: Path, traced: bool, selected: bool
) -> None:
    tf = pytest.importorskip("tensorflow")

    def step() -> Any:
        x = tf.constant([0.0, 1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.math.log(x)
            loss = tf.reduce_sum(tf.where(x > 0.0, y, 0.0) if selected else y)
        return loss, tape.gradient(loss, x) * 0.5

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    (tf.function(step) if traced else step)()
    tfdbg_tui.disable_dump_debug_info()
    (finding,) = diagnose(open_run(str(tmp_path))).roots
    assert ("a select leaves out its value, but not its slope" in finding.evidence) is selected


@pytest.mark.tensorflow
def test_eager_gradients_of_two_lines_name_both(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    a, b = tf.constant([0.0, 1.0]), tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        left = tf.reduce_sum(tf.sqrt(a))
        right = tf.reduce_sum(tf.sqrt(b))
        loss = left + right
    tape.gradient(loss, [a, b])
    tfdbg_tui.disable_dump_debug_info()
    (finding,) = diagnose(open_run(str(tmp_path))).roots
    named = {finding.location.line, int(finding.evidence.rpartition(":")[2])}
    assert max(named) - min(named) == 1
    assert "the same in the gradient of test_gradients.py:" in finding.evidence


@pytest.mark.tensorflow
@pytest.mark.parametrize("in_function", [False, True])
def test_numbers_too_large_on_two_lines_name_both(tmp_path: Path, in_function: bool) -> None:
    tf = pytest.importorskip("tensorflow")

    def program(x: Any) -> Any:
        left = tf.pow(10.0, tf.exp(x))
        right = tf.pow(10.0, tf.exp(x))
        return left + right

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    (tf.function(program) if in_function else program)(tf.constant([9.0, 10.0]))
    tfdbg_tui.disable_dump_debug_info()
    (finding,) = diagnose(open_run(str(tmp_path))).roots
    named = finding.evidence.rpartition("; the same in test_gradients.py:")[2]
    assert int(named) == finding.location.line + 1


@pytest.mark.tensorflow
@pytest.mark.parametrize("is_alone", [False, True])
def test_a_gradient_on_record_before_its_op_is_the_bug_of_the_op(
    request: pytest.FixtureRequest, tmp_path: Path, is_alone: bool
) -> None:
    tf = pytest.importorskip("tensorflow")
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    request.addfinalizer(v1.enable_control_flow_v2)
    with tf.Graph().as_default(), v1.Session() as session:
        mask = v1.placeholder(tf.float32, [2])
        weight = v1.get_variable("weight", initializer=[1.0, 2.0])
        loop = tf.while_loop(lambda x: x[0] < 2.0, lambda x: [x + 1.0], [weight])[0]
        # The gradient of the sum needs no more than the mask: it does not wait for the loop.
        mean = tf.reduce_sum(loop * mask) / tf.reduce_sum(mask)
        gradient = tf.gradients(mean, weight)[0]
        fetched = [gradient, tf.math.log(mask)] if is_alone else [gradient, mean]
        tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
        session.run(weight.initializer)
        session.run(fetched, {mask: [0.0, 0.0]})
    tfdbg_tui.disable_dump_debug_info()
    roots = [root.op_name for root in diagnose(open_run(str(tmp_path))).roots]
    assert roots == (["gradients/truediv_grad/RealDiv", "Log"] if is_alone else ["truediv"])


@pytest.mark.parametrize(("is_square", "roots"), [(True, ["Square"]), (False, ["Mul", "RealDiv"])])
def test_a_quotient_that_leads_to_an_overflow_overflows_in_its_gradient(
    tmp_path: Path, is_square: bool, roots: list[str]
) -> None:
    tf = pytest.importorskip("tensorflow")
    x, divisor, large = tf.Variable([10.0, 20.0]), tf.Variable(1e-20), tf.Variable(1e30)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.GradientTape() as tape:
        quotient = x / divisor
        loss = tf.square(quotient) if is_square else large * large + quotient
    divisor.assign_sub(tape.gradient(loss, divisor) * tf.reduce_mean(loss))
    tfdbg_tui.disable_dump_debug_info()
    assert sorted(root.op_type for root in diagnose(open_run(str(tmp_path))).roots) == roots


@pytest.mark.parametrize("scale_op", ["", "Const", "Placeholder", "ReadVariableOp"])
@pytest.mark.parametrize(("scale", "rule"), [(4096, "loss-scale-overflow"), (4, "cast-overflow")])
def test_a_gradient_overflows_as_its_loss_is_multiplied(
    tmp_path: Path, scale: int, rule: str, scale_op: str
) -> None:
    """Eagerly, where no op gives the scale.  Another one that overflows later is the same bug."""
    half = np.array([1.0], np.float16)
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.function("f", "f", "x")
    recorded.op("f", "Placeholder", "x")
    recorded.op("f", scale_op or "Const", "scale")
    recorded.op("f", "Mul", "scaled", "x:0", "scale:0")
    recorded.op("f", "Mul", "gradient_tape/Mul", "x:0", "x:0", dtype="float32")
    recorded.op("f", "Cast", "gradient_tape/Cast", "gradient_tape/Mul:0", dtype="float16")
    recorded.op("f", "MatMul", "gradient_tape/MatMul", "gradient_tape/Cast:0", dtype="float16")
    for name in ("Cast", "MatMul"):
        recorded.op("f", "AssignSubVariableOp", name, "w:0", f"gradient_tape/{name}:0", outputs=0)
    if not scale_op:
        recorded.execution("Square", [1], {2: half}, extremes=True)
        recorded.execution("Mul", [2, 3], {4: half * scale}, extremes=True)
        recorded.gradients([9], of_eager=4)
    else:  # the product itself is not computed
        recorded.trace("f", "scale", half * scale, serial=1, extremes=True)
        recorded.gradients([9], of=("f", "scaled:0"))
    large, bad = np.array([1e5], np.float32), np.array([np.inf], np.float16)
    recorded.trace("f", "gradient_tape/Mul", large, serial=1, extremes=True)
    recorded.trace("f", "gradient_tape/Cast", bad, serial=1)
    recorded.execution("f", [5], {6: half}, "f", serial=1)
    recorded.trace("f", "gradient_tape/Cast", half, serial=2)
    recorded.trace("f", "gradient_tape/MatMul", bad, serial=2)
    recorded.execution("f", [5], {7: half}, "f", serial=2)
    (root,) = diagnose(recorded.open()).roots
    assert root.rule == rule
    assert ("the loss is multiplied by 4,096" in root.evidence) == (scale > 4)
