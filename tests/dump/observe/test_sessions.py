"""TensorFlow 1 sessions under the writer: they run as without it, and what they hand out counts."""

from __future__ import annotations

import collections
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tensorflow.core.protobuf.config_pb2 import CallableOptions  # noqa: E402

import tfdbg_tui  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow  # noqa: E402
from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.dump.errors import BadTensorError  # noqa: E402
from tfdbg_tui.dump.observe import instrument  # noqa: E402
from tfdbg_tui.dump.tensorflow import graph_state  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tfdbg_tui.diagnosis.report.findings import Report
    from tfdbg_tui.logdir import Run

v1 = tf.compat.v1


@pytest.fixture(params=[False, True], ids=["references", "resources"], name="resources")
def _resources(request: Any) -> Iterator[bool]:
    enabled = v1.resource_variables_enabled()
    set_resources(request.param)
    yield request.param
    set_resources(enabled)


@pytest.fixture(name="references")
def _references() -> Iterator[None]:
    enabled = v1.resource_variables_enabled()
    set_resources(False)
    yield
    set_resources(enabled)


def set_resources(enable: bool) -> None:
    (v1.enable_resource_variables if enable else v1.disable_resource_variables)()


@pytest.fixture(name="dump")
def _dump(tmp_path: Path) -> Iterator[Path]:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.Graph().as_default():
        yield tmp_path
    tfdbg_tui.disable_dump_debug_info()


def ended(root: Path) -> Run:
    tfdbg_tui.disable_dump_debug_info()
    return open_run(str(root))


def diagnosed(root: Path) -> Report:
    return diagnose(ended(root))


@pytest.mark.parametrize("size", [10, 5000])
def test_variables_are_initialised_and_trained(dump: Path, resources: bool, size: int) -> None:
    w = v1.get_variable("w", initializer=tf.random.stateless_uniform([size], [1, 2], 1.0, 2.0))
    unset = v1.get_variable("unset", initializer=tf.zeros([size]))
    step = v1.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.math.log(w))
    with tf.control_dependencies([loss]):  # Else TensorFlow itself may update w before it is read.
        train = v1.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    with v1.Session() as session:
        assert not session.run(v1.is_variable_initialized(w))
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            session.run(unset + 1.0)
        assert "tfdbg" not in str(caught.value)
        session.run(v1.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(3)]
        assert losses[0] > losses[1] > losses[2]
    run = ended(dump)
    names = [run.executions[index].op_type for index in range(len(run.executions))]
    assert names[-1] == "Session.run(Sum, Adam)"
    steps = [run.executions[index].step for index in range(len(run.executions))]
    assert steps[-3:] == [0, 1, 2]
    assert not run.omissions


def test_a_variable_is_seen_before_it_is_overwritten(dump: Path, references: None) -> None:
    w = v1.get_variable("w", initializer=[0.0, 2.0])
    quotient = 1.0 / w
    with tf.control_dependencies([quotient]):
        changed = v1.assign_add(w, [1.0, 1.0])
    with tf.control_dependencies([changed]):
        doubled = w.read_value() * 2.0
    with v1.Session() as session:
        session.run(w.initializer)
        assert session.run([quotient, doubled])[1].tolist() == [2.0, 6.0]
    (finding,) = diagnosed(dump).roots
    assert (finding.title, finding.certainty) == ("Division by zero", "proved")


def test_fetches_and_feeds_of_any_kind(dump: Path) -> None:
    pair = collections.namedtuple("pair", "first second")
    x = v1.placeholder(tf.float32, [None])
    log = tf.math.log(x)
    length = tf.constant(3)
    ones = tf.ones([length]) + 1.0
    sparse = tf.SparseTensor([[0]], [1.0], [3])
    fetches = {1: log, "a": pair(log, [sparse]), None: [[], ones.op, "doubled:0"]}
    tf.identity(ones, name="doubled")
    with v1.Session() as session:
        result = session.run(fetches, {log: [1.0, 2.0], length: 5})
        assert result["a"].first.tolist() == [1.0, 2.0]
        assert result[None][2].tolist() == [2.0] * 5
        assert session.run([]) == []
        with pytest.raises(TypeError):
            session.run(None)
        made = session.make_callable([ones])
        assert made()[0].tolist() == [2.0] * 3
    reader = oracle.open_reader(str(dump)) if ended(dump) else None
    assert reader is not None
    assert [e.op_type for e in reader.executions()] == [
        "Session.run(SparseTensor/indices, SparseTensor/values, SparseTensor/dense_shape, 2 more)",
        "Session.run(add)",
    ]


def test_what_a_session_hands_out_is_used(dump: Path) -> None:
    x = v1.placeholder(tf.float32, [2])
    (gradient,) = tf.gradients(tf.sqrt(x), x)
    with v1.Session() as session:
        session.run(gradient, {x: [0.0, 1.0]})
    found = diagnosed(dump)
    assert found.verdict == "bad"
    assert found.roots[0].title == "Gradient of a square root at zero"


def test_runs_that_are_not_recorded_are_named(dump: Path) -> None:
    x = v1.placeholder(tf.float32, [])
    log = tf.math.log(x)
    with v1.Session() as session:
        handle = session.partial_run_setup([log], [x])
        session.partial_run(handle, log, {x: -1.0})
    assert diagnosed(dump).verdict == "incomplete"


def callable_of(
    session: Any,
    fetches: Sequence[Any] = (),
    targets: Sequence[Any] = (),
    *,
    feeds: Sequence[Any] = (),
    connected: Sequence[tuple[Any, Any]] = (),
    traced: bool = False,
) -> Any:
    """Return what runs a session as old Keras does in graph mode."""
    options = CallableOptions()
    options.fetch.extend(tensor.name for tensor in fetches)
    options.target.extend(op.name for op in targets)
    options.feed.extend(tensor.name for tensor in feeds)
    for source, fed in connected:
        options.tensor_connection.add(from_tensor=source.name, to_tensor=fed.name)
    if traced:
        options.run_options.trace_level = v1.RunOptions.FULL_TRACE
    return session._make_callable_from_options(options)


def run_by_callables(feeds: Sequence[Any]) -> list[list[Any]]:
    """Train by a callable, then ask for a loss of what a tensor of the graph holds."""
    x, y = v1.placeholder(tf.float32, [3], "x"), v1.placeholder(tf.float32, [3], "y")
    weights = v1.get_variable("weights", initializer=tf.ones([3]))
    root = tf.function(lambda a: tf.sqrt(a), autograph=False)
    loss = tf.reduce_sum(root(x) * weights - y)
    (gradient,) = tf.gradients(loss, [weights])
    with tf.control_dependencies([loss]):
        train = v1.assign_sub(weights, gradient * 0.1)
    source = tf.exp(tf.constant([0.0, 1.0, 2.0]))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        step = callable_of(session, [loss, loss], [train.op], feeds=[x, y])
        connected = callable_of(session, [loss], feeds=[x], connected=[(source, y)])
        return [*(step(*values) for values in feeds), connected(feeds[0][0])]


def test_what_old_keras_runs_is_recorded(tmp_path: Path, resources: bool) -> None:
    feeds = [[np.array(some, np.float32)] * 2 for some in ([1, 2, 3], [4, 5, 6], [1, -1, 0])]
    with tf.Graph().as_default():
        plain = run_by_callables(feeds)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.Graph().as_default():
        np.testing.assert_equal(run_by_callables(feeds), plain)
    found = diagnosed(tmp_path)
    assert [(root.title, root.certainty) for root in found.roots] == [
        ("Square root of a negative number", "proved")
    ]
    assert found.gaps == ()


def test_a_callable_of_a_session_tells_what_it_does_without_the_dump(dump: Path) -> None:
    x = v1.placeholder(tf.float32, [3])
    checked = tf.debugging.check_numerics(tf.math.log(x), "bad")
    with v1.Session() as session:
        call = callable_of(session, [checked], feeds=[x], traced=True)
        metadata = v1.RunMetadata()
        ones = np.ones(3, np.float32)
        np.testing.assert_array_equal(call(ones, run_metadata=metadata)[0], ones * 0)
        assert metadata.step_stats.dev_stats
        assert "tfdbg" not in str(metadata)
        with pytest.raises(tf.errors.InvalidArgumentError, match="but got 0"):
            call()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inf values") as caught:
            call(ones * 0)
        assert "tfdbg" not in str(caught.value.message)
        # Nobody looks whether what is fed is of the shape that the graph knows.
        np.testing.assert_array_equal(call(ones[:2])[0], ones[:2] * 0)
    found = diagnosed(dump)
    assert [root.title for root in found.roots] == ["Logarithm of zero"]
    assert found.gaps == ()


def test_a_callable_that_is_older_than_the_dump_is_named(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        call = callable_of(session, [tf.math.log(tf.constant(0.0))])
        tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
        assert call() == [-np.inf]
    assert diagnosed(tmp_path).verdict == "incomplete"


@pytest.mark.parametrize("wrong", [np.ones(2, np.int32), "text", [[1], [1, 2]], None])
def test_a_callable_that_is_fed_what_it_cannot_take_lacks_nothing(dump: Path, wrong: Any) -> None:
    """TensorFlow names the op that takes what is fed, which is none of the program's."""
    with tf.name_scope("given"):
        x, y = (v1.placeholder(tf.float32, [2], name) for name in ("x", "y"))
    with v1.Session() as session:
        call = callable_of(session, [tf.math.log(x), tf.math.sqrt(y) * 2.0], feeds=[x, y])
        ones = np.ones(2, np.float32)
        for given in ((ones, wrong), (wrong, ones)):
            with pytest.raises(tf.errors.OpError) as caught:
                call(*given)
            assert "tfdbg" not in str(caught.value)
        call(ones, ones)
    found = diagnosed(dump)
    assert (found.verdict, found.gaps) == ("clean", ())


def test_what_a_callable_computes_beside_what_it_cannot_take_is_on_record(dump: Path) -> None:
    x, y = (v1.placeholder(tf.float32, [2], name) for name in ("x", "y"))
    with v1.Session() as session:
        call = callable_of(session, [tf.math.log(x) + 1.0, tf.math.sqrt(y)], feeds=[x, y])
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(np.zeros(2, np.float32), np.ones(2, np.int32))
    found = diagnosed(dump)
    assert ([root.title for root in found.roots], found.gaps) == (["Logarithm of zero"], ())


def test_an_imported_graph_calls_its_own_functions(dump: Path) -> None:
    """A SavedModel of another process may have functions of the names of those here."""
    named = tf.function(lambda x: x * 3.0).get_concrete_function(tf.TensorSpec([]))
    with tf.Graph().as_default() as other:
        tf.function(lambda x: x + 7.0)(v1.placeholder(tf.float32, [], "x"))
    imported = other.as_graph_def()
    (function,) = imported.library.function
    function.signature.name = imported.node[-1].attr["f"].func.name = named.name
    v1.import_graph_def(imported, name="")
    with v1.Session() as session:
        assert session.run("PartitionedCall:0", {"x:0": 5.0}) == 12.0
    assert any("imported" in gap.text for gap in diagnosed(dump).gaps)


def test_runs_that_call_a_compiled_function_are_on_record(tmp_path: Path) -> None:
    """What is computed inside of it is missing, as its values cannot leave it there."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    log = tf.function(tf.math.log, jit_compile=True)
    log(tf.ones([2]))  # which makes the buffer that its values leave by where that can be read
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        assert list(session.run(log(x) + 1.0, {x: [1.0, 0.0]})) == [1.0, -np.inf]
    found = diagnosed(tmp_path)
    assert found.verdict == "bad"
    assert ["XLA compiles it" in gap.text for gap in found.gaps] == [True]


def test_a_graph_that_was_finalized_calls_functions(dump: Path) -> None:
    log = tf.function(lambda x: tf.math.log(x))(v1.placeholder(tf.float32, [], "x"))
    tf.Graph.finalize(log.graph)  # as a MonitoredSession does before the first run
    with v1.Session() as session:
        session.run(log, {"x:0": 0.0})
    assert log.graph.finalized
    found = diagnosed(dump)
    assert (found.verdict, found.roots[0].op_type, found.gaps) == ("bad", "Log", ())


@pytest.fixture(params=[False, True], ids=["Switch", "If"], name="control_flow")
def _control_flow(request: Any) -> Iterator[None]:
    (v1.enable_control_flow_v2 if request.param else v1.disable_control_flow_v2)()
    yield
    v1.enable_control_flow_v2()


def test_branches_and_loops_compute_what_a_run_uses(dump: Path, control_flow: None) -> None:
    """What raises here is never used, and TensorFlow leaves it out."""

    def failing(x: Any) -> Any:
        return tf.gather(x, tf.size(x) + 10)

    def body(i: Any, y: Any, z: Any) -> Any:
        return i + 1, tf.exp(y), z + failing(y)

    x = v1.placeholder(tf.float32, [2])
    y = tf.cond(x[0] > 0.0, lambda: (failing(x), tf.math.log(x - 1.0)), lambda: (x[0], x))[1]
    z = tf.while_loop(lambda i, *_: i < 2, body, [0, x, 0.0])[1]
    with v1.Session() as session:
        for value, expected in ((1.0, -np.inf), (-1.0, -1.0)):
            assert session.run(y * 2.0, {x: [value, 2.0]})[0] == 2.0 * expected
        assert session.run(z, {x: [0.0, 0.0]})[0] == pytest.approx(np.e)
    found = diagnosed(dump)
    assert [(root.title, root.certainty) for root in found.roots] == [
        ("Logarithm of zero", "proved")
    ]


def test_an_imported_graph_has_branches_and_loops(dump: Path) -> None:
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as other:
        x = v1.placeholder(tf.float32, [2], "x")
        y = tf.cond(x[0] > 0.0, lambda: tf.math.log(x - 1.0), lambda: tf.exp(x))
        tf.while_loop(lambda z: z[0] > 3.0, lambda z: z / 2.0, [y + 10.0], name="loop")
        tf.identity(y, "y")
    v1.enable_control_flow_v2()
    v1.import_graph_def(other.as_graph_def(), name="")
    with v1.Session() as session:
        assert session.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [-np.inf, 0.0]
        assert session.run("loop/Exit:0", {"x:0": [-20.0, 2.0]})[0] == pytest.approx(2.5)
    run = ended(dump)
    (root,) = diagnose(run).roots
    assert (root.title, root.certainty) == ("Logarithm of zero", "proved")
    assert 'session.run("y:0"' in root.location.code
    assert "; loaded at test_sessions.py:" in root.evidence
    assert not run.omissions


@pytest.fixture(name="v1_loops")
def _v1_loops() -> Iterator[None]:
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


def test_loops_of_enter_and_exit_are_followed_through_arrays_and_stacks(
    dump: Path, v1_loops: None
) -> None:
    w = v1.get_variable("w", initializer=tf.fill([3, 3], 0.5))

    def step(h: Any, x: Any) -> Any:
        return tf.math.log(tf.matmul(h, w) + x)

    h = tf.scan(step, tf.constant([[1.0], [-1.3], [2.0]]), initializer=tf.ones([1, 3]))
    train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(h))
    with v1.Session() as session:
        session.run(w.initializer)
        first = session.run([h, train])[0]
        assert np.isnan(first).tolist() == [[[False] * 3], [[False] * 3], [[True] * 3]]
        assert not any("tfdbg" in op.name for op in session.graph.get_operations())
    run = ended(dump)
    (root,) = diagnose(run).roots
    assert (root.title, root.certainty) == ("Logarithm of a negative number", "proved")
    assert not run.omissions
    rows = [run.graph_executions[index] for index in range(len(run.graph_executions))]
    logs = [row.iteration for row in rows if row.op_name.endswith("while/Log")]
    assert logs == [0, 1, 2]
    last = max(row.index for row in rows if row.op_name.endswith("while/Log"))
    assert last < min(row.index for row in rows if row.op_type == "TensorArrayGatherV3")


def test_loops_and_branches_of_enter_and_switch_hold_each_other(dump: Path, v1_loops: None) -> None:
    x = v1.placeholder(tf.float32, [])

    def inner(j: Any, y: Any) -> Any:
        return j + 1, tf.cond(y > 1.0, lambda: tf.sqrt(y), lambda: tf.math.log(y))

    def outer(i: Any, y: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, [0, y])[1] * 2.0

    looped = tf.cond(
        x > 0.0, lambda: tf.while_loop(lambda i, _: i < 2, outer, [0, x])[1], lambda: x + 1.0
    )
    with v1.Session() as session:
        results = [session.run(looped * 1.0, {x: value}) for value in (16.0, -1.0, 0.9)]
    assert results == [pytest.approx(8.0**0.5), 0.0, pytest.approx(np.nan, nan_ok=True)]
    (root,) = diagnosed(dump).roots
    assert (root.title, root.certainty) == ("Logarithm of a negative number", "proved")


def test_the_gradient_of_a_loop_in_a_loop_runs(dump: Path, v1_loops: None) -> None:
    """What the inner backward loop takes back enters it from outside of the outer one's body."""

    def inner(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.tanh(y) * 2.0), [0, x])[1]

    x = v1.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.sqrt(inner(y))), [0, x])[1]
    with v1.Session() as session:
        assert np.isfinite(session.run(tf.gradients(y, x), {x: 1.0}))
        assert session.run(tf.gradients(y, x), {x: 0.0}) == [np.inf]
    (root,) = diagnosed(dump).roots
    assert root.title == "Gradient of a square root at zero"


@pytest.mark.parametrize("times", [1, 3])
def test_what_enters_a_loop_in_a_loop_comes_of_the_iteration_before(
    dump: Path, v1_loops: None, times: int
) -> None:
    """Nothing is taken for made of itself, so the gradients in both loops have one cause."""

    def inner(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 1, lambda i, y: (i + 1, 2.0 / (y + y)), [0, x])[1]

    x = v1.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, _: i < times, lambda i, y: (i + 1, inner(y * 3.0)), [0, x])[1]
    (gradient,) = tf.gradients(tf.sqrt(y - tf.stop_gradient(y)), x)
    with v1.Session() as session:
        assert np.isinf(session.run(gradient, {x: 1.0}))
    (root,) = diagnosed(dump).roots
    assert root.title == "Gradient of a square root at zero"


def test_the_gradient_of_a_loop_comes_after_an_update(
    dump: Path, references: None, v1_loops: None
) -> None:
    """The updated variable enters the backward loop as a reference, only to be waited for."""
    mean, w = (v1.get_variable(name, initializer=0.5) for name in ("mean", "w"))
    loop = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.math.log(y * w)), [0, 8.0])
    with tf.control_dependencies([v1.assign(mean, mean * 0.9 + loop[1])]):
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loop[1])
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert np.isnan(session.run([train, loop[1]])[1])
    (root,) = diagnosed(dump).roots
    assert (root.title, root.certainty) == ("Logarithm of a negative number", "proved")


def test_the_gradient_of_loops_one_after_the_other_in_a_loop_runs(
    dump: Path, v1_loops: None
) -> None:
    """The backward loop of `map_fn` starts with zeros; its gradients come from what is after it."""

    def loop(times: int, act: Any, x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < times, lambda i, y: (i + 1, act(y)), [0, x])[1]

    def both(x: Any) -> Any:
        return loop(3, tf.tanh, tf.nn.relu(v1.map_fn(lambda row: row * 1.5, x, None, 1)))

    x = v1.placeholder(tf.float32, [2])
    y = loop(2, tf.sin, loop(2, both, x))
    with v1.Session() as session:
        assert np.isfinite(session.run(tf.gradients(y, x), {x: [1.0, 2.0]})).all()
    assert diagnosed(dump).verdict == "clean"


def test_a_loop_is_on_record_while_it_runs(dump: Path, control_flow: None) -> None:
    def recorded(y: Any) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            rows = open_run(dump).graph_executions
            if len(rows) and any(rows[at].op_type == "Sin" for at in range(len(rows))):
                return y
            time.sleep(0.1)
        return -y

    x = v1.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, _: i < 600, lambda i, y: (i + 1, tf.sin(y) + 0.1), [0, x])[1]
    with v1.Session() as session:
        assert session.run(v1.py_func(recorded, [y], tf.float32), {x: 1.0}) > 0.0


def test_the_error_of_a_variable_without_a_value_is_that_without_the_dump(
    dump: Path, control_flow: None
) -> None:
    """It tells whether there is any resource: where loops are, the writer has tables and queues."""
    x = v1.placeholder(tf.float32, [])
    y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.sin(y)), [0, x])[1]
    scale = v1.get_variable("scale", initializer=2.0, use_resource=True)
    with v1.Session() as session, pytest.raises(tf.errors.FailedPreconditionError) as caught:
        session.run(y * scale, {x: 1.0})
    assert "Container localhost does not exist" in str(caught.value.message)


@pytest.mark.parametrize("is_last", [False, True])
def test_what_a_run_that_fails_had_computed_is_on_record(dump: Path, is_last: bool) -> None:
    """TensorFlow drops the ops that record when another op raises."""
    x = v1.placeholder(tf.float32, [2])
    scale = v1.get_variable("scale", initializer=[2.0, 3.0])
    checked = tf.debugging.check_numerics(tf.math.log(x) * scale, "bad")
    with v1.Session() as session:
        session.run(scale.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(checked if is_last else checked + 1.0, {x: [0.0, 1.0]})
        assert "tfdbg" not in str(caught.value.message)
    found = diagnosed(dump)
    assert [(root.title, root.certainty) for root in found.roots] == [
        ("Logarithm of zero", "proved")
    ]
    assert found.gaps == ()


def test_a_run_that_fails_without_any_number_to_record_lacks_none(dump: Path) -> None:
    wrong = tf.debugging.Assert(tf.constant(value=False), ["wrong"])
    with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(wrong)
    assert diagnosed(dump).verdict == "clean"


@pytest.mark.parametrize("place", ["call", "loop", "branch"])
def test_what_a_run_that_fails_in_a_function_had_computed_is_on_record(
    dump: Path, place: str
) -> None:
    @tf.function
    def checked(value: Any) -> Any:
        tf.debugging.assert_less(value, 3.0)
        return value * 2.0

    x = v1.placeholder(tf.float32, [])
    beside = tf.math.log(x)
    if place == "call":
        made = checked(x + 5.0)
    elif place == "loop":
        made = tf.while_loop(lambda i, _: i < 2, lambda i, v: (i + 1, checked(v)), [0, x + 2.0])[1]
    else:
        made = tf.cond(x < 1.0, lambda: checked(x + 5.0), lambda: x)
    with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run([beside, made + 1.0], {x: 0.0})
    found = diagnosed(dump)
    assert ([root.op_type for root in found.roots], found.gaps) == (["Log"], ())


@pytest.mark.parametrize("computes", [False, True])
def test_what_a_run_that_fails_in_a_v1_loop_had_computed_is_on_record(
    dump: Path, v1_loops: None, computes: bool
) -> None:
    """The iteration that failed is not; nothing is missing where it computed nothing else."""

    @tf.function
    def checked(value: Any) -> Any:
        tf.debugging.assert_less(value, 3.0)
        return value + 1.0

    def body(i: Any, v: Any) -> Any:
        return i + 1, checked(v * 1.0 if computes else v)

    x = v1.placeholder(tf.float32, [])
    beside = tf.math.log(x)
    made = tf.while_loop(lambda i, _: i < 9, body, [0, tf.math.exp(x)])[1]
    with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run([beside, made + 1.0], {x: 0.0})
    found = diagnosed(dump)
    assert [root.title for root in found.roots] == ["Logarithm of zero"]
    missing = [gap.text for gap in found.gaps]
    assert len(missing) == computes
    assert all("a loop of Session.run(Log, add) computed in the iteration" in m for m in missing)


def test_a_run_that_fails_is_not_repeated_where_it_has_a_state(dump: Path) -> None:
    x = v1.placeholder(tf.float32, [2])
    count = v1.get_variable("count", initializer=0)
    checked = tf.debugging.check_numerics(tf.math.log(x), "bad")
    counted = count.assign_add(1)
    with v1.Session() as session:
        session.run(count.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([checked, counted], {x: [0.0, 1.0]})
        assert session.run(count) <= 1
    found = diagnosed(dump)
    assert found.verdict != "clean"
    assert any("before it failed" in gap.text for gap in found.gaps)


def test_a_program_stops_at_the_first_bad_tensor(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, on_bad="raise")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        scaled = tf.math.log(x) * 2.0
        session.run(scaled, {x: [1.0, 1.0]})
        with pytest.raises(BadTensorError, match=r"Log \(output 0\) has 1 -∞ of 2.*test_sessions"):
            session.run(scaled, {x: [0.0, 1.0]})
    tfdbg_tui.disable_dump_debug_info()


def test_the_graph_is_shown_without_what_was_added(dump: Path) -> None:
    with v1.Session() as session:
        doubled = tf.math.log(tf.constant([1.0])) * 2.0
        session.run(doubled)
        assert session.graph.get_operations()[-1] is doubled.op
        assert session.graph.as_graph_def().node[-1].name == doubled.op.name


def test_sinks_are_shared(dump: Path) -> None:
    """A program that makes an op for each run is not instrumented anew as a whole."""
    x = v1.placeholder(tf.float32, [3])
    for _ in range(30):
        x = tf.tanh(x)
    added = []
    with v1.Session() as session:
        for number in range(4):
            y = x + float(number)
            before = session.graph.version
            session.run(y, {"Placeholder:0": [0.0, 1.0, 2.0]})
            added.append(session.graph.version - before)
        sinks = max(graph_state.state_of(session.graph).sessions.sinks.values(), key=len)
    assert added[2] == added[3] == 2
    # Those of the first run; what the second has in common with it, and what is new in each.
    assert [len(shared.records) for shared in sinks] == [33, 31, 2, 2, 2]


@pytest.mark.parametrize("mode", ["ADAPTIVE", "CONCISE_HEALTH", "CURT_HEALTH", "FULL_HEALTH"])
def test_what_python_looks_at_is_told_as_if_ops_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Of any size and type, of known shape or not, bad or not."""
    told = []
    for few in (16, 0):
        monkeypatch.setattr(instrument, "_FEW_TENSORS", few)
        root = tmp_path / str(few)
        tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
        with tf.Graph().as_default(), v1.Session() as session:
            fed = v1.placeholder(tf.float32, [None])
            logs = [tf.math.log(tf.cast(fed, t)) for t in (tf.float64, tf.bfloat16, tf.complex64)]
            large = tf.exp(fed * 1e15)  # The square of what is finite may not be.
            for values in ([1.0] * 20, [0.0, -1.0, 1e-14, 4e-14], []):
                session.run([*logs, large, tf.shape(large)], {fed: values})
        told.append([(e.op_name, e.summary) for e in ended(root).graph_executions])
    assert len(told[0]) == 3 * 10
    assert sorted(told[0], key=repr) == sorted(told[1], key=repr)


def test_an_update_comes_after_what_is_nearer_to_the_variable(dump: Path, references: None) -> None:
    w = v1.get_variable("w", initializer=[0.5, 2.0])
    loss = tf.reduce_sum(w * w)  # the gradient of which needs nothing but w
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    for _ in range(10):  # without the order, 8 of 10 runs fetch the loss after the update
        with v1.Session() as session:
            session.run(w.initializer)
            losses = [session.run([train, loss])[1] for _ in range(2)]
            assert losses == pytest.approx([4.25, 2.72])
    run = ended(dump)
    assert not run.omissions
    assert not any(
        op.name.startswith("tfdbg") for g in run.graphs.values() for op in g.ops.values()
    )


def test_no_op_of_the_program_is_changed(
    dump: Path, references: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorFlow warns of each that a session has run before."""
    x = v1.placeholder(tf.float32, [4, 2])
    w1, w2 = v1.get_variable("w1", [2, 3]), v1.get_variable("w2", [3, 1])
    slope = v1.gradients(tf.nn.relu(x @ w1) @ w2, [x])[0]
    loss = tf.reduce_sum(tf.nn.relu(x @ w1) @ w2) + tf.reduce_sum(slope * slope)
    train = v1.train.AdamOptimizer(0.1).minimize(loss)
    changed: list[str] = []
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        given = tf.Operation._set_attr

        def set_attr(op: Any, *arguments: Any) -> None:
            changed.append(op.name)
            given(op, *arguments)

        monkeypatch.setattr(tf.Operation, "_set_attr", set_attr)
        session.run([loss, train], {x: np.ones((4, 2))})
    assert [name for name in changed if not name.startswith("tfdbg_tui")] == []


def test_an_update_does_not_wait_for_a_branch_that_is_not_taken(
    dump: Path, references: None, v1_loops: None
) -> None:
    with v1.Graph().as_default():
        weight = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        average = v1.train.ExponentialMovingAverage(0.5).apply([weight])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(average)
            assert session.run(weight).tolist() == [1.0, 1.0]


def test_what_initialises_a_variable_does_not_wait_for_who_asks_whether_it_is(
    dump: Path, references: None
) -> None:
    deep = v1.truncated_normal_initializer(seed=1)
    weight = v1.get_variable("w", [2], initializer=deep)
    average = v1.train.ExponentialMovingAverage(0.5)
    update = average.apply([weight])
    # The race that TensorFlow leaves open, a single thread always decides in the same way.
    config = v1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
    with v1.Session(config=config) as session:
        session.run(v1.global_variables_initializer())
        session.run(update)
        averaged, now = session.run([average.average(weight), weight])
        assert averaged.tolist() == now.tolist()


def test_branches_of_runs_that_go_on_at_once_are_told_apart(dump: Path) -> None:
    """Of these the writer does not know which run has taken which one."""
    start, first_is_done, end = (threading.Barrier(2, timeout=60) for _ in range(3))

    def before(value: Any) -> Any:
        start.wait()
        if value > 0.0:
            first_is_done.wait()
        return value

    def after(given: Any, value: Any) -> Any:
        if given == 0.0:
            first_is_done.wait()
        end.wait()
        return value

    x = v1.placeholder(tf.float32, [])
    begun = v1.py_func(before, [x], tf.float32)
    begun.set_shape([])
    y = tf.cond(begun > 0.0, lambda: begun * 2.0, lambda: tf.math.log(begun))
    ended_after = v1.py_func(after, [x, y], tf.float32)
    with v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=8)) as session:
        other = threading.Thread(target=session.run, args=([y, ended_after], {x: 1.0}))
        other.start()
        assert session.run([y, ended_after], {x: 0.0}) == [-np.inf, -np.inf]
        other.join()
    titles = [root.title for root in diagnosed(dump).roots]
    assert titles == ["Logarithm of zero"]


def test_what_keeps_a_state_of_its_own_is_never_copied(dump: Path, references: None) -> None:
    w = v1.get_variable("w", initializer=[0.5, 2.0])
    loss = tf.reduce_sum(w * w)
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        drawn = v1.random_uniform([], seed=1)
    with v1.Session() as session:
        session.run(w.initializer)
        first = [session.run([drawn, loss])[0], session.run(drawn)]
    with tf.Graph().as_default(), v1.Session() as session:
        plain = v1.random_uniform([], seed=1)
        assert first == [session.run(plain) for _ in range(2)]


def test_the_error_of_an_op_that_ran_as_a_copy_is_that_of_the_op(
    dump: Path, references: None
) -> None:
    w = v1.get_variable("w", initializer=[0.5, 2.0])
    loss = tf.reduce_sum(w * w)
    index = tf.cast(tf.exp(tf.exp(tf.exp(loss))), tf.int32) * 0 + 7
    changed = v1.scatter_add(w, [index], [1.0])
    nearer = w * 3.0
    with v1.Session() as session:
        session.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run([changed.op, nearer])
        assert caught.value.op is changed.op
        assert "tfdbg" not in str(caught.value)
        assert __file__ in str(caught.value)


def test_checks_that_the_program_makes_are_made_again(dump: Path) -> None:
    x = v1.placeholder(tf.float32, [])
    wanted = [tf.math.log(x), v1.add_check_numerics_ops()]
    with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(wanted, {x: 0.0})
    (root,) = diagnosed(dump).roots
    assert (root.title, root.certainty) == ("Logarithm of zero", "proved")


def test_a_run_that_failed_after_an_update_is_not_computed_again(
    dump: Path, references: None
) -> None:
    w = v1.get_variable("w", initializer=[1.0])
    x = v1.placeholder(tf.float32, [])
    with tf.control_dependencies([v1.assign_add(w, [1.0])]):
        failing = v1.check_numerics(tf.math.log(x), "log")
    with v1.Session() as session:
        session.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(failing, {x: 0.0})
        assert session.run(w) == [2.0]
    assert diagnosed(dump).verdict == "incomplete"


def test_functions_of_a_one_shot_iterator_are_seen(dump: Path) -> None:
    dataset = v1.data.Dataset.from_tensor_slices(np.array([4.0, 1.0, -1.0], np.float32))
    dataset = dataset.map(tf.math.sqrt).map(lambda x: x + 1.0).shuffle(1, seed=1).batch(3)
    element = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as session:
        values = session.run(element)
        assert values[:2].tolist() == [3.0, 2.0]
        assert "tfdbg" not in str(session.graph.as_graph_def())
    report = diagnosed(dump)
    assert [(root.title, root.certainty) for root in report.roots] == [
        ("Square root of a negative number", "proved")
    ]
    assert not report.gaps


def test_constants_can_be_fed(dump: Path) -> None:
    numbers = tf.constant([1.0, 2.0])
    filled = tf.fill([3], tf.constant(1.0, name="value"))
    positive = tf.reduce_sum(tf.maximum(tf.sign(filled), 0.0)) + tf.reduce_sum(tf.exp(numbers))
    with v1.Session() as session:
        healthy = session.run([filled, positive])
        assert session.run(numbers * 2.0, {numbers: [3.0, 4.0]}).tolist() == [6.0, 8.0]
        bad = session.run([filled, positive], {"value:0": np.nan})
    assert np.isfinite(healthy[0]).all()
    assert np.isnan(bad[0]).all()
    assert diagnosed(dump).verdict == "bad"


def test_a_graph_has_as_many_operations_as_without(dump: Path) -> None:
    graph, exp = tf.compat.v1.get_default_graph(), tf.exp(tf.constant([0.0]))
    before = graph.num_operations()
    with v1.Session() as session:
        session.run(exp)
    log = tf.math.log(exp)
    assert graph.num_operations() == before + 1
    assert [op.name for op in graph.operations] == [op.name for op in graph.get_operations()]
    assert graph.get_operations()[before:] == [log.op]


def test_a_training_that_diverges_is_one_bug(dump: Path, resources: bool) -> None:
    x, y = v1.placeholder(tf.float32), v1.placeholder(tf.float32)
    w = v1.get_variable("w", initializer=0.3)
    b = v1.get_variable("b", initializer=0.1)
    cost = tf.reduce_sum(tf.pow(x * w + b - y, 2)) / 6
    train = v1.train.GradientDescentOptimizer(1e6).minimize(cost)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(8):
            session.run([train, w, b], {x: 3.3, y: 1.7})
        assert not np.isfinite(session.run([w, b])).any()
        session.run(w)
    (root,) = diagnosed(dump).roots
    assert (root.op_type, root.rule) == ("Pow", "grew-until-overflow")


def test_what_an_update_is_computed_of_has_the_value_before_it(dump: Path, resources: bool) -> None:
    x = v1.placeholder(tf.float32, [2])
    w = v1.get_variable("w", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(tf.square(w * x))
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for factor in (1.0, 3e38, 1.0):
            session.run(train, {x: [factor, factor]})
    (root,) = diagnosed(dump).roots
    assert root.op_type == "Mul"


def test_what_is_computed_after_an_update_in_the_same_run_has_its_value(
    dump: Path, resources: bool
) -> None:
    x = v1.placeholder(tf.float32, [2])
    w = v1.get_variable("w", initializer=[1.0, 2.0])
    average = v1.get_variable("average", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(tf.math.log(x) * w)
    train = v1.train.AdamOptimizer(0.1).minimize(loss, var_list=[w])
    with tf.control_dependencies([train]):
        update = v1.assign(average, 0.9 * average + 0.1 * w)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for first in (1.0, 0.0, 1.0):
            session.run(update, {x: [first, 1.0]})
    (root,) = diagnosed(dump).roots
    assert root.op_type == "Log"


def test_a_run_of_which_only_the_fetch_fails_is_on_record(dump: Path) -> None:
    """As of converters, which try each tensor: NumPy has no lists of tensors."""
    x = tf.constant([1.0, 2.0])
    made = (
        tf.raw_ops.TensorListReserve(element_shape=-1, num_elements=3, element_dtype=tf.float32),
        tf.raw_ops.TensorListFromTensor(tensor=tf.exp(x), element_shape=tf.constant([], tf.int32)),
    )
    with v1.Session() as session:
        for tensors in made:
            with pytest.raises(tf.errors.InternalError, match="not convertible to numpy"):
                session.run(tensors)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(dump)
    assert "Exp" in [trace.op_name for trace in run.graph_executions]
    assert diagnose(run).verdict == "clean"


def test_a_run_with_such_a_fetch_that_failed_before_is_not(dump: Path) -> None:
    numbers = tf.random.normal([3])
    with tf.control_dependencies([numbers]):
        failing = v1.py_func(lambda: 1 // 0, [], tf.int64)
    with tf.control_dependencies([failing]):
        more = tf.exp(numbers)
    made = tf.raw_ops.TensorListFromTensor(tensor=more, element_shape=tf.constant([], tf.int32))
    with v1.Session() as session, pytest.raises(tf.errors.OpError):
        session.run(made)
    tfdbg_tui.disable_dump_debug_info()
    assert diagnose(open_run(dump)).verdict == "incomplete"


def test_the_best_loss_so_far_may_begin_with_infinity(dump: Path, resources: bool) -> None:
    losses = v1.placeholder(tf.float32, [])
    best = v1.get_variable("best", initializer=np.float32(np.inf), trainable=False)
    better = v1.assign(best, tf.minimum(best, losses))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for loss in (3.0, 2.0):
            session.run(better, {losses: loss})
    assert diagnosed(dump).verdict == "clean"


@pytest.mark.parametrize("case", ["left out", "untrainable", "restored", "set", "cut off", "input"])
def test_random_weights_that_no_optimizer_changes_are_told(
    dump: Path, tmp_path: Path, resources: bool, case: str
) -> None:
    """Not where the program means it: what was restored, or set, or is a model behind an input."""
    x = v1.get_variable("x", [8, 4]) if case == "input" else v1.placeholder(tf.float32, [8, 4])
    with v1.variable_scope("trunk"):
        trunk = v1.get_variable("w", [4, 5], trainable=case != "untrainable")
        hidden = tf.tanh(tf.matmul(x, trunk))
    with v1.variable_scope("head"):
        head = v1.get_variable("w", [5, 1])
        made = tf.matmul(tf.stop_gradient(hidden) if case == "cut off" else hidden, head)
    loss = tf.reduce_mean(tf.square(made - 1.0))
    step = v1.train.AdamOptimizer(0.01).minimize(loss, var_list=[x if case == "input" else head])
    steps = [step, trunk.assign(trunk / 2.0)] if case == "set" else [step]
    saver = v1.train.Saver([trunk])
    feeds = {} if case == "input" else {x: np.ones([8, 4], np.float32)}
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        if case == "restored":
            saver.restore(session, saver.save(session, str(tmp_path / "checkpoint" / "trunk")))
        for _ in range(10):
            session.run(steps, feeds)
    report = diagnosed(dump)
    told = [(found.rule, "trunk/w: nobody" in found.evidence) for found in report.suspects]
    assert told == ([("layer-never-changes", True)] if case == "left out" else [])


def test_what_comes_out_of_a_queue_is_what_another_thread_has_put_in(dump: Path) -> None:
    """As with queue runners: the run that takes it out has begun before and waits for it."""
    queue, x = v1.FIFOQueue(10, [tf.float32]), v1.placeholder(tf.float32, [2])
    log, taken = tf.math.log(x), tf.sqrt(queue.dequeue())
    # Until it is recorded: what two runs compute at the same time is so in either order.
    with tf.control_dependencies([v1.py_func(lambda _: time.sleep(0.3), [log], [])]):
        put = queue.enqueue([log])
    with v1.Session() as session:
        for least in (2.0, 0.0, 1.0, 0.0):
            thread = threading.Thread(target=session.run, args=(taken,))
            thread.start()
            time.sleep(0.1)
            session.run(put, {x: [1.0, least]})
            thread.join()
    (root,) = diagnosed(dump).roots
    assert (root.op_type, root.rule) == ("Log", "log-of-zero")


def test_what_was_put_into_a_queue_may_be_on_record_after_what_came_out(dump: Path) -> None:
    queue, x = v1.FIFOQueue(10, [tf.float32]), v1.placeholder(tf.float32, [4])
    put = queue.enqueue([tf.split(tf.math.log(x), 2)[1]])
    with tf.control_dependencies([put]):
        late = v1.py_func(lambda _: time.sleep(0.5), [x], [])
    taken = tf.sqrt(queue.dequeue())
    with tf.control_dependencies([late]):
        last = tf.sin(x)
    with v1.Session() as session:
        for least in (2.0, 0.0):
            fed = {x: [1.0, 2.0, 1.0, least]}
            thread = threading.Thread(target=session.run, args=(last, fed))
            thread.start()
            session.run(taken)
            thread.join()
    (root,) = diagnosed(dump).roots
    assert (root.op_type, root.rule) == ("Log", "log-of-zero")


def test_a_healthy_tensor_out_of_a_queue_is_no_bad_one_that_was_put_in(dump: Path) -> None:
    queue, x = v1.FIFOQueue(10, [tf.float32]), v1.placeholder(tf.float32, [2])
    put, taken = queue.enqueue([tf.math.log(x)]), tf.sqrt(queue.dequeue())
    with v1.Session() as session:
        for least in (0.0, 2.0):
            session.run(put, {x: [1.0, least]})
            session.run(taken)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(dump)
    bad, healthy = (
        Dataflow(run).producers(TensorEvent("graph_execution", trace.index, 0))
        for trace in run.graph_executions
        if trace.op_type == "QueueDequeueV2"
    )
    assert [one.event and op_type_of(run, one.event) for one in bad] == ["Log"]
    assert [one.event for one in healthy] == [None]
