"""The smallest and largest elements that are recorded now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tensorflow.python.debug.lib import debug_events_reader  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis import heat_of  # noqa: E402
from tfdbg_tui.dump.encode import summaries  # noqa: E402
from tfdbg_tui.dump.encode.causes import Measured  # noqa: E402
from tfdbg_tui.dump.encode.records import Batch  # noqa: E402
from tfdbg_tui.dump.observe import graph_executions, magnitudes, row_queue  # noqa: E402
from tfdbg_tui.wire import tfrecord  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


@tf.function
def step(x: Any) -> Any:
    large = tf.reshape(tf.range(8192.0), [64, 128]) * x  # on its own
    small = tf.stack([x, -x * 3.0])  # in a pack
    for _ in tf.range(25):
        small = small * 2.0
    return tf.cast(small, tf.bfloat16, name="wide"), tf.cast(tf.sin(large), tf.float16)


def recorded(root: Path, mode: str) -> Any:
    tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    try:
        for number in range(22):
            with tfdbg_tui.step(number):
                step(tf.constant(-1.5) * 1.0)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(root)


def num_stored(root: Path) -> int:
    """Return how many traces are stored as records of their own."""
    (path,) = root.glob("*.graph_execution_traces")
    return len(list(tfrecord.records(path.read_bytes())))


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
def test_extremes_are_on_record_in_the_steps_that_are_measured(tmp_path: Path, mode: str) -> None:
    run = recorded(tmp_path, mode)
    extremes = {
        (trace.op_name, trace.step, trace.iteration): (trace.summary.minimum, trace.summary.maximum)
        for trace in run.graph_executions
        if trace.summary.minimum is not None
    }
    measured = {number for name, number, _ in extremes if name == "mul"}
    assert measured == {0, 1, 2, 4, 7, 12, 21}
    assert extremes["mul", 21, None] == (-1.5 * 8191, 0.0)
    assert extremes["stack", 21, None] == (-1.5, 4.5)
    assert extremes["while/mul", 21, 4] == (-1.5 * 2.0**5, 4.5 * 2.0**5)
    iterations = {(number, i) for name, number, i in extremes if name == "while/mul"}
    many, few = (0, 1, 2, 4, 8, 16), (0, 4)
    assert {i for number, i in iterations if number == 2} == {*many}
    assert {i for number, i in iterations if number == 4} == {*few}
    assert {i for number, i in iterations if number == 21} == {*few}
    wide = float(tf.cast(4.5 * 2.0**25, tf.bfloat16))
    assert extremes["wide", 0, None] == (float(tf.cast(-1.5 * 2.0**25, tf.bfloat16)), wide)
    eager = {e.step: e.outputs[0].maximum for e in run.executions if e.op_type == "Mul"}
    assert eager[21] == -1.5
    assert eager[20] is None
    with debug_events_reader.DebugDataReader(str(tmp_path)) as reader:
        reader.update()
        assert len(reader.graph_execution_traces()) == num_stored(tmp_path)


@tf.function
def twice(x: Any) -> Any:
    return tf.multiply(x, 2.0, name="twice")


@tf.function
def calls_in_a_loop(x: Any) -> Any:
    for i in tf.range(9):
        x = twice(x)
        if i != 1:
            x = tf.negative(twice(x), name="turned")
    return x


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize("size", [2, 5000])
def test_extremes_of_what_loops_call_and_branch_to_are_on_record(
    tmp_path: Path, mode: str, size: int
) -> None:
    """Elements of few small tensors are handed over; at large ones Python looks where asked."""
    x = tf.linspace(1.0, 3.0, size)
    plain = calls_in_a_loop(x)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    dumped = calls_in_a_loop(x)
    tfdbg_tui.disable_dump_debug_info()
    np.testing.assert_array_equal(plain, dumped)
    found: dict[str, list[float | None]] = {}
    for trace in tfdbg_tui.open_run(tmp_path).graph_executions:
        found.setdefault(trace.op_name.rpartition("/")[2], []).append(trace.summary.minimum)
    # Of the iterations 0, 1, 2, 4 and 8; each but 1 calls twice, and turns once.
    assert found["twice"][:5] == [2.0, 4.0, -24.0, -48.0, -96.0]
    assert [low is not None for low in found["twice"]] == [
        known for i in range(9) for known in [i in (0, 1, 2, 4, 8)] * (1 + (i != 1))
    ]
    assert found["turned"][:2] == [-12.0, 32.0]
    assert [low is not None for low in found["turned"]] == [
        i in (0, 2, 4, 8) for i in range(9) if i != 1
    ]


def one_by_one() -> Any:
    """Return options of a dataset: elements are made in order, and none ahead."""
    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = False
    options.experimental_optimization.inject_prefetch = False
    return options


@pytest.mark.parametrize(
    ("mode", "size"),
    [("ADAPTIVE", 2), ("ADAPTIVE", 5000), ("ADAPTIVE", 70_000), ("FULL_HEALTH", 5000)],
)
def test_extremes_of_the_first_elements_of_a_dataset_and_of_some_later_ones_are_on_record(
    tmp_path: Path, mode: str, size: int
) -> None:
    """Elements of few small tensors are handed over; others only where the graph is to do so."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)

    def turned(number: Any) -> Any:
        return tf.negative(tf.fill([size], 3.0 / tf.cast(18 - number, tf.float32)), name="turned")

    elements = iter(tf.data.Dataset.range(30).map(turned).with_options(one_by_one()))
    try:
        for number in range(23):
            if number == 21:
                row_queue.drain()  # By now it is seen that some of the elements were due.
            np.testing.assert_array_equal(next(elements), turned(tf.constant(number)))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    calls = [trace.summary for trace in run.graph_executions if trace.op_name == "turned"]
    lows = [summary.minimum for summary in calls]
    assert lows[:3] == [np.float32(-3.0) / np.float32(18 - number) for number in range(3)]
    assert calls[18].neg_inf == size
    later = {number for number, low in enumerate(lows) if number > 2 and low is not None}
    if size == 2:
        assert later == {4, 7, 12, 21}
    else:  # those after it is seen that one was due
        assert 2 <= len(later) <= 4
        assert min(later) > 4
    with debug_events_reader.DebugDataReader(str(tmp_path)) as reader:
        reader.update()
        assert len(reader.graph_execution_traces()) == num_stored(tmp_path)


def test_of_what_has_no_step_the_first_executions_are_measured_and_some_later_ones() -> None:
    count = magnitudes.ExecutionCount(None)
    found = np.concatenate([count.are_measured(n) for n in (7, 0, 993)])
    early = 0, 1, 2, 4, 7, 12, 21, 30, 41, 50, 61, 76, 91, 100, 121, 150, 181
    assert [*np.flatnonzero(found)] == [*early, *range(200, 1000, 100)]
    found = magnitudes.ExecutionCount(5).are_measured(25)
    assert [*np.flatnonzero(found)] == [0, 1, 2, 4, 5, 7, 10, 12, 15, 20, 21]


def test_of_what_is_large_no_more_than_the_first_executions_are_measured() -> None:
    count = magnitudes.ExecutionCount(None, first_only=True)
    assert [*np.flatnonzero(count.are_measured(200))] == [0, 1, 2]
    count = magnitudes.ExecutionCount(None, first_only=True)
    count.ask(1 << 30)
    assert [*np.flatnonzero(count.are_measured(20))] == [0, 1, 2]
    count.ran(200)
    assert not count.are_measured(1).any()


def test_a_graph_that_counts_itself_is_told_when_one_execution_was_due() -> None:
    count = magnitudes.ExecutionCount(None)
    count.ask(1 << 30)
    assert [*np.flatnonzero(count.are_measured(20))] == [0, 1, 2]
    count.ran(3)
    assert not count.are_measured(1).any()
    count.ran(1)
    count.ran(4)  # the executions with numbers 4 and 7
    assert [*count.are_measured(3)] == [True, True, False]


@tf.function(jit_compile=True)
def compiled(x: Any) -> Any:
    large = tf.reshape(tf.range(8192.0), [64, 128]) * x
    small = tf.stack([x, -x * 3.0])
    for _ in tf.range(6):
        small = small * 2.0
    double = tf.cast(small, tf.float64, name="double") * -1e200
    turned = tf.transpose(large, name="turned")
    negative = -tf.exp(small * 0.1, name="power")
    phase = tf.complex(small, small, name="phase")
    return turned, double, negative, tf.zeros([0, 3]) * x, tf.cast(small, tf.float16), phase


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
def test_extremes_of_what_xla_has_compiled_are_on_record(tmp_path: Path, mode: str) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1, magnitudes_every=100)
    for number, x in enumerate([-1.5] * 6 + [64.0]):
        with tfdbg_tui.step(number):
            compiled(tf.constant(x))
    tfdbg_tui.disable_dump_debug_info()
    found = {
        (trace.op_name, trace.step, trace.iteration): (trace.summary.minimum, trace.summary.maximum)
        for trace in tfdbg_tui.open_run(tmp_path).graph_executions
    }
    nothing = None, None
    assert found["mul", 0, None] == found["turned", 0, None] == (-1.5 * 8191, 0.0)
    assert found["stack", 0, None] == (-1.5, 4.5)
    assert found["double", 0, None] == (-1.5 * 2**6, 4.5 * 2**6)
    assert found["mul_2", 0, None] == (4.5 * 2**6 * -1e200, -1.5 * 2**6 * -1e200)
    assert found["while/mul", 0, 4] == (-1.5 * 2**5, 4.5 * 2**5)
    assert found["while/mul", 0, 3] == found["phase", 0, None] == found["zeros", 0, None] == nothing
    assert found["mul", 5, None] == nothing
    # Where something is bad, the finite elements are told in any step, and so those of its inputs.
    assert found["power", 6, None] == (0.0, 0.0)
    assert found["stack", 6, None] == (-192.0, 64.0)


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize("length", [3, 40])
def test_extremes_of_what_sessions_run_are_on_record(
    tmp_path: Path, mode: str, length: int
) -> None:
    """Python looks at few tensors itself; at many it looks where the graph asks for it."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1, magnitudes_every=100)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None])
        y = x
        for number in range(length):
            y = tf.add(y, y, name=f"twice_{number}")
        with tf.compat.v1.Session() as session:
            for _ in range(6):
                session.run(y, {x: [-1.0, 3.0]})
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    for name, factor in (("twice_0", 2), (f"twice_{length - 1}", 2**length)):
        found = [t.summary for t in run.graph_executions if t.op_name == name]
        known = [(of.minimum, of.maximum) for of in found]
        told, nothing = (-factor, 3 * factor), (None, None)
        assert known == [told, told, told, nothing, told, nothing]
    eager = [execution.outputs[0].maximum is not None for execution in run.executions]
    assert eager == [True, True, True, False, True, False]


def loop_in_session(x: Any) -> Any:
    return tf.while_loop(
        lambda i, _: i < 4, lambda i, x: (i + 1, tf.multiply(x, 2.0, name="twice")), (0, x)
    )[1]


def loop_of_calls(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 4, lambda i, x: (i + 1, twice(x)), (0, x))[1]


def branch(x: Any) -> Any:
    return tf.cond(x[0] > 5.0, lambda: x, lambda: tf.multiply(x, 2.0, name="twice"))


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize(
    ("function", "v2", "iterations"),
    [
        (loop_in_session, False, 4),
        (loop_in_session, True, 4),
        (loop_of_calls, True, 4),
        (branch, True, 1),
        (twice, True, 1),
    ],
)
def test_extremes_of_loops_and_functions_of_sessions_are_on_record(
    tmp_path: Path, mode: str, function: Any, v2: bool, iterations: int
) -> None:
    switch = tf.compat.v1.enable_control_flow_v2 if v2 else tf.compat.v1.disable_control_flow_v2
    switch()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1, magnitudes_every=100)
    try:
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [None])
            y = function(x)
            for _ in range(2):  # A session does not know what another has been told.
                with tf.compat.v1.Session() as session:
                    for _ in range(9):
                        found = session.run(y, {x: [1.0, 3.0]})
    finally:
        tf.compat.v1.enable_control_flow_v2()
        tfdbg_tui.disable_dump_debug_info()
    np.testing.assert_array_equal(found, np.array([1.0, 3.0]) * 2**iterations)
    traces = tfdbg_tui.open_run(tmp_path).graph_executions
    lows = [t.summary.minimum for t in traces if t.op_name.rpartition("/")[2] == "twice"]
    once = [2.0, 4.0, 8.0, None][:iterations]
    measured = 0, 1, 2, 4, 7, 12
    nothing = [None] * iterations
    assert lows == [low for n in range(18) for low in (once if n in measured else nothing)]


@pytest.mark.parametrize(
    ("mode", "tensors"), [("ADAPTIVE", 1), ("ADAPTIVE", 20), ("FULL_HEALTH", 2)]
)
def test_extremes_of_the_data_functions_of_sessions_are_on_record(
    tmp_path: Path, mode: str, tensors: int
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    data = tf.compat.v1.data

    def added_up(x: Any) -> Any:
        for _ in range(tensors - 1):
            x = tf.negative(x)
        return twice(x)

    with tf.Graph().as_default():
        dataset = data.Dataset.from_tensors([1.0, 3.0]).repeat(18).map(added_up)
        dataset = dataset.with_options(one_by_one())
        element = data.make_one_shot_iterator(dataset).get_next()
        with tf.compat.v1.Session() as session:
            for _ in range(18):
                np.testing.assert_array_equal(np.abs(session.run(element)), [2.0, 6.0])
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    assert not run.omissions
    found = [trace.summary for trace in run.graph_executions if trace.op_name == "twice"]
    known = [summary.minimum is not None for summary in found]
    assert np.flatnonzero(known).tolist() == [0, 1, 2, 4, 7, 12]
    assert [summary.nan for summary in found] == [0] * 18
    if mode == "FULL_HEALTH":
        assert [summary.neg for summary in found] == [2] * 18


def test_extremes_of_bad_eager_outputs_are_on_record(tmp_path: Path) -> None:
    """Beside what is told of the inputs, in steps that are measured."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", -1)
    for number in range(4):
        with tfdbg_tui.step(number):
            tf.math.reciprocal([0.0, 0.5, 2.0])
    tfdbg_tui.disable_dump_debug_info()
    all_of_them = tfdbg_tui.open_run(tmp_path).executions
    found = [e for e in all_of_them if e.op_type == "Reciprocal"]
    assert [e.outputs[0].pos_inf for e in found] == [1] * 4
    assert [e.outputs[0].maximum for e in found] == [2.0, 2.0, 2.0, None]
    assert found[0].inputs[0].maximum == 2.0


def test_the_types_of_eager_outputs_that_are_measured_are_on_record(tmp_path: Path) -> None:
    """How near a number is to the limit of its type cannot be told else."""
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=1)
    tf.nn.moments(tf.constant([[1.0, 2.0]], tf.float16), 1)
    tf.unstack(tf.constant([[3.0], [1e300]], tf.float64))
    tf.constant([4, 5]) + 1
    tfdbg_tui.disable_dump_debug_info()
    executions = tfdbg_tui.open_run(tmp_path).executions
    types = {e.op_type: [tensor and tensor.dtype for tensor in e.outputs] for e in executions}
    assert types["Mean"] == ["float32"]  # of float16 numbers
    assert types["Cast"] == ["float16"]
    assert types["Unpack"] == ["float64", "float64"]
    assert types["AddV2"] == [None]


def test_whole_tensors_tell_what_is_measured_of_others(tmp_path: Path) -> None:
    """Of all types, healthy and bad, in graphs and eager: Layers shows the same of both modes."""

    @tf.function
    def computed(x: Any) -> Any:
        for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
            y = tf.cast(x, dtype)
            x = tf.cast(tf.reduce_sum(y) * y / (y + 1), tf.float32)
        return tf.abs(tf.complex(x, x)), tf.cast(x, tf.int32), tf.fill([2000], x[0] * 3)

    found = {}
    for mode in ("ADAPTIVE", "FULL_TENSOR"):
        every = 1 if mode == "ADAPTIVE" else None
        tfdbg_tui.enable_dump_debug_info(str(tmp_path / mode), mode, -1, magnitudes_every=every)
        for number in range(3):
            with tfdbg_tui.step(number):
                x = tf.constant([-1.5, 3.0 * number, 7e4 * number])
                computed(x)
                tf.cast(x, tf.bfloat16) * tf.constant(2.0, tf.bfloat16)
                tf.reduce_max(tf.cast(x, tf.float16))
        tfdbg_tui.disable_dump_debug_info()
        run = tfdbg_tui.open_run(tmp_path / mode)
        traces, executions = run.graph_executions.magnitudes(), run.executions.magnitudes()
        names = [run.graph_executions[row].op_name for row in traces.rows.tolist()]
        heat = heat_of(run)
        found[mode] = (
            list(zip(names, traces.executions.tolist(), traces.largest.tolist(), strict=True)),
            list(zip(executions.rows.tolist(), executions.largest.tolist(), strict=True)),
            [row.name for row in heat.rows],
            heat.cells.largest[~heat.cells.bad].tolist(),
        )
    assert len(found["ADAPTIVE"][0]) > 30
    assert found["FULL_TENSOR"] == found["ADAPTIVE"]


def test_outside_of_steps_calls_and_eager_lines_are_counted(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for _ in range(22):
        step(tf.constant(2.0))
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(tmp_path)
    calls = [e.outputs[0].maximum is not None for e in run.executions if e.num_outputs == 2]
    assert [n for n, known in enumerate(calls) if known] == [0, 1, 2, 4, 7, 12, 21]
    traces = [t.summary.maximum for t in run.graph_executions if t.op_name == "mul"]
    assert [n for n, high in enumerate(traces) if high is not None] == [0, 1, 2, 4, 7, 12, 21]


def test_the_longer_a_program_runs_the_fewer_are_measured() -> None:
    def due(measured: magnitudes.MeasuredSteps) -> list[int]:
        return [number for number in range(1000) if measured.next("a line")]

    early = {*magnitudes.EARLY}
    assert due(magnitudes.MeasuredSteps(None)) == sorted(early | {*range(0, 1000, 100)})
    assert due(magnitudes.MeasuredSteps(10)) == sorted(early | {*range(0, 1000, 10)})
    assert not due(magnitudes.MeasuredSteps(0))


def test_what_runs_several_times_in_a_round_of_a_training_is_measured_in_the_same_rounds() -> None:
    measured = magnitudes.MeasuredSteps(None)
    found: dict[str, list[int]] = {"once": [], "twice": [], "often": []}
    for number in range(22):
        for line, times in (("once", 1), ("twice", 2), ("often", 300)):
            runs = [bool(measured.next(line)) for _ in range(times)]
            found[line] += [number] * sum(runs)
        measured.gradients_begin()
        for variable in (5, 6):
            measured.trained(variable)
    assert found["once"] == [0, 1, 2, 4, 7, 12, 21]
    # Which variable is the last one of a round is known from the second round on.
    assert found["twice"] == [0, 0, 1, *(2, 2, 4, 4, 7, 7, 12, 12, 21, 21)]
    assert {found["often"].count(number) for number in (2, 4, 7, 12, 21)} == {16}
    assert {*found["often"][-5 * 16 :]} == {2, 4, 7, 12, 21}


def test_gradients_of_layers_of_an_eager_training_are_measured_in_the_same_steps(
    tmp_path: Path,
) -> None:
    weights = [tf.Variable(tf.ones([4, 4]) * 0.1, name=name) for name in ("a", "b", "c")]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for _ in range(22):
        with tf.GradientTape() as tape:
            x = tf.ones([2, 4])
            for weight in weights:
                x = tf.tanh(tf.matmul(x, weight))
            loss = tf.reduce_mean(x)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.1 * gradient)
    tfdbg_tui.disable_dump_debug_info()
    heat = heat_of(tfdbg_tui.open_run(tmp_path))
    steps = {
        (heat.rows[row].name, side): heat.steps[
            heat.cells.columns[(heat.cells.rows == row) & (heat.cells.sides == side)]
        ].tolist()
        for row in range(len(heat.rows))
        for side in range(2)
    }
    told = {key: found for key, found in steps.items() if found}
    assert len(told) >= 4
    assert all({2, 4, 7, 12, 21} <= {*found} for found in told.values()), told


def test_of_loops_few_iterations_are_measured_later_unless_asked_for() -> None:
    iterations = np.array([*range(9), 31, 32, 33, 64] * 3)
    measured = np.repeat([*Measured], 13)
    found = magnitudes.are_measured(iterations, measured)
    assert [*iterations[found & (measured == Measured.FEW_ITERATIONS)]] == [0, 4, 32, 64]
    assert [*iterations[found & (measured == Measured.MANY_ITERATIONS)]] == [0, 1, 2, 4, 8, 32, 64]
    assert not found[measured == Measured.NOTHING].any()
    kinds = {}
    for every in (None, 10):
        steps = magnitudes.MeasuredSteps(every)
        kinds[every] = [steps.next("a line") for _ in range(21)]
    assert kinds[None][2] is Measured.MANY_ITERATIONS
    assert kinds[None][12] is Measured.FEW_ITERATIONS
    assert kinds[10][20] is Measured.MANY_ITERATIONS


@tf.function(input_signature=[tf.TensorSpec([None, 65], tf.float32)])
def of_any_length(x: Any) -> Any:
    for number in range(20):
        x = tf.add(x, x, name=f"twice_{number}")
    return tf.transpose(x, name="turned")


def test_measured_executions_that_are_healthy_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone: list[Any] = []
    monkeypatch.setattr(
        graph_executions.GraphExecutions, "_add_alone", lambda self, *told: alone.append(told)
    )
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=1)
    lengths = [3, 100, 3, 7]
    for number, length in enumerate(lengths):
        with tfdbg_tui.step(number):
            of_any_length(tf.fill([length, 65], float(number + 1)))
    of_any_length(tf.fill([9, 65], -5.0))  # outside of steps
    tfdbg_tui.disable_dump_debug_info()
    assert not alone
    traces = tfdbg_tui.open_run(tmp_path).graph_executions
    for name, factor in (("twice_0", 2.0), ("twice_19", 2.0**20), ("turned", 2.0**20)):
        found = [(t.step, t.summary) for t in traces if t.op_name == name]
        told = [(step, of.size, of.minimum, of.maximum) for step, of in found]
        largest = [*(factor * (number + 1) for number in range(4)), factor * -5]
        sizes = [65 * length for length in (*lengths, 9)]
        assert told == list(zip([0, 1, 2, 3, None], sizes, largest, largest, strict=True))


@tf.function(input_signature=[tf.TensorSpec([64, 128], tf.float32)])
def masked(x: Any) -> Any:
    return tf.exp(tf.where(x > 0.0, x, -np.inf))


def test_a_bad_constant_keeps_measured_executions_apart_for_a_while_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[Batch] = []

    def batch(*args: Any) -> Batch:
        batches.append(Batch(*args))
        return batches[-1]

    monkeypatch.setattr(graph_executions, "Batch", batch)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=1)
    for number in range(summaries.TIMES_DETAILED + 5):
        with tfdbg_tui.step(number):
            masked(tf.fill([64, 128], 0.5))
    tfdbg_tui.disable_dump_debug_info()
    assert len(batches) == summaries.TIMES_DETAILED
    run = tfdbg_tui.open_run(tmp_path)
    found = [t.summary for t in run.graph_executions if t.op_name == "Exp"]
    assert {of.maximum for of in found} == {float(np.exp(np.float32(0.5)))}
    assert len(found) == summaries.TIMES_DETAILED + 5


@pytest.mark.parametrize("size", [3, 5000])
def test_what_is_bad_for_the_first_time_is_measured_with_all_beside_it(
    tmp_path: Path, size: int
) -> None:
    @tf.function
    def halve_and_square(x: Any) -> Any:
        return tf.multiply(x, 0.5, name="half"), tf.square(x, name="square")

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for number in range(12):
        with tfdbg_tui.step(number):
            halve_and_square(tf.fill([size], 1e30 if number in (5, 9) else 1.0))
    tfdbg_tui.disable_dump_debug_info()
    largest = {
        trace.step: trace.summary.maximum
        for trace in tfdbg_tui.open_run(tmp_path).graph_executions
        if trace.op_name == "half" and trace.summary.maximum is not None
    }
    half = float(np.float32(1e30) / 2)
    assert largest == {**dict.fromkeys((0, 1, 2, 4, 7), 0.5), 5: half}
