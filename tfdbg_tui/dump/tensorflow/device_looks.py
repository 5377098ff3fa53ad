"""Looks at eager tensors that are in the memory of an accelerator, by ops that run there.

No op callback and no tape of the program's sees these ops, and none of them needs a thread of
TensorFlow's: the thread that waits for them may be one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor

from tfdbg_tui.dump.tensorflow import own, tensor_ops
from tfdbg_tui.dump.tensorflow.eager_tensor import datatype_enum, num_elements, rank
from tfdbg_tui.dump.tensorflow.resources import run_op
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

_HALF, _FLOAT32, _FLOAT64, _INT32, _INT64 = (
    dtype.as_datatype_enum for dtype in (tf.float16, tf.float32, tf.float64, tf.int32, tf.int64)
)
_NUMPY = {_FLOAT32: np.float32, _FLOAT64: np.float64, _INT32: np.int32, _INT64: np.int64}
_PARTS = {tf.complex64.as_datatype_enum: _FLOAT32, tf.complex128.as_datatype_enum: _FLOAT64}
"""Of each complex type that of its parts."""

_JOINED = {_HALF, tf.bfloat16.as_datatype_enum, _FLOAT32, _FLOAT64, *_PARTS}
"""The types whose tensors can be joined on accelerators: of float8 there is no kernel for that."""

_CPU = "/device:CPU:0"

_MAX_TOGETHER = 64
"""So many tensors are looked at by one op at most: of all of these more is to be found out where
one is bad."""
_MAX_COPIED = 1 << 20
"""Elements of tensors that are copied for that: an accelerator's memory may be nearly full."""

_LINE = 1024
"""So many elements are counted in one go: float16 has all whole numbers up to 2,048."""


def chunks(tensors: Sequence[Any]) -> list[list[Any]]:
    """Return floating and complex tensors in lists, of each of which `any_bad` can be asked."""
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


class DeviceLooks:
    """Makes vectors of float64 numbers, each where the tensors are that it tells of.

    One is good for a few looks in a row: it keeps the constants that the ops take.
    """

    def __init__(self) -> None:
        self._constants: dict[tuple[str, int, Any], Any] = {}

    def any_bad(self, tensors: Sequence[Any]) -> Any:
        """Return ``[-1, whether a tensor has NaN or infinity]`` of one of `chunks`."""
        device, number = tensors[0].device, datatype_enum(tensors[0])
        if number not in _JOINED:
            tensors = [_widened(tensor, device) for tensor in tensors]
        together = self._joined([self._flat(tensor, device) for tensor in tensors], device)
        if number in _PARTS:
            attrs = "T", number, "type", _PARTS[number]
            (together,) = run_op("Bitcast", [together], attrs, device=device)
        return _summary(together, device, TensorDebugMode.CURT_HEALTH)

    def counts(self, tensors: Sequence[Any], mode: TensorDebugMode) -> Any:
        """Return what `counts_in` makes the counts of the tensors of one of `chunks` of.

        On a GPU, TensorFlow's own op takes more than a millisecond to count in a tensor of any
        size, so that one gets none but large tensors.

        Args:
            tensors: The tensors.
            mode: Says what is counted.
        """
        device, number = tensors[0].device, datatype_enum(tensors[0])
        if number not in _JOINED:
            tensors = [_widened(tensor, device) for tensor in tensors]
        together = self._joined([self._flat(tensor, device) for tensor in tensors], device)
        if number in _PARTS:
            with own.work(), tensor_ops.beside(together):
                together = tensor_ops.as_real(together)
        if _is_large(tensors):
            return _summary(together, device, mode)
        sizes = [num_elements(tensor) for tensor in tensors]
        return self._counted_in_lines(_widened(together, device), sizes, device, mode)

    def extremes(self, tensor: Any) -> Any:
        """Return ``[smallest, largest]`` finite element of a floating tensor.

        Where there is none, they are infinite.
        """
        device = tensor.device
        wide = self._flat(_widened(tensor, device), device)
        number = datatype_enum(wide)
        (is_finite,) = run_op("IsFinite", [wide], ("T", number), device=device)
        ends = []
        for reduction, none in ("Min", math.inf), ("Max", -math.inf):
            filler = self._constant(none, number, device)
            taken = [is_finite, wide, filler]
            (finite,) = run_op("SelectV2", taken, ("T", number), device=device)
            attrs = "T", number, "Tidx", _INT32, "keep_dims", False
            ends += run_op(reduction, [finite, self._constant(0)], attrs, device=device)
        (pair,) = run_op("Pack", ends, ("N", 2, "T", number, "axis", 0), device=device)
        return pair if number == _FLOAT64 else _cast(pair, device, _FLOAT64)

    def to_host(self, vectors: Sequence[Any]) -> list[Any]:
        """Return the elements of vectors, copied together from each device."""
        by_device: dict[str, list[int]] = {}
        for number, vector in enumerate(vectors):
            by_device.setdefault(vector.device, []).append(number)
        found: list[Any] = [None] * len(vectors)
        for device, numbers in by_device.items():
            some = [vectors[number] for number in numbers]
            ends = np.cumsum([num_elements(vector) for vector in some])
            array = self._joined(some, device).numpy()
            for number, part in zip(numbers, np.split(array, ends[:-1]), strict=True):
                found[number] = part
        return found

    def _counted_in_lines(
        self, real: Any, sizes: Sequence[int], device: str, mode: TensorDebugMode
    ) -> Any:
        """Return what is counted in each line of elements, and in it until each tensor ends.

        Args:
            real: The float32 or float64 elements of all tensors.
            sizes: How many elements each has.
            device: Where they are.
            mode: Says what is counted.
        """
        number, size = datatype_enum(real), num_elements(real)
        lines, ends = _lines(sizes)
        attrs: tuple[Any, ...] = "T", number, "Tpaddings", _INT32
        paddings = self._constant(((0, lines * _LINE - size),))
        (real,) = run_op("Pad", [real, paddings], attrs, device=device)
        real = self._shaped(real, (1, lines, _LINE), device)
        is_full = mode is TensorDebugMode.FULL_HEALTH
        values = (-math.inf, math.inf, 0.0) if is_full else (-math.inf, math.inf)
        equal_to = self._constant(tuple(((value,),) for value in values), number, device)
        attrs = "T", number, "incompatible_shape_error", True
        found = run_op("Equal", [real, equal_to], attrs, device=device)
        found += run_op("IsNan", [real], ("T", number), device=device)
        if is_full:
            zero = self._constant(0.0, number, device)
            found += run_op("Less", [real, zero], ("T", number), device=device)
        ones = _cast(self._joined(found, device), device, _HALF)
        attrs = "T", _HALF, "Tidx", _INT32, "exclusive", False, "reverse", False
        (counted,) = run_op("Cumsum", [ones, self._constant(2)], attrs, device=device)
        counted = self._shaped(counted, (-1, lines * _LINE), device)
        attrs = "Tparams", _HALF, "Tindices", _INT64, "Taxis", _INT32, "batch_dims", 0
        places = self._constant(tuple(ends), _INT64, device)
        taken = [counted, places, self._constant(1)]
        (counted,) = run_op("GatherV2", taken, attrs, device=device)
        return self._flat(_cast(counted, device, _FLOAT64), device)

    def _flat(self, tensor: Any, device: str) -> Any:
        """Return a tensor's elements in one dimension, which copies none."""
        return tensor if rank(tensor) == 1 else self._shaped(tensor, (-1,), device)

    def _shaped(self, tensor: Any, shape: tuple[int, ...], device: str) -> Any:
        attrs = "T", datatype_enum(tensor), "Tshape", _INT32
        return run_op("Reshape", [tensor, self._constant(shape)], attrs, device=device)[0]

    def _joined(self, tensors: list[Any], device: str) -> Any:
        if len(tensors) == 1:
            return tensors[0]
        attrs = "N", len(tensors), "T", datatype_enum(tensors[0]), "Tidx", _INT32
        return run_op("ConcatV2", [*tensors, self._constant(0)], attrs, device=device)[0]

    def _constant(self, value: Any, number: int = _INT32, device: str = _CPU) -> Any:
        """Return a constant; ops read shapes and axes in the memory of the host."""
        key = device, number, value
        if key not in self._constants:
            self._constants[key] = EagerTensor(np.array(value, _NUMPY[number]), device, number)
        return self._constants[key]


def counts_in(
    vector: npt.NDArray[np.float64], tensors: Sequence[Any], mode: TensorDebugMode
) -> list[list[int]]:
    """Return what is counted of each tensor of one of `chunks`, given what `counts` has found.

    That is its size, -∞, +∞ and NaN; in FULL_HEALTH negative, zero and positive after these.

    Args:
        vector: The elements of what was found.
        tensors: The tensors.
        mode: See `DeviceLooks.counts`.
    """
    is_full = mode is TensorDebugMode.FULL_HEALTH
    if _is_large(tensors):
        if mode is TensorDebugMode.CURT_HEALTH:
            return [[num_elements(tensors[0]), 0, 0, int(vector[1])]]
        return [vector[4 if is_full else 1 :].astype(np.int64).tolist()]
    sizes = np.array([num_elements(tensor) for tensor in tensors])
    lines, places = _lines(sizes)
    found = vector.reshape(-1, len(places)).astype(np.int64)
    in_lines, in_last_lines = np.split(found, [lines], axis=1)
    before = np.cumsum(in_lines, axis=1) - in_lines
    until = before[:, np.array(places[lines:]) // _LINE] + in_last_lines
    until[:, np.cumsum(sizes) == 0] = 0
    counts = np.diff(until, axis=1, prepend=0)
    if is_full:
        minus, plus, zero, nan, below_zero = counts
        negative = below_zero - minus
        positive = sizes - (minus + plus + nan + negative + zero)
        counts = np.array([minus, plus, nan, negative, zero, positive])
    return np.vstack([sizes, counts]).T.tolist()  # type: ignore[no-any-return]


def _is_large(tensors: Sequence[Any]) -> bool:
    """Return whether one of `chunks` is a tensor that is too large to be copied."""
    return int(num_elements(tensors[0])) > _MAX_COPIED


def _lines(sizes: Any) -> tuple[int, list[int]]:
    """Return how many lines tensors fill, and the last place of each line and of each tensor."""
    ends = np.cumsum(sizes)
    lines = max(1, -(-int(ends[-1]) // _LINE))
    lasts = np.maximum(ends, 1) - 1  # An empty tensor at the beginning has none.
    return lines, [*(_LINE - 1 + _LINE * np.arange(lines)).tolist(), *lasts.tolist()]


def _summary(real: Any, device: str, mode: TensorDebugMode) -> Any:
    if datatype_enum(real) != _HALF:  # There is no kernel of the op for others on GPUs.
        real = _widened(real, device)
    attrs = (
        *("T", datatype_enum(real), "output_dtype", _FLOAT64),
        *("tensor_debug_mode", int(mode), "tensor_id", -1),
    )
    return run_op("DebugNumericSummaryV2", [real], attrs, device=device)[0]


def _widened(real: Any, device: str) -> Any:
    """Return a float32 or float64 tensor with the elements of a floating one."""
    if datatype_enum(real) in (_FLOAT32, _FLOAT64):
        return real
    return _cast(real, device, _FLOAT32)


def _cast(tensor: Any, device: str, number: int) -> Any:
    attrs = "SrcT", datatype_enum(tensor), "DstT", number, "Truncate", False
    return run_op("Cast", [tensor], attrs, device=device)[0]
