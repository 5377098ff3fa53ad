"""The dump writer in a living program: its interface, what it completes, and what goes wrong."""

from __future__ import annotations

import _thread
import contextlib
import gc
import inspect
import logging
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.dump.tensorflow import graph_state, private  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402
from tfdbg_tui.wire import codec, events, filesets, omissions, tfrecord  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.preloaded import Preloaded
    from tfdbg_tui.dump.writer import DumpWriter
    from tfdbg_tui.wire.message import Message


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    dump.disable_dump_debug_info()


@contextlib.contextmanager
def dumping(
    root: Path, mode: str = "CONCISE_HEALTH", size: int = -1, **extra: Any
) -> Iterator[DumpWriter]:
    handle = tfdbg_tui.enable_dump_debug_info(str(root), mode, size, **extra)
    yield handle
    tfdbg_tui.disable_dump_debug_info()


def messages(root: Path, suffix: str, kind: type[Message], field: str) -> list[Any]:
    """Return (event, message) of every record of one file that holds the message."""
    (file_set,) = filesets.find_file_sets(str(root))
    data = Path(file_set.path(suffix)).read_bytes()
    decoded = [events.DebugEvent.decode(p) for _, p in tfrecord.records(data, check=True)]
    return [(e, kind.decode(getattr(e, field))) for e in decoded if getattr(e, field)]


def traces(root: Path) -> list[Any]:
    suffix = filesets.GRAPH_EXECUTION_TRACES
    return messages(root, suffix, events.GraphExecutionTrace, "graph_execution_trace")


def executions(root: Path) -> list[Any]:
    return messages(root, filesets.EXECUTION, events.Execution, "execution")


def graph_ops(root: Path) -> dict[tuple[str, str], Any]:
    found = messages(root, filesets.GRAPHS, events.GraphOpCreation, "graph_op_creation")
    return {(op.graph_id, op.op_name): op for _, op in found}


def log_function(**options: Any) -> Any:
    return tf.function(lambda x: tf.math.log(x), autograph=False, **options)


# ---- The interface -----------------------------------------------------------------------------


def test_errors_are_those_of_tensorflow(tmp_path: Path) -> None:
    enable = tfdbg_tui.enable_dump_debug_info
    with pytest.raises(ValueError, match="Invalid value in tensor_debug_mode"):
        enable(str(tmp_path), "NONSENSE")
    with pytest.raises(NotImplementedError, match="FULL_NUMERICS"):
        enable(str(tmp_path), "FULL_NUMERICS")
    with pytest.raises(ValueError, match="tensor_dtypes is expected to be"):
        enable(str(tmp_path), tensor_dtypes="float32")
    with pytest.raises(ValueError, match="every"):
        enable(str(tmp_path), every=0)
    with pytest.raises(ValueError, match="steps is the first and the last"):
        enable(str(tmp_path), steps="9..3")
    handle = enable(str(tmp_path), "SHAPE", 10)
    assert enable(str(tmp_path), "SHAPE", 10) is handle
    with pytest.raises(ValueError, match="different circular-buffer size"):
        enable(str(tmp_path), "SHAPE", 11)
    with pytest.raises(ValueError, match="different tensor-debug mode"):
        enable(str(tmp_path), "NO_TENSOR", 10)


def test_functions_of_tensorflow_are_called_what_they_were(tmp_path: Path) -> None:
    def described() -> tuple[Any, ...]:
        function = tf.Tensor.set_shape
        return (
            function.__module__,
            function.__qualname__,
            function.__doc__,
            inspect.signature(function),
        )

    plain = described()
    with dumping(tmp_path):
        assert described() == plain


def test_another_directory_replaces_the_first(tmp_path: Path) -> None:
    function = log_function()
    for name in ("first", "second"):
        tfdbg_tui.enable_dump_debug_info(str(tmp_path / name), "CONCISE_HEALTH", -1)
        function(tf.ones([2]))
    tfdbg_tui.disable_dump_debug_info()
    for name in ("first", "second"):
        assert [t.op_name for _, t in traces(tmp_path / name)] == ["x", "Log"]


def test_disabled_functions_still_work_and_enabling_goes_on(tmp_path: Path) -> None:
    function = log_function()
    for calls in (1, 2):
        with dumping(tmp_path):
            function(tf.ones([2]))
        assert function(tf.ones([2])).numpy().tolist() == [0.0, 0.0]
        assert tf.add(1, 2).numpy() == 3
        assert len(traces(tmp_path)) == 2 * calls
    reader = oracle.open_reader(str(tmp_path))
    assert sum(oracle.traces(reader).values()) == 4
    (metadata,) = tmp_path.glob("*.metadata")
    said = [events.DebugEvent.decode(r) for _, r in tfrecord.records(metadata.read_bytes())]
    ended = [
        events.DebugMetadata.decode(event.debug_metadata).ended
        if event.debug_metadata
        else events.Omission.decode(event.omission).kind
        for event in said
    ]
    assert ended == [0, 1, 0, omissions.PAUSED, omissions.RESUMED, 1]
    (file_set,) = filesets.find_file_sets(str(tmp_path))
    sizes = [os.path.getsize(file_set.path(suffix)) for suffix in filesets.SUFFIXES[1:]]
    assert events.DebugMetadata.decode(said[-1].debug_metadata).file_sizes == sizes


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks Linux")
def test_many_dumps_in_one_process_do_not_use_up_its_files(tmp_path: Path) -> None:
    def open_files() -> int:
        links = [Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
        return sum(os.path.realpath(link).startswith(str(tmp_path)) for link in links)

    for number in range(20):
        with dumping(tmp_path / str(number)):
            tf.math.exp(1.0)
    assert open_files() <= 8 * 6
    assert all(len(executions(tmp_path / str(number))) == 1 for number in range(20))


def test_filters(tmp_path: Path) -> None:
    with dumping(tmp_path, op_regex="^Log$", tensor_dtypes=["float32"]):
        log_function()(tf.ones([2]))
        log_function()(tf.ones([2], tf.float64))
    assert [t.op_name for _, t in traces(tmp_path)] == ["Log"]


def test_sampling_records_one_step_in_k(tmp_path: Path) -> None:
    function = log_function()
    with dumping(tmp_path, every=3):
        for number in range(7):
            with tfdbg_tui.step(number):
                function(tf.ones([2]) * 2.0)
    assert sorted({e.step for e, _ in traces(tmp_path)}) == [0, 3, 6]
    assert sorted({e.step for e, _ in executions(tmp_path)}) == [0, 3, 6]


def test_steps_from_the_first_to_the_last_one_are_recorded(tmp_path: Path) -> None:
    function = log_function()
    with dumping(tmp_path, "ADAPTIVE", steps="20..22"):
        for number in range(30):
            with tfdbg_tui.step(number):
                function(tf.ones([2]) * 2.0)
            tf.sin(1.0)  # like the validation between two epochs
    run = open_run(tmp_path)
    assert sum(e.op_type == "Sin" for e in run.executions) == 3
    measured = run.graph_executions.magnitudes().executions
    assert sorted({e.step for e, _ in traces(tmp_path)}) == [20, 21, 22]
    assert set(run.executions.steps.numbers_of(measured).tolist()) == {20, 21, 22}
    assert run.files.filters == ("steps=20..22",)


@pytest.mark.parametrize("marked", [True, False])
def test_steps_of_a_program_that_marks_none_are_told_to_leave_nothing_out(
    tmp_path: Path, marked: bool
) -> None:
    function = log_function()
    with dumping(tmp_path, "ADAPTIVE", steps="2..3"):
        for number in range(6):
            with tfdbg_tui.step(number) if marked else contextlib.nullcontext():
                function(tf.ones([2]) * 2.0)
    gaps = " ".join(gap.text for gap in diagnose(open_run(tmp_path)).gaps)
    assert "The dump was filtered (steps=2..3)" in gaps
    assert ("No record is of a marked step" in gaps) == (not marked)


def test_steps_that_never_come_leave_all_out(tmp_path: Path) -> None:
    with dumping(tmp_path, "ADAPTIVE", steps="100..110"):
        tf.cos(1.0)  # Whether steps are marked is not known yet.
        for number in range(6):
            with tfdbg_tui.step(number):
                tf.sin(1.0)
            tf.sin(1.0)
    run = open_run(tmp_path)
    assert [e.op_type for e in run.executions] == ["Cos"]
    gaps = " ".join(gap.text for gap in diagnose(run).gaps)
    assert "No record is of a marked step: none of these came" in gaps


def test_circular_buffer_keeps_the_last_and_flush_makes_it_permanent(tmp_path: Path) -> None:
    with dumping(tmp_path, size=5) as handle:
        for number in range(50):
            with tfdbg_tui.step(number):
                tf.add(1.0, 2.0)
        handle.flush()
        for number in range(50, 150):
            with tfdbg_tui.step(number):
                tf.add(1.0, 2.0)
    steps = [e.step for e, _ in executions(tmp_path)]
    assert steps == [*range(45, 50), *range(145, 150)]


def test_flight_recorder_freezes_around_the_first_bad_tensor(tmp_path: Path) -> None:
    with dumping(tmp_path, size=10, keep_after_bad=3):
        for number in range(30):
            with tfdbg_tui.step(number):
                tf.math.divide(1.0, 0.0 if number == 15 else 1.0)
    steps = [e.step for e, _ in executions(tmp_path)]
    assert len(steps) == 10
    assert steps[-1] == 18
    assert 15 in steps


def test_on_bad_raises_with_op_counts_and_line(tmp_path: Path) -> None:
    function = tf.function(lambda x: tf.reduce_sum(tf.math.log(x)), autograph=False)
    with dumping(tmp_path, on_bad="raise"):
        with pytest.raises(dump.BadTensorError, match=r"Log .*1 -∞ of 2.*test_writer\.py"):
            function(tf.constant([0.0, 1.0]))
        with pytest.raises(dump.BadTensorError, match=r"Log .*1 NaN of 1"):
            tf.math.log(-1.0)
        assert function(tf.ones([2])).numpy() == 0.0
        with pytest.raises(dump.BadTensorError, match=r"^LRN \(output 0\) has 4 NaN"):
            tf.nn.lrn(np.full([1, 1, 1, 4], np.nan, np.float32))
    report = diagnose(open_run(str(tmp_path)))
    assert {gap.kind for gap in report.gaps} >= {omissions.RAISED}


def test_on_bad_waits_for_what_the_function_makes_of_it(tmp_path: Path) -> None:
    kept = tf.Variable(0.0)
    bounded = tf.function(lambda x: tf.minimum(tf.math.rsqrt(x), 100.0), autograph=False)
    keeping = tf.function(lambda x: kept.assign(tf.math.rsqrt(x)) * 0.0 + 1.0, autograph=False)
    with dumping(tmp_path, on_bad="raise"):
        assert bounded(tf.constant(0.0)).numpy() == 100.0
        with pytest.raises(dump.BadTensorError, match="Rsqrt"):
            keeping(tf.constant(0.0))


# ---- Completeness ------------------------------------------------------------------------------


def test_adaptive_puts_the_inputs_of_a_bad_op_on_record(tmp_path: Path) -> None:
    with dumping(tmp_path, "ADAPTIVE"):
        log_function()(tf.constant([0.0, 2.0, 8.0]))
    found = {t.op_name: t for _, t in traces(tmp_path)}
    vector = np.frombuffer(events.TensorProto.decode(found["x"].tensor_proto).tensor_content)
    assert vector[5:].tolist() == [0, 0, 0, 0, 1, 2]  # no -∞, +∞, NaN, negative; 1 zero
    assert codec.to_double(found["x"].maximum_bits) == 8.0
    vector = np.frombuffer(events.TensorProto.decode(found["Log"].tensor_proto).tensor_content)
    assert vector[5] == 1


@pytest.mark.parametrize("mode", ["CONCISE_HEALTH", "FULL_HEALTH", "ADAPTIVE"])
def test_the_inputs_of_a_bad_eager_op_are_on_record(tmp_path: Path, mode: str) -> None:
    variable = tf.Variable([0.0, 5.0])
    with dumping(tmp_path, mode):
        tf.math.log(variable)  # that it reads the variable is nowhere on record
        tf.math.log(variable + 1.0)
    bad, good = [e for _, e in executions(tmp_path) if e.op_type == "Log"]
    assert good.input_tensor_protos == []
    (proto,) = bad.input_tensor_protos
    assert np.frombuffer(events.TensorProto.decode(proto).tensor_content)[9] == 1
    assert bad.input_maxima == [5.0]


def test_a_bad_tensor_is_described_in_full_as_long_as_it_tells_something_new(
    tmp_path: Path,
) -> None:
    function = log_function()
    same, other = tf.constant([0.0, -1.0, 2.0]), tf.constant([0.0, np.nan, 2.0])
    with dumping(tmp_path, "ADAPTIVE"):
        for x in (*[same] * 12, other):
            function(x)
            tf.math.log(x)
    in_graph = [t for _, t in traces(tmp_path) if t.op_name == "Log"]
    in_python = [e for _, e in executions(tmp_path) if e.op_type == "Log"]
    full, concise = TensorDebugMode.FULL_HEALTH, TensorDebugMode.CONCISE_HEALTH
    for records in (in_graph, in_python):
        modes = [record.tensor_debug_mode for record in records]
        assert modes == [full] * 10 + [concise] * 2 + [full]  # NaN comes in: that is new
    vectors = [t.tensor_proto for t in in_graph] + [e.tensor_protos[0] for e in in_python]
    counts = [np.frombuffer(events.TensorProto.decode(v).tensor_content)[1:] for v in vectors]
    assert all(c.tolist() == [3, 1, 0, 1] for c in counts if len(c) == 4)  # size, -∞, +∞, NaN


def test_adaptive_records_a_bad_tensor_once_and_in_its_place(tmp_path: Path) -> None:
    @tf.function
    def far_from_the_log(x: Any) -> Any:
        flat = tf.reshape(tf.math.log(x), [-1])  # The same elements, not scanned again.
        y = x
        for _ in range(80):  # More than one group of tensors.
            y = y + x
        return flat * y * x

    with dumping(tmp_path, "ADAPTIVE"):
        far_from_the_log(tf.constant([0.0, 2.0]))
    names = [t.op_name for _, t in traces(tmp_path)]
    created = ["x", "Log", "Reshape/shape", "Reshape", "add"]
    assert [name for name in names if name in created] == [n for n in created if n in names]
    assert [names.count(name) for name in ("Log", "Reshape", "mul", "mul_1")] == [1, 1, 1, 1]


def test_traces_name_their_execution_step_and_iteration(tmp_path: Path) -> None:
    @tf.function
    def loop(x: Any) -> Any:
        for _ in tf.range(3):
            x = x * 2.0
        return x

    with dumping(tmp_path), tfdbg_tui.step(7):
        loop(tf.ones([2]))
        loop(tf.ones([2]))
    calls = [e.serial for _, e in executions(tmp_path) if e.graph_id]
    found = traces(tmp_path)
    assert {t.execution_serial for _, t in found} == set(calls)
    assert {e.step for e, _ in found} == {7}
    rows = [t.iteration for _, t in found if t.op_name == "while/mul"]
    assert rows == [0, 1, 2, 0, 1, 2]


def test_dataflow_crosses_calls_and_the_backward_pass_is_there(tmp_path: Path) -> None:
    weights = tf.Variable(tf.ones([3, 2]))
    inner = tf.function(lambda x: tf.matmul(x, weights), autograph=False)
    outer = tf.function(lambda x: tf.reduce_sum(tf.math.log(inner(x))), autograph=False)
    with dumping(tmp_path):
        with tf.GradientTape() as tape:
            value = outer(tf.ones([2, 3]))
        tape.gradient(value, weights)
    ops = graph_ops(tmp_path)
    signatures = [
        s for _, s in messages(tmp_path, filesets.GRAPHS, events.GraphSignature, "graph_signature")
    ]
    by_graph = {s.graph_id: s for s in signatures}
    calls = [op for op in ops.values() if op.op_type.endswith("PartitionedCall")]
    assert calls
    for call in calls:
        (called,) = call.called_graph_ids
        assert len(call.input_names) == len(by_graph[called].input_names)
    backward = [s for s in signatures if s.forward_graph_id]
    recorded = {t.tfdbg_context_id for _, t in traces(tmp_path)}
    assert recorded <= set(by_graph)
    assert len({s.graph_id for s in backward} & recorded) == 2
    for _, trace in traces(tmp_path):
        op = ops[trace.tfdbg_context_id, trace.op_name]
        content = events.TensorProto.decode(trace.tensor_proto).tensor_content
        assert np.frombuffer(content)[0] == op.output_tensor_ids[trace.output_slot]


def test_function_that_raises_leaves_its_execution_and_what_came_before(tmp_path: Path) -> None:
    @tf.function
    def checked(x: Any) -> Any:
        y = tf.math.log(x)
        return tf.debugging.check_numerics(y, "bad y") * 2.0

    with dumping(tmp_path), pytest.raises(tf.errors.InvalidArgumentError):
        checked(tf.zeros([2]))
    (failed,) = [e for _, e in executions(tmp_path) if e.error]
    assert "bad y" in failed.error
    found = [(t.op_name, t.execution_serial) for _, t in traces(tmp_path)]
    assert ("Log", failed.serial) in found


def test_all_threads_and_functions_traced_before(tmp_path: Path) -> None:
    function = log_function()
    function(tf.ones([2]))
    started, enabled = threading.Event(), threading.Event()

    def early() -> None:
        tf.add(1.0, 1.0)
        started.set()
        enabled.wait()
        function(tf.ones([2]))

    running = threading.Thread(target=early)
    running.start()
    started.wait()
    with dumping(tmp_path):
        enabled.set()
        running.join()
        late = threading.Thread(target=lambda: tf.add(function(tf.ones([2])), 1.0))
        late.start()
        late.join()
    calls = [e for _, e in executions(tmp_path) if e.graph_id]
    assert len(calls) == 2
    assert len({e.thread for e in calls}) == 2
    assert len(traces(tmp_path)) == 4
    assert [e.op_type for _, e in executions(tmp_path)].count("AddV2") == 1


def test_eager_ops_of_threads_that_threading_has_not_started(tmp_path: Path) -> None:
    given, done = [], threading.Event()

    def work(number: float, *, name: str) -> None:
        given.append((float(tf.math.log(number)), name))
        done.set()

    with dumping(tmp_path):
        tf.add(1.0, 1.0)
        _thread.start_new_thread(work, (1.0,), {"name": "work"})
        assert done.wait(60)
        with pytest.raises(TypeError):
            _thread.start_new_thread(None, ())
    assert given == [(0.0, "work")]
    assert [e.op_type for _, e in executions(tmp_path)].count("Log") == 1


@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_threads_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collects: bool
) -> None:
    """Python 3.11 would wait forever where a collection deletes what another thread uses."""
    list_threads, collected = sys._current_frames, []

    def listed() -> Any:
        collected.append(gc.isenabled())
        return list_threads()

    monkeypatch.setattr(sys, "_current_frames", listed)
    if not collects:
        gc.disable()
    try:
        with dumping(tmp_path):
            assert gc.isenabled() is collects
    finally:
        gc.enable()
    assert set(collected) == {False}


@pytest.mark.parametrize("first", ["main", "other"])
def test_eager_ops_of_threads_that_run_before_there_is_a_context(
    tmp_path: Path, preloaded: Preloaded, first: str
) -> None:
    """Whichever thread makes it, both are watched, though they call nothing but eager ops."""
    result = preloaded.run(THREADS, tmp_path, first)
    assert result.returncode == 0, result.stderr
    found = open_run(tmp_path).executions
    assert sorted(e.op_type for e in found if e.op_type in ("Log", "Sqrt")) == ["Log", "Sqrt"]
    assert "InvalidArgumentError" in result.stderr
    assert "eager_hooks" not in result.stderr


THREADS = """
import sys, threading, traceback
import tensorflow as tf
import tfdbg_tui

to_run, has_run = threading.Event(), threading.Event()


def other():
    to_run.wait()
    tf.math.sqrt(2.0)
    has_run.set()


threading.Thread(target=other).start()
idle = threading.Event()
threading.Thread(target=idle.wait).start()
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "NO_TENSOR", -1)
if sys.argv[2] == "other":
    to_run.set()
    has_run.wait()
tf.math.log(1.0)
to_run.set()
has_run.wait()
try:
    tf.zeros([2]) + tf.zeros([3])
except tf.errors.InvalidArgumentError:
    traceback.print_exc()
tfdbg_tui.disable_dump_debug_info()
idle.set()
"""


def test_no_thread_of_ours_is_awaited(tmp_path: Path, preloaded: Preloaded) -> None:
    """Where none is, TensorFlow executes an eager op without Python."""
    result = preloaded.run(ALONE, tmp_path)
    assert (result.returncode, result.stdout) == (0, "True\n"), result.stderr


ALONE = """
import inspect, sys
import tensorflow as tf
from tensorflow.python import pywrap_tfe
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
tf.function(tf.math.log)(tf.math.sqrt(1.0))
print(inspect.isbuiltin(pywrap_tfe.TFE_Py_FastPathExecute))
"""


def test_eager_ops_of_python_functions_that_graphs_call(tmp_path: Path) -> None:
    def generate() -> Iterator[Any]:
        yield tf.math.asin(tf.constant(2.0))

    def fail(_: Any) -> Any:
        raise ValueError("mine")

    with dumping(tmp_path):
        tf.function(lambda x: tf.py_function(tf.math.log, [x], tf.float32))(0.0)
        signature = tf.TensorSpec([], tf.float32)
        list(tf.data.Dataset.from_generator(generate, output_signature=signature))
        with pytest.raises(tf.errors.InvalidArgumentError, match="mine") as raised:
            tf.function(lambda x: tf.py_function(fail, [x], tf.float32))(0.0)
    assert {"Log", "Asin"} <= {e.op_type for _, e in executions(tmp_path)}
    assert "tfdbg_tui" not in str(raised.value)


def test_cancelable_execution_is_recorded(tmp_path: Path) -> None:
    from tensorflow.python.eager import cancellation

    function = log_function()
    with dumping(tmp_path):
        manager = cancellation.CancellationManager()
        cancelable = manager.get_cancelable_function(function.get_concrete_function(tf.ones([2])))
        cancelable(tf.ones([2]))
    assert [e for _, e in executions(tmp_path) if e.graph_id]


def test_complex_nan(tmp_path: Path) -> None:
    with dumping(tmp_path, "FULL_HEALTH"):
        value = tf.complex([1.0, 0.0, float("nan")], [0.0, 0.0, 1.0])
        tf.function(lambda x: x * 1.0, autograph=False)(value)
    (trace,) = [t for _, t in traces(tmp_path) if t.op_name == "mul"]
    vector = np.frombuffer(events.TensorProto.decode(trace.tensor_proto).tensor_content)
    assert vector[4:].tolist() == [3, 0, 0, 1, 0, 1, 1]


# ---- Environments ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["NO_TENSOR", "SHAPE", "ADAPTIVE", "FULL_HEALTH", "FULL_TENSOR"])
def test_functions_that_xla_compiles(tmp_path: Path, mode: str) -> None:
    def program(x: Any) -> Any:
        y = tf.math.log(x)
        for _ in tf.range(2):
            y = y * 2.0
        return y

    plain = tf.function(program, jit_compile=True)(tf.constant([0.0, -1.0, 3.0]))
    with dumping(tmp_path, mode):
        function = tf.function(program, jit_compile=True)
        dumped = function(tf.constant([0.0, -1.0, 3.0]))
    np.testing.assert_array_equal(plain, dumped)
    found = {(t.op_name, t.iteration): t for _, t in traces(tmp_path)}
    assert {("Log", None), ("while/mul", 0), ("while/mul", 1)} <= set(found)
    vector = np.frombuffer(
        events.TensorProto.decode(found["Log", None].tensor_proto).tensor_content
    )
    expected = {
        "NO_TENSOR": [],
        "SHAPE": [1, 1, 3, 3, 0, 0, 0, 0, 0],
        "ADAPTIVE": [3, 1, 0, 1],
        "FULL_HEALTH": [-1, 1, 1, 3, 1, 0, 1, 0, 0, 1],
        "FULL_TENSOR": [3, 1, 0, 1],  # XLA gives no tensors away, only their counts
    }
    assert vector[1:].tolist() == expected[mode]
    assert sum(oracle.traces(oracle.open_reader(str(tmp_path))).values()) == len(traces(tmp_path))


@pytest.mark.parametrize(("mode", "columns"), [("CONCISE_HEALTH", 1), ("FULL_HEALTH", 4)])
def test_xla_counts_tensors_of_one_shape_together_and_copies_once(
    tmp_path: Path, mode: str, columns: int
) -> None:
    def program(small: Any, large: Any) -> Any:
        a = tf.math.log(small, name="a")
        b = tf.math.log(large, name="b")
        c = tf.math.negative(a, name="c")
        d = tf.math.negative(b, name="d")
        e = tf.reshape(b, [2, 5003], name="e")
        f = tf.constant([np.inf, 1.0], name="f")
        return tf.reduce_sum(c) + tf.reduce_sum(d) + tf.reduce_sum(e, 1) * f

    large = np.ones([5003, 2], np.float32)
    large[:3000, 0] = 0
    large[3000:, 1] = -1
    with dumping(tmp_path, mode):
        tf.function(program, jit_compile=True)(tf.constant([0.0, -1.0, 3.0]), large)
    found = {
        t.op_name: np.frombuffer(events.TensorProto.decode(t.tensor_proto).tensor_content)
        for _, t in traces(tmp_path)
    }
    assert {name: found[name][columns : columns + 4].tolist() for name in "abcdef"} == {
        "a": [3, 1, 0, 1],
        "b": [10006, 3000, 0, 2003],
        "c": [3, 0, 1, 1],
        "d": [10006, 0, 3000, 2003],
        "e": [10006, 3000, 0, 2003],
        "f": [2, 0, 1, 0],
    }


def test_the_first_bad_run_of_what_xla_compiles_is_on_record(tmp_path: Path) -> None:
    """The loop runs more often than there is room for, and its function three times in a call."""

    @tf.function(jit_compile=True)
    def compiled(x: Any) -> Any:
        for j in tf.range(150):
            x = tf.sqrt(x + 5.0 - tf.where(tf.equal(j, 100), 50.0, 0.0))
        return x

    @tf.function
    def outer(x: Any) -> Any:
        for _ in tf.range(3):
            x = compiled(x) + 1.0
        return x

    with dumping(tmp_path, "ADAPTIVE"):
        outer(tf.constant([1.0, 2.0]))
    found = [t.iteration for _, t in traces(tmp_path) if t.op_name == "while/Sqrt"]
    assert sorted(found) == list(range(86, 150))
    (root,) = tfdbg_tui.diagnose(tfdbg_tui.open_run(str(tmp_path))).roots
    assert (root.op_type, root.certainty) == ("Sqrt", "proved")


def test_xla_compiles_what_computes_nothing_but_constants(tmp_path: Path) -> None:
    with dumping(tmp_path, "CONCISE_HEALTH"):
        tf.function(lambda: tf.reshape(tf.constant([1.0, np.nan]), [2, 1]), jit_compile=True)()
    vectors = [
        np.frombuffer(events.TensorProto.decode(t.tensor_proto).tensor_content)[1:].tolist()
        for _, t in traces(tmp_path)
    ]
    assert vectors == [[2, 0, 0, 1]] * 2


def test_xla_compiles_in_spite_of_a_wrong_shape(tmp_path: Path) -> None:
    def program(x: Any) -> Any:
        x.set_shape([3])
        return tf.math.log(x) + tf.sin(x)

    with dumping(tmp_path, "CONCISE_HEALTH"):
        signature = [tf.TensorSpec(None)]
        tf.function(program, jit_compile=True, input_signature=signature)(tf.zeros([2, 2]))
    found = {
        t.op_name: np.frombuffer(events.TensorProto.decode(t.tensor_proto).tensor_content)
        for _, t in traces(tmp_path)
    }
    assert found["Log"][1:].tolist() == [4, 4, 0, 0]


def test_a_wrong_shape_is_doubted_in_its_own_function_only(tmp_path: Path) -> None:
    def program(x: Any) -> Any:
        x.set_shape([3])
        return tf.math.log(x)

    with dumping(tmp_path):
        signature = [tf.TensorSpec(None)]
        doubtful = tf.function(program, input_signature=signature).get_concrete_function()
        other = tf.function(tf.math.log).get_concrete_function(tf.TensorSpec([3]))
    assert graph_state.are_shapes_doubtful(doubtful.graph)
    assert not graph_state.are_shapes_doubtful(other.graph)


def test_an_error_in_a_thread_shows_no_frame_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", caught.append)
    with dumping(tmp_path):
        thread = threading.Thread(target=lambda: tf.math.log(0.0) / None)
        thread.start()
        thread.join()
    names = [frame.filename for frame in traceback.extract_tb(caught[0].exc_traceback)]
    assert not [name for name in names if name.startswith(os.path.dirname(dump.__file__))]
    assert [execution.op_type for execution in open_run(tmp_path).executions][-1] == "Log"


def test_exporting_while_dumping(tmp_path: Path) -> None:
    class Exported(tf.Module):  # type: ignore[name-defined]
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x: Any) -> Any:
            return tf.math.log(x)

    with dumping(tmp_path / "dump"):
        tf.saved_model.save(Exported(), str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert loaded(tf.constant([1.0])).numpy() == [0.0]


def test_keras_fit_eager_jit_and_mixed_precision(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    x = np.ones((8, 3), np.float32)
    with dumping(tmp_path, "ADAPTIVE"):
        for policy, options in (
            ("float32", {"run_eagerly": True}),
            ("float32", {"jit_compile": True}),
            ("mixed_bfloat16", {"jit_compile": False}),
        ):
            dense = keras.layers.Dense(2, dtype=policy)
            model = keras.Sequential([dense, keras.layers.Dense(1, dtype="float32")])
            model.compile("sgd", "mse", **options)
            callback = dump.StepCallback(first=100)
            model.fit(x, x[:, :1], batch_size=4, verbose=0, callbacks=[callback])
    assert {100, 101} <= {e.step for e, _ in traces(tmp_path)}
    ops = graph_ops(tmp_path)
    sites = [ops[t.tfdbg_context_id, t.op_name] for _, t in traces(tmp_path)]
    assert 14 in {dtype for op in sites for dtype in op.output_dtypes}  # bfloat16
    assert sum(oracle.traces(oracle.open_reader(str(tmp_path))).values()) == len(sites)


def test_mirrored_strategy(tmp_path: Path) -> None:
    with contextlib.suppress(RuntimeError):  # The devices may be initialized already.
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
    devices = [f"/cpu:{i}" for i in range(len(tf.config.list_logical_devices("CPU")))]
    strategy = tf.distribute.MirroredStrategy(devices)

    @tf.function
    def train() -> Any:
        return strategy.run(lambda: tf.math.log(tf.constant([0.0, 1.0]) * 1.0))

    with dumping(tmp_path):
        train()
    found = {t.device_name for _, t in traces(tmp_path) if "Log" in t.op_name}
    assert len(found) == len(devices)


def test_tensorflow_1_session(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with dumping(tmp_path), tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        unfed = v1.placeholder(tf.float32, []) * 2.0
        y = tf.math.log(x)
        with v1.Session() as session:
            assert session.run({"y": y}, {x: [1.0]})["y"].tolist() == [0.0]
            session.run(y, {x: [0.0]})
            assert session.run(unfed, {unfed.op.inputs[0]: 2.0}) == 4.0
            sparse = v1.sparse_placeholder(tf.float32)
            session.run(tf.sparse.reduce_sum(sparse), {sparse: ([[0]], [1.0], [1])})
            session.run(tf.cond(x[0] > -1.0, lambda: tf.sin(x), lambda: x), {x: [0.0]})
    names = [t.op_name for _, t in traces(tmp_path)]
    assert names.count("Log") == 2
    assert names.count("Sin") == 1
    assert names.count("Placeholder") == 3
    assert sum(oracle.traces(oracle.open_reader(str(tmp_path))).values()) == len(names)


SESSION_BEFORE_EAGER_OPS = """
import sys
import tensorflow as tf
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    session.run(tf.sin(tf.ones([2])))
with tf.device("/GPU:7"):
    print(tf.sqrt(4.0).numpy())
"""


def test_a_session_leaves_eager_ops_their_soft_placement(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    """TensorFlow has it only where an eager op starts its context, which a session does not."""
    result = preloaded.run(SESSION_BEFORE_EAGER_OPS, tmp_path, directory=tmp_path)
    assert (result.returncode, result.stdout) == (0, "2.0\n"), result.stderr


def test_dataset_functions(tmp_path: Path) -> None:
    with dumping(tmp_path):
        data = tf.data.Dataset.range(4).map(lambda i: tf.math.log(tf.cast(i, tf.float32)))
        assert len(list(data.batch(2).prefetch(1))) == 2
    assert [t.op_name for _, t in traces(tmp_path)].count("Log") == 4


def test_tensorboard_reads_it(tmp_path: Path) -> None:
    provider = pytest.importorskip("tensorboard.plugins.debugger_v2.debug_data_multiplexer")
    with dumping(tmp_path, "CONCISE_HEALTH"):
        log_function()(tf.constant([0.0, 1.0]))
    multiplexer = provider.DebuggerV2EventMultiplexer(str(tmp_path))
    (run,) = multiplexer.Runs()
    for _ in range(100):
        if len(multiplexer.Alerts(run, 0, -1)["alerts"]) == 2:
            break
        threading.Event().wait(0.1)
    assert len(multiplexer.Alerts(run, 0, -1)["alerts"]) == 2
    assert multiplexer.ExecutionDigests(run, 0, -1)["num_digests"] == len(executions(tmp_path))
    data = multiplexer.ExecutionData(run, 0, 1)["executions"][0]
    frames = multiplexer.StackFrames(run, data["stack_frame_ids"])["stack_frames"]
    assert any(frame[1] == __file__ for frame in frames)
    files = multiplexer.SourceFileList(run)
    index = next(i for i, (_, path) in enumerate(files) if path == __file__)
    assert multiplexer.SourceLines(run, index)["lines"] == Path(__file__).read_text().split("\n")


# ---- Errors ------------------------------------------------------------------------------------


def test_relative_directory_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with dumping(Path("dump"), size=2) as handle:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        for value in range(6):
            tf.math.exp(float(value))
            handle._recorder._guarded(handle._recorder._drain)
    assert len(executions(tmp_path / "dump")) == 2


def test_code_without_a_readable_place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    call: dict[str, Any] = {}
    exec(compile("def call(f): return f()", os.fsdecode(b"/not-utf-8-\xff.py"), "exec"), call)
    before = os.getcwd()
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    try:
        os.rmdir(tmp_path / "gone")
        exec(compile("def here(f): return f()", "relative.py", "exec"), call)
        with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path / "dump"):
            for name in ("call", "here"):
                call[name](lambda: tf.math.exp(1.0))
                call[name](lambda: log_function()(tf.ones([])))
    finally:
        os.chdir(before)
    assert not caplog.records
    assert len(executions(tmp_path / "dump")) == 6
    assert len(traces(tmp_path / "dump")) == 4


def test_more_dimensions_than_numpy_has(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    @tf.function
    def deep(x: Any) -> Any:
        return tf.math.log(tf.reshape(tf.math.log(x), [1] * 70), name="deep")

    with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path, "ADAPTIVE"):
        deep(tf.zeros([]))
    assert not caplog.records
    assert [t.op_name for _, t in traces(tmp_path)] == ["x", "Log"]
    assert len(executions(tmp_path)) == 2


def test_unwritable_directory_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path / "file" / "root"):
        assert log_function()(tf.ones([2])).numpy().tolist() == [0.0, 0.0]
    assert len(caplog.records) == 1
    assert "dumping is off" in caplog.text


def test_full_disk_turns_the_dump_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfdbg_tui.dump.record import files

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    function = log_function()
    with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path) as handle:
        function(tf.ones([2]))
        handle.flush()
        monkeypatch.setattr(files.FramedFile, "write_all", full)
        for _ in range(3):
            function(tf.ones([2]))
            handle.flush()
    assert [r.getMessage() for r in caplog.records if "No space left" in r.getMessage()]
    assert len(caplog.records) == 1
    assert len(traces(tmp_path)) == 2


@pytest.mark.parametrize(
    "place",
    [
        "observe.eager.EagerExecutions._record",
        "observe.graph_executions.GraphExecutions.add_rows",
        "encode.elements.Layout.counts",
    ],
)
def test_an_error_of_the_writer_never_reaches_the_program(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(f"tfdbg_tui.dump.{place}", broken)
    with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path):
        assert tf.add(1.0, 2.0).numpy() == 3.0
        assert log_function()(tf.zeros([1])).numpy() == -np.inf
    assert len(caplog.records) == 1


def test_missing_hooks_fall_back_to_tensorflow(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "missing", lambda: "from_func_graph is gone")
    with caplog.at_level(logging.WARNING, "tfdbg_tui"):
        tfdbg_tui.enable_dump_debug_info(
            str(tmp_path), "ADAPTIVE", -1, layers="encoder*", on_bad="raise"
        )
    tf.add(1.0, 2.0)
    tfdbg_tui.disable_dump_debug_info()
    assert "from_func_graph is gone" in caplog.text
    assert "is used instead, without layers, on_bad" in caplog.text
    assert [d.op_type for d in oracle.open_reader(str(tmp_path)).executions()] == ["AddV2"]


def test_where_tensorflow_has_to_write_an_unwritable_directory_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "missing", lambda: "from_func_graph is gone")
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, "tfdbg_tui"), dumping(tmp_path / "file" / "root"):
        assert tf.add(1.0, 2.0).numpy() == 3.0
    assert [record.getMessage() for record in caplog.records] == [
        f"tfdbg-tui: cannot write to {tmp_path / 'file' / 'root'} (Not a directory); "
        "dumping is off, the program goes on"
    ]


def test_a_forked_child_leaves_the_files_alone(tmp_path: Path) -> None:
    with dumping(tmp_path):
        tf.add(1.0, 2.0)
        pid = os.fork()
        if not pid:
            os._exit(1 if dump._writer is not None and dump._writer.active else 0)
        assert os.waitpid(pid, 0)[1] == 0
        tf.add(1.0, 2.0)
    assert [e.op_type for _, e in executions(tmp_path)] == ["AddV2", "AddV2"]
