"""Looks at eager tensors that are in the memory of an accelerator, by functions that run there.

After each op that a thread runs, Python may let it wait for others.  No op callback and no tape of
the program's sees the functions, and none of them needs a thread of TensorFlow's: the thread that
waits for them may be one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor

from tfdbg_tui.dump.tensorflow import functions, graph_ops, own, resources, tensor_ops
from tfdbg_tui.dump.tensorflow.eager_tensor import datatype_enum, num_elements
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

_DOUBLE, _INT32, _INT64 = (dtype.as_datatype_enum for dtype in (tf.float64, tf.int32, tf.int64))
_CPU = "/device:CPU:0"

_MAX_TOGETHER = 64
"""So many tensors are looked at by one op at most: of all of these more is to be found out where
one is bad."""
_MAX_COPIED = 1 << 20
"""Elements of tensors that are copied for that: an accelerator's memory may be nearly full.

One that has more is looked at by TensorFlow's summary op, which copies nothing."""

_LINE = 1024
"""So many elements are counted in one go: float16 has all whole numbers up to 2,048."""

_functions = resources.OfContexts()


def chunks(tensors: Sequence[Any]) -> list[list[Any]]:
    """Return floating and complex tensors in lists, to be looked at together."""
    last: dict[Any, list[Any]] = {}
    sizes: dict[Any, int] = {}
    found = []
    for tensor in tensors:
        key, size = (tensor.device, datatype_enum(tensor)), num_elements(tensor)
        sizes[key] = sizes.get(key, 0) + size
        if key not in last or len(last[key]) == _MAX_TOGETHER or sizes[key] > _MAX_COPIED:
            last[key], sizes[key] = [], size
            found.append(last[key])
        last[key].append(tensor)
    return found


def all_finite(tensors: Sequence[Any]) -> Any:
    """Return ``[whether all elements are finite]`` of the tensors of one of `chunks`."""
    if _is_large(tensors):
        return _called(_is_finite, tensors)
    return _called(_all_finite, _filled_up(tensors))


def counts(tensors: Sequence[Any], mode: TensorDebugMode) -> Any:
    """Return what `counts_in` makes the counts of the tensors of one of `chunks` of.

    On a GPU, TensorFlow's own op takes more than a millisecond to count in a tensor of any size, so
    that one gets none but large tensors.

    Args:
        tensors: The tensors.
        mode: Says what is counted.
    """
    if _is_large(tensors):
        return _called(_summary, tensors, mode=mode)
    tensors, device = _filled_up(tensors), tensors[0].device
    sizes = [num_elements(tensor) for tensor in tensors]
    lines, places = _lines(sizes)
    paddings = np.array([[0, lines * _LINE - sum(sizes)]], np.int32)
    more = [
        EagerTensor(paddings, _CPU, _INT32),  # where ops read it
        EagerTensor(np.array(places, np.int64), device, _INT64),
    ]
    return _called(_counted_in_lines, tensors, more, mode=mode)


def extremes(tensor: Any) -> Any:
    """Return ``[smallest, largest]`` finite element of a floating tensor.

    Where there is none, they are infinite.
    """
    return _called(_extremes, [tensor])


def to_host(vectors: Sequence[Any]) -> list[Any]:
    """Return the elements of float64 vectors, copied together from each device."""
    by_device: dict[str, list[int]] = {}
    for number, vector in enumerate(vectors):
        by_device.setdefault(vector.device, []).append(number)
    found: list[Any] = [None] * len(vectors)
    for device, numbers in by_device.items():
        some = [vectors[number] for number in numbers]
        ends = np.cumsum([num_elements(vector) for vector in some])
        if len(some) > 1:
            zero = EagerTensor(np.array(0, np.int32), _CPU, _INT32)
            attrs = "N", len(some), "T", _DOUBLE, "Tidx", _INT32
            some = resources.run_op("ConcatV2", [*some, zero], attrs, device=device)
        parts = np.split(some[0].numpy(), ends[:-1])
        for number, part in zip(numbers, parts, strict=True):
            found[number] = part
    return found


def forget(context: Any) -> None:
    """Give back what was made for a context that the program has thrown away."""
    _functions.forget(context)


def counts_in(
    vector: npt.NDArray[np.float64], tensors: Sequence[Any], mode: TensorDebugMode
) -> list[list[int]]:
    """Return what is counted of each tensor of one of `chunks`, given what `counts` has found.

    That is its size, -∞, +∞ and NaN; in FULL_HEALTH negative, zero and positive after these.

    Args:
        vector: The elements of what was found.
        tensors: The tensors.
        mode: See `counts`.
    """
    is_full = mode is TensorDebugMode.FULL_HEALTH
    if _is_large(tensors):
        if mode is TensorDebugMode.CURT_HEALTH:
            return [[num_elements(tensors[0]), 0, 0, int(vector[1])]]
        return [vector[4 if is_full else 1 :].astype(np.int64).tolist()]
    sizes = np.array([num_elements(tensor) for tensor in _filled_up(tensors)])
    lines, places = _lines(sizes)
    found = vector.reshape(-1, len(places)).astype(np.int64)
    in_lines, in_last_lines = np.split(found, [lines], axis=1)
    before = np.cumsum(in_lines, axis=1) - in_lines
    until = before[:, np.array(places[lines:]) // _LINE] + in_last_lines
    until[:, np.cumsum(sizes) == 0] = 0
    counted = np.diff(until, axis=1, prepend=0)
    if is_full:
        minus, plus, zero, nan, below_zero = counted
        negative = below_zero - minus
        positive = sizes - (minus + plus + nan + negative + zero)
        counted = np.array([minus, plus, nan, negative, zero, positive])
    found_of_each: list[list[int]] = np.vstack([sizes, counted]).T.tolist()
    return found_of_each[: len(tensors)]


def _is_large(tensors: Sequence[Any]) -> bool:
    """Return whether one of `chunks` is a tensor that is too large to be copied."""
    return int(num_elements(tensors[0])) > _MAX_COPIED


def _lines(sizes: Any) -> tuple[int, list[int]]:
    """Return how many lines tensors fill, and the last place of each line and of each tensor."""
    ends = np.cumsum(sizes)
    lines = max(1, -(-int(ends[-1]) // _LINE))
    lasts = np.maximum(ends, 1) - 1  # An empty tensor at the beginning has none.
    return lines, [*(_LINE - 1 + _LINE * np.arange(lines)).tolist(), *lasts.tolist()]


def _filled_up(tensors: Sequence[Any]) -> list[Any]:
    """Return tensors, the smallest some more times: functions are made for few numbers of them."""
    count = 1 << (len(tensors) - 1).bit_length()
    return [*tensors, *[min(tensors, key=num_elements)] * (count - len(tensors))]


# ---- Functions ---------------------------------------------------------------------------------


def _called(
    add_ops: Callable[..., Any],
    tensors: Sequence[Any],
    more: Sequence[Any] = (),
    mode: TensorDebugMode | None = None,
) -> Any:
    """Return what ops find in tensors of one type on one device, a float64 vector there.

    Args:
        add_ops: Adds the ops to the graph of a function, and returns its output.
        tensors: The tensors.
        more: What else the ops take.
        mode: What they count.
    """
    device = tensors[0].device
    inputs = [*tensors, *more]
    types = tuple(map(datatype_enum, inputs))
    key = add_ops, device, types, len(tensors), mode
    function = _functions.get(resources.current_context(), key, _function)
    (found,) = resources.run_function(function, inputs, [_DOUBLE], device=device)
    return found


def _function(
    add_ops: Callable[..., Any],
    device: str,
    types: Sequence[int],
    count: int,
    mode: TensorDebugMode | None,
) -> Any:
    graph = own.new_graph()
    graph.inputs = [
        graph_ops.new_input(graph, f"input_{place}", tf.as_dtype(number), None, device)
        for place, number in enumerate(types)
    ]
    ops = OpMaker(graph, device)
    together = _joined(ops, graph.inputs[:count])
    with own.adding_ops(), graph.as_default(), tf.device(device):
        found = add_ops(ops, together, *graph.inputs[count:], **({"mode": mode} if mode else {}))
    flat = ops.tensor("Reshape", found, ops.constant([-1], tf.int32))
    graph.outputs = [_cast(ops, flat, tf.float64)]
    return functions.make_function(*functions.definition_of(graph))


def _joined(ops: OpMaker, tensors: Sequence[Any]) -> Any:
    """Return all elements, in one dimension."""
    shape = ops.constant([-1], tf.int32)
    flat = [ops.tensor("Reshape", tensor_ops.widened(ops, t), shape) for t in tensors]
    return ops.tensor("ConcatV2", flat, ops.constant(0, tf.int32)) if len(flat) > 1 else flat[0]


def _is_finite(ops: OpMaker, together: Any) -> Any:
    """Return whether all elements are finite; for that nothing of their size is made."""
    bad = ops.tensor("Sum", tensor_ops.curt_summary(ops, together), ops.constant([0], tf.int32))
    return ops.tensor("Equal", bad, ops.constant(0.0, tf.float64))


def _all_finite(ops: OpMaker, together: Any) -> Any:
    dtype = together.dtype
    if dtype.is_complex:
        parts = ops.tensor("Bitcast", together, type=dtype.real_dtype)
        together = ops.tensor("Reshape", parts, ops.constant([-1], tf.int32))
    return ops.tensor("All", ops.tensor("IsFinite", together), ops.constant([0], tf.int32))


def _summary(ops: OpMaker, together: Any, mode: TensorDebugMode) -> Any:
    real = tensor_ops.as_real(together)
    options = {"tensor_id": -1, "tensor_debug_mode": int(mode), "output_dtype": tf.float64}
    return ops.tensor("DebugNumericSummaryV2", real, **options)


def _counted_in_lines(
    ops: OpMaker, together: Any, paddings: Any, places: Any, mode: TensorDebugMode
) -> Any:
    """Return what is counted in each line of elements, and in it until each tensor ends.

    Args:
        ops: Makes the ops.
        together: The elements of all tensors.
        paddings: What is missing of the last line.
        places: Where the lines and the tensors end.
        mode: Says what is counted.
    """
    real = ops.tensor("Pad", tensor_ops.as_real(together), paddings)
    real = ops.tensor("Reshape", real, ops.constant([1, -1, _LINE], tf.int32))
    is_full = mode is TensorDebugMode.FULL_HEALTH
    values = (-math.inf, math.inf, 0.0) if is_full else (-math.inf, math.inf)
    equal_to = ops.constant([[[value]] for value in values], real.dtype)
    found = [ops.tensor("Equal", real, equal_to), ops.tensor("IsNan", real)]
    if is_full:
        found.append(ops.tensor("Less", real, ops.constant(0.0, real.dtype)))
    is_it = ops.tensor("ConcatV2", found, ops.constant(0, tf.int32))
    ones = _cast(ops, is_it, tf.float16)
    counted = ops.tensor("Cumsum", ones, ops.constant(2, tf.int32))
    shape = ops.constant([len(values) + len(found) - 1, -1], tf.int32)
    counted = ops.tensor("Reshape", counted, shape)
    return ops.tensor("GatherV2", counted, places, ops.constant(1, tf.int32))


def _extremes(ops: OpMaker, tensor: Any) -> Any:
    wide = tensor_ops.as_real(tensor)
    is_finite = ops.tensor("IsFinite", wide)
    ends = []
    for reduction, none in ("Min", math.inf), ("Max", -math.inf):
        finite = ops.tensor("SelectV2", is_finite, wide, ops.constant(none, wide.dtype))
        ends.append(ops.tensor(reduction, finite, ops.constant([0], tf.int32)))
    return ops.tensor("Pack", ends)


def _cast(ops: OpMaker, tensor: Any, dtype: Any) -> Any:
    return tensor if tensor.dtype == dtype else ops.tensor("Cast", tensor, DstT=dtype)
