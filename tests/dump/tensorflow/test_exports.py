"""What leaves the process, and what is derived from a graph, is the program's own."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump.observe import row_queue  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

INPUT = [[1.0, 0.5], [-2.0, 0.0]]


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    dump.disable_dump_debug_info()


class Model(tf.Module):  # type: ignore[name-defined]
    """Calls, branches and loops around a logarithm of a negative number, and a compiled one."""

    def __init__(self) -> None:
        self.scale = tf.Variable(2.0)

    @tf.function
    def inner(self, x: Any) -> Any:
        return tf.math.log(x) * self.scale

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def serve(self, x: Any) -> Any:
        for _ in tf.range(2):
            if tf.reduce_sum(x) < 10.0:
                x = x + tf.where(tf.math.is_finite(self.inner(x)), x, 1.0)
        return x

    @tf.function(input_signature=[tf.TensorSpec([None, 2])], jit_compile=True)
    def compiled(self, x: Any) -> Any:
        return tf.math.log(x) * self.scale


def converted(function: Any, model: Any) -> int:
    """Return the size of what TFLite makes of a function."""
    return len(tf.lite.TFLiteConverter.from_concrete_functions([function], model).convert())


def bad_op_types(root: Path) -> set[str]:
    run = tfdbg_tui.open_run(str(root))
    assert run.omissions == ()
    return {t.op_name for t in run.graph_executions if t.summary is not None and t.summary.bad}


def test_exported_models_run_where_there_is_no_debugger(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    x = tf.constant(INPUT)
    with_dump = tmp_path / "dump"
    tfdbg_tui.enable_dump_debug_info(str(with_dump), "ADAPTIVE", -1)
    model = Model()
    expected = model.serve(x).numpy().tolist()
    model.compiled(x)
    tf.saved_model.save(model, str(tmp_path / "saved"))
    concrete = model.serve.get_concrete_function()
    (tmp_path / "graph.pb").write_bytes(concrete.graph.as_graph_def().SerializeToString())
    under_dump = converted(concrete, model)
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        symbol = v1.placeholder(tf.float32, [None, 2], "x")
        result = tf.identity(tf.function(lambda v: tf.math.log(v))(symbol), "y")
        session.run(result, {symbol: INPUT})
        v1.saved_model.simple_save(session, str(tmp_path / "v1"), {"x": symbol}, {"y": result})
        assert b"tfdbg_tui" not in graph.as_graph_def().SerializeToString()
    tfdbg_tui.disable_dump_debug_info()
    assert {"Log"} <= bad_op_types(with_dump)
    assert under_dump == converted(concrete, model)
    program = """
        import json, pathlib, sys
        import tensorflow as tf
        assert "tfdbg_tui" not in sys.modules
        root = pathlib.Path(sys.argv[1])
        for path in (*root.rglob("*.pb"),):
            assert b"tfdbg_tui" not in path.read_bytes(), path
        x = tf.constant([[1.0, 0.5], [-2.0, 0.0]])
        saved = tf.saved_model.load(str(root / "saved"))
        v1 = tf.saved_model.load(str(root / "v1")).signatures["serving_default"]
        y = v1(x=x)["y"]
        print(json.dumps([saved.serve(x).numpy().tolist(), tf.math.is_finite(y).numpy().tolist()]))
    """
    done = preloaded.run(textwrap.dedent(program), tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [expected, [[True, True], [False, False]]]


def test_the_state_of_a_dataset_is_saved(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), "ADAPTIVE", -1)
    data = tf.data.Dataset.range(6).map(lambda i: tf.math.log(tf.cast(i, tf.float32)))
    iterator = iter(data.batch(2))
    next(iterator)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    expected = next(iterator).numpy().tolist()
    checkpoint.restore(path)
    assert next(iterator).numpy().tolist() == expected
    assert b"tfdbg_tui" not in data._as_serialized_graph().numpy()
    tfdbg_tui.disable_dump_debug_info()
    assert "Log" in bad_op_types(tmp_path / "dump")


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_TENSOR"])
def test_so_is_that_of_a_dataset_whose_function_makes_datasets(mode: str, tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), mode, -1)

    def inner(i: Any) -> Any:
        root = tf.math.sqrt(tf.cast(i, tf.float32) - 1.0)
        log = tf.cond(i > 2, lambda: tf.math.log(root), lambda: root)
        return tf.data.Dataset.from_tensors(log).map(tf.math.exp)

    iterator = iter(tf.data.Dataset.range(6).flat_map(inner))
    next(iterator)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    expected = [value.numpy() for value in iterator]
    checkpoint.restore(path)
    assert [value.numpy() for value in iterator] == expected
    tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(str(tmp_path / "dump")))
    assert [root.op_type for root in report.roots] == ["Sqrt"]


def test_what_a_data_service_runs_is_the_programs_own_and_not_on_record(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    data = tf.data.Dataset.range(6).map(lambda i: tf.math.sqrt(tf.cast(i, tf.float32)))
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    sent = data.apply(service.distribute("parallel_epochs", dispatcher.target))
    assert sorted(float(v) for v in sent) == sorted(float(v) for v in data)
    del worker
    tfdbg_tui.disable_dump_debug_info()
    (omission,) = tfdbg_tui.open_run(str(tmp_path)).omissions
    assert omission.reason.startswith("a tf.data service runs it")


def _forward_mode(function: Any, x: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        gradient = tape.gradient(y, x)
    return y, gradient, accumulator.jvp(gradient)


def _vectorised(function: Any, x: Any) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    return tape.jacobian(y, x), tf.vectorized_map(function, x)


@pytest.mark.parametrize("derive", [_forward_mode, _vectorised])
def test_derivatives_and_vectorisation_are_the_programs_own(
    tmp_path: Path, derive: Callable[[Any, Any], Any]
) -> None:
    def make() -> Any:
        @tf.custom_gradient
        def twice(x: Any) -> Any:
            return 2.0 * x, lambda dy: dy * 3.0

        @tf.function
        def function(x: Any) -> Any:
            x = tf.sin(x) if tf.reduce_sum(x) > 0.0 else twice(x)
            return x + tf.math.log(x - x)

        return function

    x = tf.constant(INPUT)
    expected = [tensor.numpy() for tensor in tf.nest.flatten(derive(make(), x))]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    found = [tensor.numpy() for tensor in tf.nest.flatten(derive(make(), x))]
    tfdbg_tui.disable_dump_debug_info()
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "Log" in " ".join(bad_op_types(tmp_path))


def test_a_traced_graph_holds_only_the_programs_ops(tmp_path: Path) -> None:
    traced = []

    def make() -> Any:
        @tf.function
        def function(x: Any) -> Any:
            traced.append(x)
            return tf.while_loop(lambda v: v < 9.0, lambda v: (v * v,), (x,))[0] + tf.math.log(-x)

        return function

    def shape_of(function: Any) -> list[str]:
        with tf.GradientTape() as tape:
            x = tf.Variable(2.0)
            y = function(x)
        tape.gradient(y, x)
        return [op.type for op in function.get_concrete_function(x).graph.get_operations()]

    plain = shape_of(make())
    count = len(traced)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", -1)
    assert shape_of(make()) == plain
    assert len(traced) == 2 * count


def test_the_graphs_that_tensorboard_gets_are_the_programs(tmp_path: Path) -> None:
    function, x = tf.function(lambda x: tf.math.log(x) * 2.0), tf.ones([2])
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), "ADAPTIVE", -1)
    tf.function(tf.math.exp)(x)
    writer = tf.summary.create_file_writer(str(tmp_path))
    tf.summary.trace_on(graph=True)
    for _ in range(3):  # A function of ours takes out several rows.
        function(x)
    row_queue.drain()
    with writer.as_default():
        tf.summary.trace_export("graphs", 0)
    writer.close()
    (written,) = tmp_path.glob("events*")
    graphs = written.read_bytes()
    assert b"Log" in graphs
    assert b"tfdbg_tui" not in graphs


FIRST_CALL = """
import sys
import time
import tensorflow as tf
import tfdbg_tui
from tensorflow.python.eager import context

tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
function, x = tf.function(lambda x: x + 1.0), tf.constant(1.0)
with context.collect_graphs() as graphs:
    for _ in range(3):
        function(x)
        function(x)
        time.sleep(0.1)  # What takes rows out in another thread would be mixed with it.
print([[node.op for node in graph.node] for graph in graphs])
"""


def test_the_graphs_of_a_first_call_are_the_programs(tmp_path: Path, preloaded: Preloaded) -> None:
    done = preloaded.run(FIRST_CALL, tmp_path)
    assert done.stdout.strip() == "[['Const', '_Arg', 'AddV2', '_Retval']]", done.stderr[-3000:]


def test_a_graph_that_has_run_is_exported_as_before(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with v1.Graph().as_default() as graph, v1.Session() as session:
        log = tf.math.log(v1.placeholder_with_default([1.0], [1]))
        before = graph.as_graph_def()
        assert session.run(log) == [0.0]
        assert graph.as_graph_def() == before


@pytest.fixture(params=[True, False], ids=["functions", "v1"])
def control_flow(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether loops and branches are functions, or ops of TensorFlow 1."""
    v1 = tf.compat.v1
    (v1.enable_control_flow_v2 if request.param else v1.disable_control_flow_v2)()
    yield
    v1.enable_control_flow_v2()


@pytest.mark.usefixtures("control_flow")
def test_what_a_session_tells_of_a_run_is_the_programs(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with v1.Graph().as_default(), v1.Session() as session:
        weight = v1.get_variable("w", initializer=np.ones((3, 4), "f"), use_resource=False)
        x = v1.placeholder(tf.float32, [None, 3])
        y = tf.nn.softmax(tf.matmul(x, weight))
        update = v1.assign_add(weight, tf.ones_like(weight) * tf.reduce_sum(y))
        branch = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.math.log(y), lambda: tf.sqrt(y))
        loop = tf.while_loop(lambda v: v < 9.0, lambda v: (v * 1.5,), (tf.reduce_sum(y),))
        session.run(v1.global_variables_initializer())
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=3, output_partition_graphs=True)
        asked, fed = (weight, update, branch, loop), {x: np.ones((2, 3))}
        session.run(asked, fed, options=options, run_metadata=metadata)
    assert b"tfdbg_tui" not in metadata.SerializeToString()
    ran = {node.node_name for one in metadata.step_stats.dev_stats for node in one.node_stats}
    assert any("MatMul" in name for name in ran)
    assert not any(name.startswith("input_") for name in ran)
    (graph_def,) = metadata.partition_graphs
    names = {node.name for node in graph_def.node}
    taken = {name.lstrip("^").partition(":")[0] for node in graph_def.node for name in node.input}
    assert taken <= names


def test_a_placeholder_that_nobody_feeds_stays_unused(tmp_path: Path) -> None:
    def function() -> Any:
        tf.math.exp(tf.compat.v1.placeholder(tf.float32, [2]))
        return tf.math.log(tf.zeros([2]))

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", -1)
    assert np.isneginf(tf.compat.v1.wrap_function(function, [])()).all()
    tfdbg_tui.disable_dump_debug_info()
    assert "Log" in bad_op_types(tmp_path)
