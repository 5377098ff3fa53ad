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

_HALF, _FLOAT32, _FLOAT64, _INT32 = (
    dtype.as_datatype_enum for dtype in (tf.float16, tf.float32, tf.float64, tf.int32)
)
_NUMPY = {_FLOAT32: np.float32, _FLOAT64: np.float64, _INT32: np.int32}
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

    def summary(self, tensor: Any, mode: TensorDebugMode) -> Any:
        """Return the value vector of a floating or complex tensor in a health mode, without id."""
        if datatype_enum(tensor) in _PARTS:
            with own.work(), tensor_ops.beside(tensor):
                return _summary(tensor_ops.as_real(tensor), tensor.device, mode)
        return _summary(tensor, tensor.device, mode)

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

    def _flat(self, tensor: Any, device: str) -> Any:
        """Return a tensor's elements in one dimension, which copies none."""
        if rank(tensor) == 1:
            return tensor
        attrs = "T", datatype_enum(tensor), "Tshape", _INT32
        return run_op("Reshape", [tensor, self._constant((-1,))], attrs, device=device)[0]

    def _joined(self, vectors: list[Any], device: str) -> Any:
        if len(vectors) == 1:
            return vectors[0]
        attrs = "N", len(vectors), "T", datatype_enum(vectors[0]), "Tidx", _INT32
        return run_op("ConcatV2", [*vectors, self._constant(0)], attrs, device=device)[0]

    def _constant(self, value: Any, number: int = _INT32, device: str = _CPU) -> Any:
        """Return a constant; ops read shapes and axes in the memory of the host."""
        key = device, number, value
        if key not in self._constants:
            self._constants[key] = EagerTensor(np.array(value, _NUMPY[number]), device, number)
        return self._constants[key]


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
