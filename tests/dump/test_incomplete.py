"""Whatever is not on record is told in the logdir, and nobody calls the run clean."""

from __future__ import annotations

import functools
import math
import re
import signal
import sys
import threading
import warnings
from _sitebuiltins import Quitter
from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tensorflow.core.protobuf.config_pb2 import CallableOptions  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.dump import steps  # noqa: E402
from tfdbg_tui.dump.encode import batches  # noqa: E402
from tfdbg_tui.dump.errors import BadTensorError  # noqa: E402
from tfdbg_tui.dump.exits import ExitCalls  # noqa: E402
from tfdbg_tui.dump.tensorflow.listener import Listener  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402
from tfdbg_tui.logdir.files.writer_process import WriterProcess  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded
    from tfdbg_tui.diagnosis.report.findings import Report


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    dump.disable_dump_debug_info()


def eager(x: Any) -> list[Any]:
    results = [tf.math.sin(x), tf.math.cos(x)]
    thread = threading.Thread(target=lambda: results.append(tf.math.tan(x)))
    thread.start()
    thread.join()
    variable = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        square = variable * variable
    return [*results, tape.gradient(square, variable)]


def graphs(x: Any) -> list[Any]:
    @tf.function
    def loop(x: Any) -> Any:
        for _ in tf.range(3):
            x = tf.math.sin(x) if tf.reduce_sum(x) > 0.0 else -x
        return x

    @tf.function
    def checked(x: Any) -> Any:
        x = tf.py_function(lambda v: v + 0.0, [x], tf.float32)
        x.set_shape([3])
        tf.debugging.Assert(x[0] > 0.0, ["too small"])
        return tf.math.cos(x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        results = [loop(x), checked(x)]
    results.append(tape.gradient(results, x))
    with pytest.raises(tf.errors.InvalidArgumentError):
        checked(-x)
    return results


def compiled(x: Any) -> list[Any]:
    functions = (lambda x: tf.math.exp(x), lambda x: tf.math.cos(x))
    return [tf.function(f, jit_compile=True, autograph=False)(x) for f in functions]


def session() -> list[Any]:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as s:
        tensors = [tf.math.sin(v1.placeholder_with_default(value, [])) for value in (1.0, 2.0)]
        step = v1.train.get_or_create_global_step()
        counted = step.assign_add(1)
        with pytest.raises(tf.errors.FailedPreconditionError):
            s.run(step)
        s.run(step.initializer)
        called = s._make_callable_from_options(CallableOptions(fetch=[tensors[0].name]))()
        return [*called, *(s.run(tensor) for tensor in (*tensors, counted))]


def without_xla() -> list[Any]:
    """Return what it computes, whether it is dumped or not; no two calls share a function."""
    x = tf.constant([0.25, 0.5, 1.0])
    with tfdbg_tui.step(0):
        results = [*eager(x), *graphs(x), tf.fill([1], np.inf).numpy()]
    return [np.asarray(r) for r in (*results, *session())]


def with_xla() -> list[Any]:
    return [*without_xla(), *compiled(tf.constant([0.25, 0.5, 1.0]))]


def program_for(place: str) -> Callable[[], list[Any]]:
    """Return a program that leads to a place, and takes no longer than it must."""
    if "ProgramListener.session_" in place:
        return session
    return with_xla if "CompiledBuffer" in place else without_xla


def _raising(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a bug of ours")


def first_time(original: Callable[..., Any], raised: list[str]) -> Callable[..., Any]:
    """Return what raises when it is called first, and then is the original."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not raised:
            raised.append("once")
            raise RuntimeError("a bug of ours")
        return original(*args, **kwargs)

    return call


def owner_of(place: str) -> tuple[Any, str]:
    """Return the class or module of `dump` that has what is called in a place, and its name."""
    owner, _, name = place.rpartition(".")
    return resolve_name(f"{dump.__name__}.{owner}"), name


class TimeIsUpError(Exception):
    """What handlers of signals raise."""


def _interrupted(original: Callable[..., Any], raised: list[str]) -> Callable[..., Any]:
    """Return what a signal interrupts when it is called first, and then is the original."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not raised:
            raised.append("once")
            signal.raise_signal(signal.SIGALRM)
        return original(*args, **kwargs)

    return call


def gap_text(report: Report) -> str:
    return " ".join(gap.text for gap in report.gaps)


_NOT_CALLED = {"exported_as_it_is", "function_left_out", "hook_failed", "session_skipped", "skip"}
"""Hooks that no program above leads to: they tell of what is not on record."""
_HOOKS = [name for name in vars(Listener) if not name.startswith("_") and name not in _NOT_CALLED]
_PLACES = [
    *(f"program_listener.ProgramListener.{hook}" for hook in _HOOKS),
    "observe.compiled.CompiledBuffer.__init__",
    "observe.compiled.CompiledBuffer.take",
    "observe.eager.EagerExecutions._record",
    "observe.graphs.GraphDefinitions.record_ops",
    "observe.graph_executions.GraphExecutions.add_rows",
    "observe.graph_executions.GraphExecutions._add_together",
    "observe.row_queue.mark",
    "observe.instrument.add_group",
    "encode.batches.RowsBatch.encode",
    "observe.row_queue._Queue._hand_over",
    "tensorflow.graph_state.doubt_shapes",
    "tensorflow.functions.is_compiled",
    "tensorflow.devices.runs_on_custom",
    "observe.function_copies.FunctionCopies._make",
]


# Returns what a program computes without a dump, and the number of events of a dump.
Undisturbed = Callable[[Callable[[], list[Any]]], tuple[list[Any], int]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    @functools.cache
    def found(program: Callable[[], list[Any]]) -> tuple[list[Any], int]:
        plain = program()
        root = tmp_path_factory.mktemp("undisturbed")
        tfdbg_tui.enable_dump_debug_info(str(root), "CONCISE_HEALTH", -1)
        program()
        tfdbg_tui.disable_dump_debug_info()
        run = open_run(root)
        assert diagnose(run).verdict == "clean", diagnose(run).gaps
        return plain, run.num_events

    return found


@pytest.mark.parametrize("place", _PLACES)
def test_a_bug_of_ours_costs_one_record_or_graph_and_is_told(
    place: str, tmp_path: Path, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_for(place)
    plain, events = undisturbed(program)
    owner, name = owner_of(place)
    raised: list[str] = []
    monkeypatch.setattr(owner, name, first_time(getattr(owner, name), raised))
    # How much is written at once, and so is lost with it, would depend on how busy the machine is.
    monkeypatch.setattr(batches, "_FEW_ROWS", 0)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    dumped = program()
    tfdbg_tui.disable_dump_debug_info()
    assert raised
    for before, after in zip(plain, dumped, strict=True):
        np.testing.assert_array_equal(before, after)
    run = open_run(tmp_path)
    report = diagnose(run)
    assert report.verdict == "incomplete"
    gap, *follow = report.gaps
    assert gap.kind in ("skipped", "lost")
    assert "RuntimeError: a bug of ours" in gap.text
    assert all("no graph of it in Python is known" in other.text for other in follow)
    if "session_" in place or "gradients_" in place:
        assert "functions that are traced" not in gap.text
    assert run.num_events > events * 2 // 3


@pytest.mark.parametrize(
    "place",
    [
        "writer.DumpWriter.__init__",
        "observe.magnitudes.MeasuredSteps.end",
        "observe.row_queue.drain",
        "record.recorder.Recorder.__init__",
        "record.recorder.Recorder.start",
        "record.recorder.Recorder.stop",
        "record.recorder.Recorder._end",
        "tensorflow.exports.keep_plain",
        "tensorflow.hooks.Hooks.install",
        "tensorflow.eager_hooks.EagerHooks.restore",
        "tensorflow.eager_hooks.EagerHooks.watch",
    ],
)
def test_a_bug_of_ours_at_the_begin_or_end_of_a_dump_reaches_no_program(
    place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = tf.math.sin(tf.ones([2])).numpy()
    raised: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        owner, name = owner_of(place)
        patch.setattr(owner, name, first_time(getattr(owner, name), raised))
        tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
        np.testing.assert_array_equal(tf.math.sin(tf.ones([2])), expected)
        tfdbg_tui.disable_dump_debug_info()
    assert raised
    assert not steps.listeners
    if "a bug of ours" not in caplog.text:
        assert diagnose(open_run(tmp_path)).verdict == "incomplete"
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "next"), "CONCISE_HEALTH", -1)
    np.testing.assert_array_equal(tf.function(tf.math.sin)(tf.ones([2])), expected)
    tfdbg_tui.disable_dump_debug_info()
    assert diagnose(open_run(tmp_path / "next")).verdict == "clean"


def test_what_ends_the_thread_that_writes_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    raised = threading.Event()

    def end() -> None:
        raised.set()
        raise SystemExit

    assert dump._writer is not None
    dump._writer._recorder.each_round = end
    assert raised.wait(60)
    tf.math.sin(1.0)
    tfdbg_tui.disable_dump_debug_info()
    (gap,) = (gap for gap in diagnose(open_run(tmp_path)).gaps if gap.kind == "stopped")
    assert "SystemExit" in gap.text
    assert len(caplog.records) == 1


def test_a_bug_of_ours_in_what_the_app_asks_for_costs_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfdbg_tui.dump.record.control_file.ControlFile.changed", _raising)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    assert dump._writer is not None
    dump._writer._look_around()
    tf.math.sin(1.0)
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    assert "a bug of ours" in gap_text(diagnose(run))
    assert len(run.executions) == 1


def partial_run() -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as s:
        x = v1.placeholder(tf.float32, [])
        y = tf.math.sin(x)
        return s.partial_run(s.partial_run_setup([y], [x]), y, {x: 1.0})


def compiled_in_a_dataset() -> Any:
    sin = tf.function(tf.math.sin, jit_compile=True)
    return next(iter(tf.data.Dataset.from_tensors(tf.ones([2])).map(sin))).numpy()


def exported() -> Any:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as s:
        result = s.run(tf.math.sin(tf.ones([2])))
        graph.as_graph_def()
    return result


def interpreted() -> Any:
    log = tf.function(tf.math.log, [tf.TensorSpec([2])], autograph=False).get_concrete_function()
    model = tf.lite.TFLiteConverter.from_concrete_functions([log]).convert()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It is to move to another package.
        interpreter = tf.lite.Interpreter(model_content=model)
    with pytest.raises(RuntimeError) as raised:
        interpreter.invoke()
    assert not any("lite_hooks" in str(entry.path) for entry in raised.traceback)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.zeros(2, np.float32))
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def test_what_an_interpreter_computes_is_not_called_clean(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    tf.math.sin(1.0)
    np.testing.assert_array_equal(interpreted(), np.full(2, -np.inf))
    tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert report.verdict == "incomplete"
    (gap,) = report.gaps
    assert "what TensorFlow Lite computes" in gap.text
    assert not gap.remedy, "enable_check_numerics would not look at it, either"


@pytest.mark.parametrize(
    ("place", "program"),
    [
        ("program_listener.ProgramListener.skip", interpreted),
        ("program_listener.ProgramListener.session_skipped", partial_run),
        ("program_listener.ProgramListener.function_left_out", compiled_in_a_dataset),
        ("tensorflow.exports.make_plain", exported),
    ],
)
def test_a_bug_of_ours_where_something_is_left_out_is_told(
    place: str, program: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = program()
    monkeypatch.setattr(f"tfdbg_tui.dump.{place}", _raising)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    np.testing.assert_array_equal(program(), plain)
    tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert report.verdict == "incomplete"
    assert "RuntimeError: a bug of ours" in gap_text(report)


def test_steps_of_a_keras_that_nobody_knows_are_missed(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    dump.mark_steps_for_program(object())
    tf.math.sin(1.0)
    tfdbg_tui.disable_dump_debug_info()
    assert "which batch of fit" in gap_text(diagnose(open_run(tmp_path)))


def test_what_is_lost_is_named_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("tfdbg_tui.dump.observe.groups.Group._take", broken)
    monkeypatch.setattr("tfdbg_tui.dump.program_listener.ProgramListener.eager_op", broken)
    function = tf.function(lambda x: tf.math.sin(x) * 2.0, autograph=False)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", -1)
    for _ in range(10):
        function(tf.ones([2]))
    tfdbg_tui.disable_dump_debug_info()
    counts = {o.what: o.count for o in open_run(tmp_path).omissions}
    # A group of tensors that fails again and again is left alone.
    assert counts["graph executions of x, Sin, mul/y and 1 more"] == 3
    assert max(counts.values()) == 10
    assert len(caplog.records) == 1


def test_counting_that_fails_makes_no_bad_tensor_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfdbg_tui.dump.encode.details import DetailCounter

    monkeypatch.setattr(DetailCounter, "details", first_time(DetailCounter.details, []))
    function = tf.function(lambda x: tf.math.log(x), autograph=False)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for _ in range(2):
        function(tf.zeros([2]))
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    assert [t.op_name for t in map(run.graph_executions.__getitem__, range(2))] == ["x", "Log"]
    assert len(run.graph_executions) == 2
    assert "graph executions of x, Log" in gap_text(diagnose(run))


def test_an_error_meant_for_the_program_reaches_it(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1, on_bad="raise")
    with pytest.raises(BadTensorError):
        tf.math.log(0.0)


@pytest.mark.parametrize(
    ("mode", "size", "options", "kind"),
    [
        ("CONCISE_HEALTH", 3, {}, "circular_buffer"),
        ("CONCISE_HEALTH", -1, {"every": 2}, "filtered"),
        ("CONCISE_HEALTH", -1, {"steps": "1..2"}, "filtered"),
        ("CONCISE_HEALTH", -1, {"op_regex": "Sin"}, "filtered"),
        ("SHAPE", -1, {}, "blind"),
    ],
)
def test_what_is_left_out_on_purpose_is_not_clean(
    tmp_path: Path, mode: str, size: int, options: dict[str, Any], kind: str
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, size, **options)
    for number in range(4):
        with tfdbg_tui.step(number):
            tf.math.sin(1.0)
    still_running = diagnose(open_run(tmp_path))
    tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert (report.verdict, [gap.kind for gap in report.gaps]) == ("incomplete", [kind])
    assert report.gaps[0].remedy.startswith("tfdbg-tui run")
    assert "running" in {gap.kind for gap in still_running.gaps}


def invert(matrix: Any) -> Any:
    return tf.linalg.inv(matrix)


def raise_in_python(matrix: Any) -> Any:
    return tf.numpy_function(lambda: 1 // 0, [], tf.int64)


def in_a_branch(matrix: Any) -> Any:
    return tf.cond(matrix[0, 0] > 1.0, lambda: matrix, lambda: tf.linalg.inv(matrix))


def index(matrix: Any) -> Any:
    return tf.gather(matrix, tf.shape(matrix)[0] + 7)


def index_of_floats(matrix: Any) -> Any:
    return tf.gather(matrix, tf.cast(matrix[0, 0], tf.int32) + 7)


@pytest.mark.parametrize(
    ("fail", "verdict"),
    [
        (invert, "bad"),
        (raise_in_python, "bad"),
        (in_a_branch, "bad"),
        (index_of_floats, "bad"),
        (index, "incomplete"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_a_call_that_fails_is_not_clean_where_the_program_goes_on(
    tmp_path: Path, fail: Callable[[Any], Any], verdict: str
) -> None:
    @tf.function
    def step(x: Any) -> Any:
        y = tf.math.log(x)
        with tf.control_dependencies([y]):
            return y, fail(tf.zeros([2, 2]) * x[0])

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with pytest.raises(tf.errors.OpError):
        step(tf.constant([1.0, 0.0]))
    dump.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert report.verdict == verdict, report.gaps
    told = [gap for gap in report.gaps if "what step computed before it failed" in gap.text]
    assert bool(told) is (verdict == "incomplete")
    line = fail.__code__.co_firstlineno + 1
    reason = rf"GatherV2 \(GatherV2\) at .*:{line} in index raised: indices = 9 is not in \[0, 2\)"
    assert all(re.search(reason, gap.text) for gap in told)


def test_of_functions_that_have_no_graph_the_results_are_seen(tmp_path: Path) -> None:
    """Of TensorFlow's own the CTC loss of dense labels is made so, with a loop."""

    @tf.function
    def loss(logits: Any) -> Any:
        lengths = tf.constant([6, 6])
        return tf.nn.ctc_loss(
            tf.constant([[1, 2], [1, 1]]),
            logits,
            tf.constant([2, 2]),
            lengths,
            False,
            blank_index=0,
        )

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    loss(tf.ones([2, 6, 3]))
    dump.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert (report.verdict, report.gaps) == ("clean", ())
    assert any("only the results are on record, as no graph" in told for told in report.problems)


def test_a_call_that_is_refused_has_lost_nothing(tmp_path: Path) -> None:
    double = tf.function(lambda x: x + x)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        double.get_concrete_function(tf.constant(1.0))(tf.constant(1))
    dump.disable_dump_debug_info()
    assert diagnose(open_run(tmp_path)).verdict == "clean"


def _on_gpu(x: Any) -> Any:
    with tf.device("/device:GPU:7"):
        return x + x


def _without_kernel(x: Any) -> Any:
    size = tf.raw_ops.CudnnRNNParamsSize(
        num_layers=1, num_units=2, input_size=3, T=tf.float32, S=tf.int32
    )
    return x + tf.cast(size, tf.float32)


_UNPLACED = pytest.mark.parametrize("unplaced", [_on_gpu, _without_kernel])


@_UNPLACED
@pytest.mark.parametrize("inner", [False, True])
def test_a_run_that_no_device_can_do(tmp_path: Path, unplaced: Any, *, inner: bool) -> None:
    """It is refused as a whole, as where programs fall back to the CPU, but for inner functions."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.random.uniform([1])
        wanted = tf.function(unplaced)(tf.math.log(x)) if inner else unplaced(x)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(wanted)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.random.uniform([1]) + 1.0)
    dump.disable_dump_debug_info()
    assert diagnose(open_run(tmp_path)).verdict == ("incomplete" if inner else "clean")


@_UNPLACED
def test_a_function_that_no_device_can_run_has_lost_nothing(tmp_path: Path, unplaced: Any) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(unplaced)(tf.constant([0.0]))
    finally:
        tf.config.set_soft_device_placement(True)
    tf.square(tf.constant([2.0]))
    dump.disable_dump_debug_info()
    assert diagnose(open_run(tmp_path)).verdict == "clean"


def test_a_call_that_fails_as_the_program_wants_is_clean(tmp_path: Path) -> None:
    @tf.function
    def inverse(matrix: Any) -> Any:
        return tf.linalg.inv(matrix + tf.eye(2))

    @tf.function
    def check(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x * 2.0

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for call, given in ((inverse, -tf.eye(2)), (check, tf.constant([-1.0]))):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(given)
    dump.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert report.verdict == "clean", report.gaps


@pytest.mark.parametrize("times", [1.0, 0.0])
def test_a_compiled_function_in_a_dataset_is_named(tmp_path: Path, times: float) -> None:
    """XLA's values leave by a variable, which a dataset's function does not get."""
    log = tf.function(tf.math.log, jit_compile=True)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)

    def compare(x: Any) -> Any:
        made = log(x)
        return (made if times else made * times) != 1.0

    (found,) = tf.data.Dataset.from_tensors(tf.zeros([2])).map(compare)
    dump.disable_dump_debug_info()
    assert found.numpy().all()
    report = diagnose(open_run(tmp_path))
    assert "the function log, because XLA compiles it" in gap_text(report)
    assert report.verdict == ("incomplete" if times else "bad")
    assert [(r.op_type, r.certainty) for r in report.roots] == [("Mul", "likely")] * (not times)


def on_a_single_thread(how: str) -> Any:
    """Run a function with tensors too large for a graph without branches of ours."""
    executor = "SINGLE_THREADED_EXECUTOR"
    function = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * 0.0))
    if how == "call":
        with tf.experimental.function_executor_type(executor):
            return function(tf.zeros([5000]))

    @tf.function
    def nested(x: Any) -> Any:
        with tf.experimental.function_executor_type(executor):
            return function(x)

    if how == "nested call":
        return nested(tf.zeros([5000]))
    config = tf.compat.v1.ConfigProto()
    if how == "session":
        config.experimental.executor_type = executor
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        x = tf.zeros([5000])
        return session.run(
            nested(x) if how == "call in a session" else tf.reduce_sum(tf.exp(x) * 0)
        )


@pytest.mark.parametrize("how", ["call", "nested call", "session", "call in a session"])
def test_what_the_single_threaded_executor_runs_is_left_alone(tmp_path: Path, how: str) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    assert float(on_a_single_thread(how)) == 0.0
    tfdbg_tui.disable_dump_debug_info()
    assert "because the single-threaded executor" in gap_text(diagnose(open_run(tmp_path)))


def implemented_twice(name: str, preferred: str) -> Callable[..., Any]:
    """Return what calls a function, and hands TensorFlow another that it may run in its place."""

    def implementation(device: str, factor: float) -> Any:
        attributes = {"api_implements": name, "api_preferred_device": device}

        @tf.function(autograph=False, experimental_attributes=attributes)
        def scaled(x: Any) -> Any:
            return x * factor

        return scaled

    made = {"CPU": implementation("CPU", 2.0), "GPU": implementation("GPU", 3.0)}
    called = made.pop(preferred)
    (other,) = made.values()

    def call(x: Any) -> Any:
        result = called(x)
        other.get_concrete_function(x).add_to_graph(tf.compat.v1.get_default_graph())
        return result

    return call


def looped(preferred: str) -> float:
    called = implemented_twice(f"looped {preferred}", preferred)

    @tf.function
    def loop(x: Any) -> Any:
        for _ in tf.range(3):
            x = tf.sin(called(x)) * 2.0 + 1.0
        return x

    return float(loop(tf.constant(1.0)))


def beside_another(preferred: str) -> float:
    called, another = implemented_twice("one", preferred), implemented_twice("other", "CPU")

    @tf.function
    def loop(x: Any) -> Any:
        for _ in tf.range(3):
            x = tf.sin(called(x)) + another(x)
        return x

    return float(loop(tf.constant(1.0)))


def in_a_session(preferred: str) -> float:
    called = implemented_twice("in a session", preferred)

    @tf.function(autograph=False)
    def around(x: Any) -> Any:
        return tf.sin(called(x))

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return float(session.run(around(tf.constant(1.0)) * 2.0 + tf.constant(1.0)))


def in_a_small_session(preferred: str) -> float:
    called = implemented_twice("in a small session", preferred)
    around = tf.function(called, autograph=False)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder_with_default(tf.constant(1.0), [])
        return float(session.run(around(x)))


@pytest.mark.parametrize("preferred", ["CPU", "GPU"])
@pytest.mark.parametrize("program", [looped, beside_another, in_a_session, in_a_small_session])
def test_a_function_with_several_implementations_runs_as_without_the_dump(
    tmp_path: Path, program: Callable[[str], float], preferred: str
) -> None:
    """TensorFlow takes that for the device; where a session runs another one, it is left alone."""
    plain = program(preferred)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    dumped = program(preferred)
    tfdbg_tui.disable_dump_debug_info()
    assert dumped == plain
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    is_left_alone = "session" in program.__name__ and preferred == "GPU"
    assert report.verdict == ("incomplete" if is_left_alone else "clean")


def test_what_tensorflow_chooses_of_several_implementations_is_on_record(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_TENSOR", -1)
    looped("GPU")
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    traces = run.graph_executions
    scaled = [i for i, e in enumerate(traces) if run.graphs[e.graph_id].name == "scaled"]
    products = [traces.tensor(i) for i in scaled if traces[i].op_type == "Mul"]
    assert [len(products), products[0]] == [3, 2.0]


def test_a_single_threaded_session_may_be_older_than_the_dump(tmp_path: Path) -> None:
    config = tf.compat.v1.ConfigProto()
    config.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
        assert session.run(tf.reduce_sum(tf.exp(tf.zeros([5000])))) == 5000.0
        tfdbg_tui.disable_dump_debug_info()
    assert "because the single-threaded executor" in gap_text(diagnose(open_run(tmp_path)))


ASYNCHRONOUS = """
import faulthandler, sys
import tensorflow as tf
from tensorflow.python.eager import context, executor
import tfdbg_tui

faulthandler.dump_traceback_later(60, exit=True)  # If it waits for ever.
tfdbg_tui.enable_dump_debug_info(sys.argv[1], sys.argv[2], -1, on_bad=sys.argv[3])
take = lambda: tf.raw_ops.Unstage(dtypes=[tf.float32], shared_name="stage")[0]
log = tf.function(lambda: tf.math.log(take()))
later = executor.new_executor(enable_async=True)
with context.executor_scope(later):
    first, second = log(), take()
    tf.math.sin(second)
    tfdbg_tui.disable_dump_debug_info()
for _ in range(2):
    tf.raw_ops.Stage(values=[tf.ones([2])], shared_name="stage")
later.wait()
print(first.numpy().tolist(), second.numpy().tolist())
"""


@pytest.mark.parametrize(
    ("mode", "on_bad"),
    [("ADAPTIVE", "continue"), ("FULL_TENSOR", "continue"), ("CONCISE_HEALTH", "raise")],
)
def test_what_an_asynchronous_executor_runs_is_not_waited_for(
    preloaded: Preloaded, tmp_path: Path, mode: str, on_bad: str
) -> None:
    """It ends only by what the same thread does later."""
    ended = preloaded.run(ASYNCHRONOUS, tmp_path, mode, on_bad, directory=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "[0.0, 0.0] [1.0, 1.0]\n"), ended.stderr
    report = diagnose(open_run(tmp_path))
    assert report.verdict == "incomplete"
    assert "because an asynchronous executor runs it" in gap_text(report)


DTENSOR = """
import sys
import tensorflow as tf
import tfdbg_tui
from tensorflow.experimental import dtensor

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
mesh = dtensor.create_mesh([("x", 2)], devices=["CPU:0", "CPU:1"])
sharded = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", -1)
make = tf.function(lambda shape: tf.fill(shape, 0.5), autograph=False)
made = dtensor.call_with_layout(make, sharded, tf.constant([2, 3]))
logs = tf.math.log(made - 0.5)
print([part.numpy().tolist() for part in dtensor.unpack(logs)])
"""


def test_functions_that_dtensor_runs_are_left_alone(tmp_path: Path, preloaded: Preloaded) -> None:
    result = preloaded.run(DTENSOR, tmp_path / "logdir", directory=tmp_path)
    assert (result.returncode, result.stdout) == (0, f"{[[[-math.inf] * 3]] * 2}\n"), result.stderr
    report = diagnose(open_run(tmp_path / "logdir"))
    assert [root.op_type for root in report.roots] == ["Log"]
    assert report.roots[0].evidence == "6 zeros in → 6 -∞ out"
    (gap,) = report.gaps
    assert "the function <lambda>, because DTensor runs it" in gap.text
    assert "check_numerics(tensor" in gap.remedy


def test_a_fork_that_computes_and_an_uncaught_error(tmp_path: Path, preloaded: Preloaded) -> None:
    result = preloaded.run(_FORKS, tmp_path)
    assert "ValueError: not today" in result.stderr
    run = open_run(tmp_path)
    report = diagnose(run)
    assert [gap.kind for gap in report.gaps] == ["failed", "forked"], "one for all forks"
    assert len(re.findall(r"process \d", gap_text(report))) == 2, "of three, two"
    assert "ValueError: not today" in gap_text(report)
    assert "the first after 1 execution" in gap_text(report)
    assert len(run.executions) == 2


def test_an_exit_code_is_told(tmp_path: Path, preloaded: Preloaded) -> None:
    source = """
import sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", -1)
tf.math.sin(1.0)
sys.exit(3)
"""
    assert preloaded.run(source, tmp_path).returncode == 3
    report = diagnose(open_run(tmp_path))
    assert (report.verdict, [gap.kind for gap in report.gaps]) == ("incomplete", ["failed"])
    assert "it called sys.exit(3)" in gap_text(report)


@pytest.mark.parametrize("computes", [True, False])
def test_what_is_computed_after_the_end_of_the_dump_is_told(
    tmp_path: Path, preloaded: Preloaded, computes: bool
) -> None:
    source = """
import atexit, sys, tensorflow as tf
variables = [tf.Variable(1.0)]

@atexit.register
def end():
    variables.clear()  # which destroys it: an op without outputs
    if sys.argv[2] == "True":
        print(tf.math.log(0.0).numpy(), tf.math.log(0.0).numpy())

import tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", -1)
tf.math.sin(1.0)
"""
    done = preloaded.run(source, tmp_path, computes)
    assert (done.returncode, done.stdout) == (0, "-inf -inf\n" * computes), done.stderr
    report = diagnose(open_run(tmp_path))
    assert [gap.kind for gap in report.gaps] == ["stopped"] * computes
    assert ("exit functions" in gap_text(report)) is computes


class NotDescribed:
    def __repr__(self) -> str:
        raise LookupError


def test_an_exit_that_is_caught_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # `exit` closes it.
    done, several = [0], np.array([1, 2])
    original, original_quit = sys.exit, Quitter.__call__
    quit_ = Quitter("exit", "")
    calls = ExitCalls(lambda: done[0])
    cases: tuple[tuple[Any, int, str | None], ...] = (
        (0, 0, None),
        ("no", 0, "it called sys.exit('no')"),
        (1, 1, None),
        (0.0, 0, "it called sys.exit(0.0)"),
        (False, 0, None),
        (several, 0, "it called sys.exit(array([1, 2]))"),
        (NotDescribed(), 0, "it called sys.exit(<NotDescribed instance at "),
    )
    for status, then, failure in cases:
        with pytest.raises(SystemExit) as exit_info:
            sys.exit(status)
        assert exit_info.value.code is status
        done[0] += then
        told = calls.failure()
        assert told and told.startswith(failure) if failure else told is None
    with pytest.raises(SystemExit):
        quit_("no")
    assert calls.failure() == "it called exit('no')"
    calls.stop()
    assert (sys.exit, Quitter.__call__) == (original, original_quit)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python tells nobody what is raised")
def test_an_exit_that_is_raised_is_told_unless_it_is_caught() -> None:
    done = [0]
    calls = ExitCalls(lambda: done[0])
    for status, then, failure in (
        (None, 0, None),
        (0, 0, None),
        ("no data", 1, None),
        ("no data", 0, "it raised SystemExit('no data')"),
    ):
        with pytest.raises(SystemExit):
            raise SystemExit(status)
        done[0] += then
        assert calls.failure() == failure
    done[0] += 1
    calls.stop()
    with pytest.raises(SystemExit):
        raise SystemExit("after the end of the dump")
    assert calls.failure() is None
    assert [sys.monitoring.get_tool(tool) for tool in (3, 4)] == [None, None]


@pytest.mark.parametrize(
    ("leave", "exit_code", "kinds", "text"),
    [
        ("os._exit(0)", 0, [], ""),
        ("os._exit(3)", 3, ["failed"], "it called os._exit(3)"),
        ("os.execl('/bin/sh', 'sh', '-c', 'exit 4')", 4, [], ""),
    ],
)
def test_nothing_is_lost_of_a_program_that_leaves_at_once(
    leave: str, exit_code: int, kinds: list[str], text: str, tmp_path: Path, preloaded: Preloaded
) -> None:
    done = preloaded.run(_LEAVES + leave, tmp_path)
    assert done.returncode == exit_code, done.stderr
    run = open_run(tmp_path)
    assert [execution.op_type for execution in run.executions] == ["Sin", "Cos"]
    assert [gap.kind for gap in diagnose(run).gaps] == kinds
    assert text in gap_text(diagnose(run))


def test_a_program_that_leaves_at_once_waits_for_no_record_that_does_not_come(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    stuck = "dump._LONGEST_WAIT_SECONDS = 0.1\ndump._writer.rest = threading.Event().wait\n"
    done = preloaded.run(_LEAVES + stuck + "os._exit(5)", tmp_path)
    assert done.returncode == 5, done.stderr


def test_a_program_goes_on_after_an_exec_that_fails(tmp_path: Path, preloaded: Preloaded) -> None:
    goes_on = """
try:
    os.execv("/no/such", ["a"])
except FileNotFoundError:
    tf.math.sin(1.0)
    os.kill(os.getpid(), 9)
"""
    done = preloaded.run(_LEAVES + goes_on, tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "killed" in [gap.kind for gap in diagnose(open_run(tmp_path)).gaps]


_LEAVES = """
import os, sys, threading, tensorflow as tf, tfdbg_tui
from tfdbg_tui import dump
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", -1)
tf.math.sin(1.0), tf.math.cos(1.0)
"""

_FORKS = """
import os, sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", -1)
tf.math.sin(1.0)
for computes in (True, False, True):
    pid = os.fork()
    if not pid:
        if computes:
            tf.math.sin(2.0), tf.math.sin(3.0)
        os._exit(0)
    os.waitpid(pid, 0)
tf.math.sin(4.0)
raise ValueError("not today\\nmore")
"""


def test_a_full_disk_and_a_program_that_leaves_at_once(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    full, left = tmp_path / "full", tmp_path / "left"
    result = preloaded.run(_FULL, full, left)
    assert result.returncode == -signal.SIGKILL, result.stderr
    assert result.stderr.count("dumping is off") == 1
    assert result.stderr.count("dumping stays off until disable_dump_debug_info()") == 1
    report = diagnose(open_run(full))
    assert (report.verdict, report.alerts) == ("incomplete", 0)
    assert [gap.kind for gap in report.gaps] == ["stopped", "damaged"]  # the record is cut
    assert "File too large" in gap_text(report)
    assert diagnose(open_run(left)).gaps[0].kind == "killed"


_FULL = """
import os, resource, sys, tensorflow as tf, tfdbg_tui
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "FULL_TENSOR", -1).flush()
tf.math.sin(tf.ones([9_000]))
tfdbg_tui.dump._writer.flush()
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "FULL_TENSOR", -1)
tf.math.log(0.0)
tfdbg_tui.disable_dump_debug_info()
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "FULL_TENSOR", -1)
tf.math.sin(1.0)
tfdbg_tui.enable_dump_debug_info(sys.argv[2], "FULL_TENSOR", -1)
tf.math.sin(1.0)
tfdbg_tui.dump._writer.flush()
os.kill(os.getpid(), 9)
"""


def test_a_program_that_is_stopped_is_not_said_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    tf.math.sin(1.0)
    assert "still runs" in _running(tmp_path)
    monkeypatch.setattr(WriterProcess, "suspended", lambda _: True)
    assert "is stopped, as by Ctrl-Z or SIGSTOP" in _running(tmp_path)


def _running(logdir: Path) -> str:
    """Returns what is said of a program that has not ended."""
    (text,) = (gap.text for gap in diagnose(open_run(logdir)).gaps if gap.kind == "running")
    return text


@pytest.mark.parametrize("error", [TimeIsUpError, TimeoutError, KeyboardInterrupt])
@pytest.mark.parametrize(
    "place",
    [
        "program_listener.ProgramListener.eager_op",
        "program_listener.ProgramListener.call_ends",
        "observe.function_copies.FunctionCopies._make",
    ],
)
def test_what_a_signal_raises_in_a_hook_reaches_the_program(
    place: str, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise error

    @tf.function
    def step(x: Any) -> Any:
        return tf.sin(x)

    before = signal.signal(signal.SIGALRM, stop)
    raised: list[str] = []
    owner, name = owner_of(place)
    monkeypatch.setattr(owner, name, _interrupted(getattr(owner, name), raised))
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    try:
        with pytest.raises(error):
            step(tf.cos([1.0]))
        step(tf.cos([1.0]))
    finally:
        tfdbg_tui.disable_dump_debug_info()
        signal.signal(signal.SIGALRM, before)
    run = open_run(tmp_path)
    report = diagnose(run)
    assert report.verdict == "incomplete"
    assert all(error.__name__ in gap.text for gap in report.gaps)
    assert [row.op_name for row in run.graph_executions][-1] == "Sin"
