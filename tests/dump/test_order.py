"""The records of a call stand in the order in which its tensors were computed from each other."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tensorflow.python.eager import context  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.cli.info import describe  # noqa: E402
from tfdbg_tui.diagnosis.alerts import find_alerts  # noqa: E402
from tfdbg_tui.diagnosis.events import TensorEvent, name_of  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis  # noqa: E402
from tfdbg_tui.dump.observe.observed import Observed, groups_of  # noqa: E402
from tfdbg_tui.dump.tensorflow import own  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

with contextlib.suppress(RuntimeError):  # The devices may be initialized already.
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )


def calls_branches_loops() -> Any:
    inner = tf.function(lambda p: tf.math.log(p))
    half = tf.function(lambda p: p / 2.0)

    @tf.function
    def outer(x: Any) -> Any:
        y = tf.nn.relu(x)
        z = inner(y) * 2.0
        z = tf.cond(tf.reduce_sum(y) > 0.0, lambda: z + 1.0, lambda: z - 1.0) * 3.0
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, half(a) + 2.0), [0, z])
        return z - 1.0

    return outer(tf.constant([[-1.0, 2.0], [3.0, 0.0]]))


def calls_without_ops_between() -> Any:
    """Nothing is recorded between the calls, so that no sink of `outer` stands between them."""
    log = tf.function(lambda p: tf.math.log(p))
    root = tf.function(lambda p: tf.sqrt(log(p)))
    return tf.function(lambda x: root(log(root(x))) + 1.0)(tf.constant([0.0, 2.0]))


def nested_loops() -> Any:
    @tf.function
    def outer(x: Any) -> Any:
        for _ in tf.range(2):
            y = x / 2.0
            for _ in tf.range(2):
                y = tf.math.log(y) if tf.reduce_sum(y) > 1.0 else y / 0.0
            x = x + y
        return tf.map_fn(lambda v: v * 2.0, x) + 1.0

    return outer(tf.constant([0.0, 3.0]))


def branches_in_loops_without_ops_between() -> Any:
    """An iteration ends before what its last loop records, and nothing stands behind its branch."""

    @tf.function
    def outer(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            y = tf.exp(x) if i % 2 == 0 else tf.math.log(x)
            for _ in tf.range(2):
                y = tf.linalg.matmul(y, y) if i > 0 else y * 2.0
            rows = rows.write(i, y)
        return rows.stack() - 1.0

    return outer(tf.zeros([50, 50]))


def backward_functions() -> Any:
    weights = tf.Variable([2.0, 1.0])
    norm = tf.function(lambda x: tf.sqrt(tf.reduce_sum(tf.square(x))))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = norm(weights - [2.0, 1.0]) * 3.0
        gradient = tape.gradient(loss, weights) * 2.0
        weights.assign_sub(gradient)
        return gradient + 1.0

    return step()


def backward_loop() -> Any:
    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                y = tf.sqrt(y)
        return tape.gradient(y, x) * 2.0

    return step(tf.constant([0.0, 1.0]))


def called_by_an_eager_tape() -> Any:
    root = tf.function(lambda x: tf.sqrt(x) * 2.0)
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(root(x))
    return tape.gradient(loss, x)


def two_devices() -> Any:
    devices = [device.name for device in tf.config.list_logical_devices("CPU")]

    @tf.function
    def back_and_forth(x: Any) -> Any:
        for device in (devices * 4)[:4]:
            with tf.device(device):
                x = tf.math.log(x)
        return x

    return back_and_forth(tf.constant([1.0, 2.0]))


def what_is_called_assigns() -> Any:
    """Sinks wait there for those before the call, which itself does not."""
    count, total = tf.Variable(0), tf.Variable(0.0)

    @tf.function
    def add(x: Any) -> Any:
        count.assign_add(1)
        y = tf.math.log(x)
        total.assign_add(y)
        return y * 2.0

    @tf.function
    def outer(x: Any) -> Any:
        y = add(tf.sqrt(x)) - 1.0
        z = add(tf.exp(add(y + 2.0)))
        z = tf.cond(y > 0.0, lambda: z * 2.0, lambda: add(z + 3.0) * 3.0) - 2.0
        for _ in tf.range(2):
            z = add(z * 2.0) + 1.0
            total.assign(tf.sqrt(z))
        return tf.exp(z) + total

    return outer(tf.constant(0.0))


def bad_constant() -> Any:
    return tf.function(lambda: tf.constant([1.0, float("nan")]))()


def runs_of_a_session() -> Any:
    """Runs share sinks; an op in a branch is older than the Switch that it takes."""
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        total = tf.reduce_sum(x)
        y = v1.cond(total > 0.0, lambda: tf.sqrt(x) * 2.0, lambda: x - 1.0) + 1.0
        _, z = v1.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.math.log(a)), [0, x])
        (gradient,) = v1.gradients(tf.reduce_sum(tf.square(z)), x)
        for fetched in (total, y, tf.square(x), [z, gradient], [total, gradient], y * 2.0):
            session.run(fetched, {x: [4.0, -0.5]})
    v1.enable_control_flow_v2()


def runs_that_share_sinks_after_an_update() -> Any:
    """What the last run alone looks at is before, and behind, what it shares with the update's."""
    v1 = tf.compat.v1
    resources = v1.resource_variables_enabled()
    v1.disable_resource_variables()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        w = v1.get_variable("w", initializer=[0.0, 2.0])
        y = tf.math.log(x * w)
        mean = tf.reduce_mean(y)
        train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        session.run(v1.global_variables_initializer())
        session.run(train, {x: [1.0, 2.0]})
        session.run(mean, {x: [1.0, 2.0]})
    if resources:
        v1.enable_resource_variables()


PROGRAMS = (
    bad_constant,
    calls_branches_loops,
    calls_without_ops_between,
    nested_loops,
    branches_in_loops_without_ops_between,
    backward_functions,
    backward_loop,
    what_is_called_assigns,
    called_by_an_eager_tape,
    two_devices,
    runs_of_a_session,
    runs_that_share_sinks_after_an_update,
)


WHOLE = ("*Log*", "*Sqrt*", "*mul*", "*Square*")
"""Some of the tensors of the programs: others stand before them, between them and after them."""


@pytest.mark.parametrize(
    ("mode", "whole"),
    [
        *(("ADAPTIVE", ()), ("NO_TENSOR", ()), ("FULL_HEALTH", ()), ("FULL_TENSOR", ())),
        *(("ADAPTIVE", WHOLE), ("FULL_HEALTH", WHOLE)),
    ],
)
def test_no_tensor_stands_before_what_it_was_computed_from(
    mode: str, whole: tuple[str, ...], tmp_path: Path
) -> None:
    for program in PROGRAMS:
        root = tmp_path / program.__name__
        tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
        tfdbg_tui.record_values(*whole)
        program()
        tfdbg_tui.disable_dump_debug_info()
        run = open_run(str(root))
        diagnosis = Diagnosis(run)
        for row in range(len(run.graph_executions)):
            event = TensorEvent("graph_execution", row, run.graph_executions.site(row).output_slot)
            for producer in diagnosis.dataflow.producers(event):
                source = producer.event
                if source is not None and source.kind == "graph_execution":
                    names = name_of(run, event), name_of(run, source)
                    assert source.index < row, (program.__name__, *names)
        if mode == "NO_TENSOR":
            continue
        first = find_alerts(run)[0]
        told = describe(run)["first_alert"]
        assert (told["kind"], told["index"]) == (first.kind, first.index)
        called_first = diagnosis.report().roots[0].event
        assert called_first == first, program.__name__


def test_what_is_read_of_a_variable_comes_after_what_was_assigned_on_another_device() -> None:
    """As of the copies of a variable of MirroredStrategy."""
    first, *_, last = (device.name for device in tf.config.list_logical_devices("CPU"))
    with tf.device(last):
        total, given = tf.Variable([0.0, 1.0]), tf.Variable([0.0, 2.0])

    @tf.function
    def add(x: Any) -> Any:
        with tf.device(first):
            y = tf.exp(x)
        with tf.device(last):
            total.assign_add(tf.math.log(given))
        with tf.device(first):
            return tf.raw_ops.ReadVariableOp(resource=total.handle, dtype=tf.float32, name="r") * y

    ops = add.get_concrete_function(tf.TensorSpec([2])).graph.get_operations()
    wanted = [op for op in ops if op.type in ("Exp", "Log") or op.name == "r"]
    rows: list[Any] = [SimpleNamespace(device=op.device) for op in wanted]
    items = [
        Observed(op.outputs[0], row, op.type, tuple(op.inputs))
        for op, row in zip(wanted, rows, strict=True)
    ]
    groups = [[item.op_type for item in group] for group in groups_of(items)]
    assert groups == [["Log"], ["Exp", "ReadVariableOp"]]


def test_what_a_dataset_computes_comes_before_its_elements(tmp_path: Path) -> None:
    """Its functions run in threads of TensorFlow, and their rows wait in the queue."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    logs = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.math.log(x))
    for element in logs.batch(2):
        tf.add(element, 1.0)
    tfdbg_tui.disable_dump_debug_info()
    (root,) = Diagnosis(open_run(str(tmp_path))).report().roots
    assert root.op_type == "Log"


def test_nothing_waits_for_branches_in_which_nothing_is_recorded(tmp_path: Path) -> None:
    """TensorFlow warns of a branch that something waits for, where it knows which one runs."""

    @tf.function
    def outer(x: Any, n: Any) -> Any:
        is_even = tf.cond(n > 3, lambda: tf.equal(n % 2, 0), lambda: tf.equal(n, 2), name="even")
        return tf.cond(is_even, lambda: tf.math.log(x), lambda: x, name="log") * 2.0

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    outer(tf.constant(0.0), tf.constant(4))
    names = context.context().list_function_names()
    (copy,) = (name for name in names if own.is_copy(name) and "outer" in name)
    nodes = context.context().get_function_def(copy).node_def
    tfdbg_tui.disable_dump_debug_info()
    awaited = {name for node in nodes for name in node.input if name in ("^even", "^log")}
    assert awaited == {"^log"}
    (even,) = (node for node in nodes if node.name == "even")
    assert not own.is_copy(even.attr["then_branch"].func.name)
