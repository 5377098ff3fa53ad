"""What the dump writer keeps of a function goes when the function goes, and not before."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tensorflow.python.ops import script_ops  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.dump.observe.compiled import CompiledBuffer  # noqa: E402
from tfdbg_tui.dump.observe.graphs import RecordedOp  # noqa: E402
from tfdbg_tui.dump.observe.groups import Group  # noqa: E402
from tfdbg_tui.wire import events, filesets, tfrecord  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.writer import DumpWriter


@pytest.fixture(autouse=True)
def writer(tmp_path: Path) -> Iterator[DumpWriter]:
    gc.collect()
    gc.freeze()  # A look at what was there before takes ten times as long as one at the rest.
    yield tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    dump.disable_dump_debug_info()


def records(root: Path, suffix: str) -> list[events.DebugEvent]:
    dump.disable_dump_debug_info()
    (file_set,) = filesets.find_file_sets(str(root))
    data = Path(file_set.path(suffix)).read_bytes()
    return [events.DebugEvent.decode(payload) for _, payload in tfrecord.records(data, check=True)]


def kept() -> tuple[int, int]:
    """Return how many objects are there for graphs, and how many registered functions."""
    gc.collect()
    if dump._writer is not None:
        dump._writer.flush()  # A group outlives its graph until its last rows were taken.
        gc.collect()
    kinds = (Group, CompiledBuffer, RecordedOp)
    of_graphs = sum(isinstance(found, kinds) for found in gc.get_objects())
    return of_graphs, script_ops._py_funcs.size()


def train() -> None:
    weights = tf.Variable([2.0, 3.0])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.math.log(x * weights))
            for _ in tf.range(2):
                total *= 2.0 if total > 0.0 else 3.0
        return tape.gradient(total, weights)

    compiled = tf.function(lambda x: tf.sqrt(x) + weights, jit_compile=True)
    step(tf.ones([2]))
    compiled(tf.ones([2]))


def test_a_function_that_is_gone_leaves_nothing() -> None:
    train()  # What is registered once is there now.
    of_graphs, registered = kept()
    for _ in range(3):
        train()
    of_graphs_then, registered_then = kept()
    # The thread that writes may still hold the last one that it took.
    assert of_graphs_then <= of_graphs + 1
    assert registered_then <= registered


def test_a_graph_that_outlives_its_function_keeps_little() -> None:
    graphs: list[Any] = []

    def call() -> None:
        function = tf.function(lambda x: tf.sqrt(x) + 1.0)
        compiled = tf.function(lambda x: tf.sqrt(x) + 1.0, jit_compile=True)
        for made in (function, compiled):
            made(tf.ones([2]))
            graphs.append(made.get_concrete_function(tf.ones([2])).graph)

    call()
    before = kept()
    call()
    assert kept() <= before


def test_a_dump_that_is_over_leaves_nothing_with_functions_that_live(tmp_path: Path) -> None:
    log = tf.function(tf.math.log)
    pipeline = iter(tf.data.Dataset.range(3).map(lambda n: tf.cos(tf.cast(n, tf.float32))))
    of_datasets, _ = kept()
    arguments = str(tmp_path), "ADAPTIVE", -1
    for _ in range(2):  # It goes on in the same files.
        tfdbg_tui.enable_dump_debug_info(*arguments)
        assert float(log(0.0)) == -np.inf
        dump.disable_dump_debug_info()
    assert kept()[0] <= of_datasets + 1  # The thread that writes may still hold the last one.
    assert [float(value) for value in pipeline] == [float(tf.cos(float(n))) for n in range(3)]
    traces = records(tmp_path, filesets.GRAPH_EXECUTION_TRACES)
    found = [events.GraphExecutionTrace.decode(e.graph_execution_trace) for e in traces[1:]]
    assert [trace.op_name for trace in found].count("Log") == 2


def test_a_call_that_ends_after_the_dump_runs_on() -> None:
    def end() -> None:
        dump.disable_dump_debug_info()
        gc.collect()

    @tf.function
    def stop(x: Any) -> Any:
        tf.py_function(end, [], [])
        return tf.sqrt(x)

    @tf.function
    def around(x: Any) -> Any:
        for _ in tf.range(3):
            x = stop(x)
        return tf.math.log(x)

    assert float(around(256.0)) == float(tf.math.log(2.0))


def test_a_function_that_another_one_calls_stays(tmp_path: Path) -> None:
    @tf.function
    def outer(x: Any) -> Any:
        return tf.function(lambda y: tf.math.log(y, name="inner_log"))(x)

    outer(tf.ones([2]))
    gc.collect()
    outer(tf.ones([2]))
    traces = [
        events.GraphExecutionTrace.decode(event.graph_execution_trace)
        for event in records(tmp_path, filesets.GRAPH_EXECUTION_TRACES)
        if event.graph_execution_trace
    ]
    assert [trace.op_name for trace in traces].count("inner_log") == 2


def test_a_pipeline_outlives_its_dataset(tmp_path: Path) -> None:
    iterator = iter(tf.data.Dataset.range(3).map(lambda n: tf.math.log(tf.cast(n, tf.float32))))
    gc.collect()
    assert [bool(tf.math.is_inf(value)) for value in iterator] == [True, False, False]
    traces = records(tmp_path, filesets.GRAPH_EXECUTION_TRACES)
    found = [events.GraphExecutionTrace.decode(e.graph_execution_trace) for e in traces[1:]]
    assert [trace.op_name for trace in found].count("Log") == 3


def test_a_pipeline_that_only_tensorflow_has_runs_and_is_told_of(tmp_path: Path) -> None:
    def variant() -> Any:
        dataset = tf.data.Dataset.range(3).map(lambda n: tf.math.log(tf.cast(n, tf.float32)))
        return tf.data.experimental.to_variant(dataset)

    alone = variant()
    kept()
    dataset = tf.data.experimental.from_variant(alone, tf.TensorSpec([], tf.float32))
    assert [bool(tf.math.is_inf(value)) for value in dataset] == [True, False, False]
    omissions = [event.omission for event in records(tmp_path, filesets.METADATA) if event.omission]
    (omission,) = map(events.Omission.decode, omissions)
    assert "the program has deleted it" in omission.reason
