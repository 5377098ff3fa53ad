"""Why it is right not to look at every tensor: what is bad in one shows in another."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui.dump.encode import summaries  # noqa: E402
from tfdbg_tui.dump.observe import coverage  # noqa: E402
from tfdbg_tui.wire import events, filesets, tfrecord  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

raw = tf.raw_ops
CASES: dict[str, tuple[Callable[..., Any], list[list[int]]]] = {
    **{
        name: (lambda x, name=name: getattr(raw, name)(x=x), [[2, 3]])
        for name in (
            *("Abs", "Neg", "Square", "Sqrt", "Log", "Log1p", "Sin", "Cos", "Tan"),
            *("Sinh", "Cosh", "Ceil", "Floor", "Rint", "Round"),
        )
    },
    "LogSoftmax": (lambda x: raw.LogSoftmax(logits=x), [[2, 3]]),
    "Cumsum": (lambda x: raw.Cumsum(x=x, axis=0), [[2, 3]]),
    "Cast f16": (lambda x: raw.Cast(x=x, DstT=tf.float16), [[2, 3]]),
    "Cast bf16": (lambda x: raw.Cast(x=x, DstT=tf.bfloat16, Truncate=True), [[2, 3]]),
    "Cast f64": (lambda x: raw.Cast(x=x, DstT=tf.float64), [[2, 3]]),
    "Sum": (lambda x: raw.Sum(input=x, axis=[0]), [[2, 3]]),
    "Mean": (lambda x: raw.Mean(input=x, axis=[0, 1]), [[2, 3]]),
    "L2Loss": (lambda x: raw.L2Loss(t=x), [[2, 3]]),
    "BiasAdd": (lambda x, b: raw.BiasAdd(value=x, bias=b), [[2, 3], [3]]),
    "BiasAddGrad": (lambda x: raw.BiasAddGrad(out_backprop=x), [[2, 3]]),
    "Pad": (lambda x: raw.Pad(input=x, paddings=[[1, 0], [0, 2]]), [[2, 3]]),
    "PadV2": (lambda x: raw.PadV2(input=x, paddings=[[1, 0]] * 2, constant_values=1.0), [[2, 3]]),
    **{
        name: (lambda x, y, name=name: getattr(raw, name)(x=x, y=y), [[2, 3], [3]])
        for name in ("Add", "AddV2", "Sub", "Mul", "SquaredDifference", "RealDiv")
    },
    **{
        name: (lambda y, dy, name=name: getattr(raw, name)(y=y, dy=dy), [[2, 3]] * 2)
        for name in ("SigmoidGrad", "TanhGrad")
    },
    "AddN": (lambda *x: raw.AddN(inputs=x), [[2, 3]] * 3),
    "ConcatV2": (lambda *x: raw.ConcatV2(values=x, axis=1), [[2, 3], [2, 1]]),
    "Pack": (lambda *x: raw.Pack(values=x, axis=1), [[2, 3]] * 2),
    "MatMul": (lambda a, b: raw.MatMul(a=a, b=b), [[2, 3], [3, 4]]),
    "MatMul transposed": (
        lambda a, b: raw.MatMul(a=a, b=b, transpose_a=True, transpose_b=True),
        [[3, 2], [4, 3]],
    ),
    "BatchMatMul": (lambda x, y: raw.BatchMatMul(x=x, y=y), [[2, 2, 3], [2, 3, 4]]),
    "BatchMatMulV2": (lambda x, y: raw.BatchMatMulV2(x=x, y=y), [[2, 2, 3], [1, 3, 4]]),
    "Einsum": (lambda *x: raw.Einsum(inputs=x, equation="abc,cd->bad"), [[2, 3, 2], [2, 3]]),
    "Conv2D": (
        lambda x, w: raw.Conv2D(input=x, filter=w, strides=[1] * 4, padding="SAME"),
        [[1, 4, 4, 2], [3, 3, 2, 2]],
    ),
}  # fmt: skip

NAN_CASES: dict[str, tuple[Callable[..., Any], list[list[int]]]] = {
    **CASES,
    **{
        name: (lambda x, name=name: getattr(raw, name)(x=x), [[2, 3]])
        for name in ("Rsqrt", "Exp", "Expm1", "Tanh", "Sigmoid", "Erf", "Erfc")
    },
    "Softmax": (lambda x: raw.Softmax(logits=x), [[2, 3]]),
    "Slice": (lambda x: raw.Slice(input=x, begin=[0, 1], size=[2, 2]), [[2, 3]]),
    "StridedSlice": (lambda x: x[:, 1], [[2, 3]]),
    "Tile": (lambda x: raw.Tile(input=x, multiples=[2, 1]), [[2, 3]]),
    "BroadcastTo": (lambda x: raw.BroadcastTo(input=x, shape=[2, 3]), [[3]]),
    "Split": (lambda x: raw.Split(axis=1, value=x, num_split=3)[2], [[2, 3]]),
    "Conv2D with strides": (
        lambda x, w: raw.Conv2D(input=x, filter=w, strides=[1, 3, 2, 1], padding="SAME"),
        [[1, 4, 5, 2], [3, 4, 2, 2]],
    ),
    "Conv3D": (
        lambda x, w: raw.Conv3D(input=x, filter=w, strides=[1, 2, 1, 1, 1], padding="SAME"),
        [[1, 1, 3, 2, 2], [3, 2, 2, 2, 2]],
    ),
    "DepthwiseConv2dNative": (
        lambda x, w: raw.DepthwiseConv2dNative(
            input=x, filter=w, strides=[1, 2, 2, 1], padding="VALID"
        ),
        [[1, 4, 4, 2], [3, 3, 2, 2]],
    ),
}


def function_and_op(make: Callable[..., Any], shapes: list[Any]) -> tuple[Any, Any]:
    """Return a function of more than one op, which TensorFlow's graph optimizer works on."""
    made = []

    def program(*inputs: Any) -> Any:
        made.append(make(*inputs))
        return tf.identity(made[-1]), [tf.reduce_max(x) for x in inputs]

    signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
    function = tf.function(program, input_signature=signature, autograph=False)
    function.get_concrete_function()
    return lambda *inputs: function(*inputs)[0], made[-1].op


@pytest.mark.parametrize("name", CASES)
def test_what_is_bad_in_a_covered_input_shows(name: str) -> None:
    make, shapes = CASES[name]
    function, op = function_and_op(make, shapes)
    covered = list(coverage.covered_inputs(op))
    assert covered
    for slot, other in itertools.product(covered, (0.0, 1.0, -3.0, np.inf, -np.inf)):
        for place, bad in itertools.product(np.ndindex(*shapes[slot]), (np.nan, np.inf, -np.inf)):
            inputs = [np.full(shape, other, np.float32) for shape in shapes]
            inputs[slot][...] = 2.0
            inputs[slot][place] = bad
            assert not np.isfinite(function(*inputs).numpy().astype(np.float64)).all(), (
                slot, place, bad, other,
            )  # fmt: skip


def test_every_entry_of_the_tables_is_tried() -> None:
    tables = (
        *(coverage._ALL_INPUTS, coverage._FIRST_INPUT),
        *(coverage._BROADCASTING, coverage._CONTRACTIONS),
    )
    assert {op for table in tables for op in table} == {name.split()[0] for name in CASES}


def nan_tables() -> frozenset[str]:
    any_input = coverage._NAN_OF_ANY | coverage._CONVOLUTIONS
    return coverage._NAN_OF_FIRST | any_input | coverage._NAN_OF_ALL | {"Split"}


def test_every_op_that_passes_nan_on_is_tried() -> None:
    assert nan_tables() <= {name.split()[0] for name in NAN_CASES}


@pytest.mark.parametrize("name", [n for n in NAN_CASES if n.split()[0] in nan_tables()])
def test_what_nan_is_said_to_make_is_nan_all_over(name: str) -> None:
    make, shapes = NAN_CASES[name]
    function, op = function_and_op(make, shapes)
    makers, is_all = coverage.makers_of_nan(op)
    slots = [slot for slot, x in enumerate(op.graph.inputs) if any(x is maker for maker in makers)]
    assert slots
    for some in [slots] if is_all else [[slot] for slot in slots]:
        for other in (0.0, 1.0, np.inf):
            inputs = [np.full(shape, other, np.float32) for shape in shapes]
            for slot in some:
                inputs[slot][...] = np.nan
            assert np.isnan(function(*inputs).numpy().astype(np.float64)).all(), (some, other)


@pytest.mark.parametrize(
    "how",
    [
        {"padding": "SAME", "dilations": [1, 4, 1, 1]},
        {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 3, 0, 0, 0, 0, 0]},
    ],
    ids=lambda how: how["padding"],
)
def test_nan_of_a_filter_may_be_over_padding_alone(how: dict[str, Any]) -> None:
    def make(x: Any, w: Any) -> Any:
        return raw.Conv2D(input=x, filter=w, strides=[1] * 4, **how)

    _, op = function_and_op(make, [[1, 3, 3, 1], [2, 1, 1, 1]])
    assert coverage.makers_of_nan(op) == ([], False)


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (raw.AddV2, [[1, 3], [0, 3]]),
        (raw.AddV2, [[1, 3], [None, 3]]),
        (lambda x, y: raw.MatMul(a=x, b=y), [[2, 3], [3, 0]]),
        (lambda x, y: raw.MatMul(a=x, b=y), [[2, 3], [3, None]]),
        (lambda x, y: raw.Einsum(inputs=[x, y], equation="aa,ab->b"), [[2, 2], [2, 3]]),
        (lambda x, y: raw.Einsum(inputs=[x, y], equation="ab,c->ab"), [[2, 2], [0]]),
        (lambda x, y: raw.Conv2D(input=x, filter=y, strides=[1, 2, 2, 1], padding="SAME"),
         [[1, 4, 4, 1], [1, 1, 1, 1]]),
        (lambda x, y: raw.Cast(x=x, DstT=tf.int32), [[2], [2]]),
        (lambda x, y: raw.RealDiv(x=y, y=x)[:0], [[2], [2]]),
    ],
)  # fmt: skip
def test_elements_that_may_not_reach_the_output_are_not_covered(make: Any, shapes: Any) -> None:
    call = make if make is not raw.AddV2 else (lambda x, y: raw.AddV2(x=x, y=y))
    _, op = function_and_op(call, shapes)
    assert 0 not in list(coverage.covered_inputs(op))


WIDE = 40_000  # More elements than are packed or counted together; small ones are covered, too.


@tf.function(autograph=False)
def chain(x: Any, small: Any) -> Any:
    """Large and small tensors, known and unknown shapes, each of them bad for some inputs."""
    logs = tf.math.log(x)
    doubled = logs * 2.0
    shifted = doubled - tf.reduce_sum(small)
    clipped = tf.nn.relu(-shifted)
    halves = [tf.cast(small, dtype) / 0.5 for dtype in (tf.float16, tf.bfloat16, tf.float64)]
    complex_small = tf.complex(small, small) * 2.0
    tf.math.exp(doubled) + 1.0  # Of no use.
    filled = raw.Fill(dims=[3], value=-2.0), raw.ZerosLike(x=small), raw.OnesLike(x=halves[0])
    sums = [tf.reduce_sum(each) for each in filled]
    return tf.reduce_mean(clipped + 1.0), halves, complex_small, sums


INPUTS = {
    "healthy": (np.ones(WIDE), [1.0, 2.0]),
    "large": (np.where(np.arange(WIDE) == 7, 0.0, 1.0), [1.0, 2.0]),
    "infinite": (np.where(np.arange(WIDE) == 9, np.inf, 1.0), [1.0, 2.0]),
    "small": (np.ones(WIDE), [np.nan, 2.0]),
    "overflow": (np.ones(WIDE), [3e38, 3e38]),
    "all": (np.full(WIDE, -1.0), [-np.inf, np.nan]),
    "nan": (np.full(WIDE, np.nan), [1.0, 2.0]),
}


def dump_chain(root: Path, mode: str, shape: list[int | None]) -> None:
    for name, (x, small) in INPUTS.items():
        tfdbg_tui.enable_dump_debug_info(str(root / name), mode, -1)
        concrete = chain.get_concrete_function(
            tf.TensorSpec(shape, tf.float32), tf.TensorSpec([2], tf.float32)
        )
        concrete(tf.constant(x, tf.float32), tf.constant(small, tf.float32))
        tfdbg_tui.disable_dump_debug_info()


def vectors(root: Path) -> dict[tuple[str, int], Any]:
    """Return the value vector of each tensor of a graph."""
    (file_set,) = filesets.find_file_sets(str(root))
    with open(file_set.path(filesets.GRAPH_EXECUTION_TRACES), "rb") as file:
        payloads = [payload for _, payload in tfrecord.records(file.read(), check=True)]
    found = {}
    for payload in payloads:
        event = events.DebugEvent.decode(payload)
        trace = events.GraphExecutionTrace.decode(event.graph_execution_trace)
        content = events.TensorProto.decode(trace.tensor_proto).tensor_content
        found[trace.op_name, trace.output_slot] = np.frombuffer(content)
    return found


@pytest.mark.parametrize("shape", [[WIDE], [None]])
def test_what_was_not_looked_at_is_counted_where_it_is_bad(
    tmp_path: Path, shape: list[int | None]
) -> None:
    dump_chain(tmp_path / "whole", "FULL_TENSOR", shape)
    for mode in ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "ADAPTIVE"):
        dump_chain(tmp_path / mode, mode, shape)
    for name in INPUTS:
        whole = {site: counts(a) for site, a in whole_tensors(tmp_path / "whole" / name).items()}
        for mode in ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "ADAPTIVE"):
            found = vectors(tmp_path / mode / name)
            for site, vector in found.items():
                expected = {
                    2: [any(whole[site][1:4])],
                    5: whole[site][:4],
                    11: [*vector[1:4], *whole[site]],
                }[len(vector)]
                assert vector[1:].tolist() == expected, (mode, name, site)
            assert mode == "ADAPTIVE" or found.keys() == whole.keys()


def test_what_others_make_nan_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []

    def count_bad(array: Any) -> Any:
        counted.append(array.size)
        return summaries.HealthCounts(size=array.size, nan=array.size)

    monkeypatch.setattr(summaries, "count_bad", count_bad)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    large = tf.fill([WIDE], np.nan)
    tf.function(lambda x: tf.square(x - tf.exp(x * 2.0)))(large)
    tfdbg_tui.disable_dump_debug_info()
    assert counted == [WIDE]  # in the argument


def whole_tensors(root: Path) -> dict[Any, Any]:
    reader = oracle.open_reader(str(root))
    return {
        (t.op_name, t.output_slot): reader.graph_execution_trace_to_tensor_value(t)
        for t in reader.graph_execution_traces()
        if reader.graph_execution_trace_to_tensor_value(t).dtype.kind in "fcV"
    }


def counts(array: Any) -> list[int]:
    """Return size, -∞, +∞, NaN, negative, zero, positive."""
    if array.dtype.kind == "c":
        nan = np.isnan(array)
        infinite = np.isinf(array) & ~nan
        zero = array == 0
        positive = ~(nan | infinite | zero)
        negatives = infinite & (np.isneginf(array.real) | np.isneginf(array.imag))
        parts = [negatives, infinite & ~negatives, nan, np.zeros_like(nan), zero, positive]
    else:
        array = array.astype(np.float64)
        finite = np.isfinite(array)
        parts = [
            *(np.isneginf(array), np.isposinf(array), np.isnan(array)),
            *(finite & (array < 0), array == 0, finite & (array > 0)),
        ]
    return [array.size, *(int(np.count_nonzero(part)) for part in parts)]


def test_gradients_make_use_of_what_nothing_used(tmp_path: Path) -> None:
    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        slope = tf.tanh(x)
        return x * 2.0, lambda upstream: upstream * slope

    @tf.function
    def looped(x: Any) -> Any:
        for _ in tf.range(2):
            x = doubled(x)
        return tf.reduce_sum(doubled(x))

    weights = tf.Variable(tf.ones([3]))
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.GradientTape() as tape:
        value = looped(weights)
    tape.gradient(value, weights)
    tfdbg_tui.disable_dump_debug_info()
    assert {"Tanh", "while/Tanh"} <= {op for op, _ in vectors(tmp_path)}
