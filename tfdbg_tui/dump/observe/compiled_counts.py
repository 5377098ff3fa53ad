"""What is counted of the tensors of a function that XLA compiles, by ops that XLA can compile.

Counting NaN, -∞ and +∞ exactly costs one reduction: each element becomes a small integer with one
field of ten bits a kind, whose sums over a row of less than 1024 elements cannot overflow.

Where the smallest and the largest finite element are found as well, the same reduction does so: of
the bits as integers that have the order of the numbers, as CPUs compare many of them at once.

To make and to compile each op takes time, and a training step has a thousand tensors, so tensors of
one shape share the ops that count, all of them where the tensors are small, and all ops share their
constants.  `IsNan` and `IsFinite` take XLA ten times as long as comparisons do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode import summaries
from tfdbg_tui.dump.tensorflow import reductions, tensor_ops
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIELD_BITS = 10
_FIELD = (1 << _FIELD_BITS) - 1
_SMALL = 4096
"""Elements of a tensor that is cheaper to copy than to count on its own."""


class _KeyType(NamedTuple):
    """The integers that have the order of a floating type.

    Attributes:
        integer: Type of the integers.
        infinity: That of +∞; that of -∞ is its complement.
    """

    integer: Any
    infinity: int


_KEY_TYPES = {
    tf.float32: _KeyType(tf.int32, 0x7F800000),
    tf.float64: _KeyType(tf.int64, 0x7FF0000000000000),
}


def alike(tensors: Sequence[Any]) -> list[list[int]]:
    """Return the indices of the tensors in groups of one type and known shape."""
    groups: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        known = tensor.shape.is_fully_defined()
        key = (tensor.dtype.base_dtype, tuple(tensor.shape)) if known else i
        groups.setdefault(key, []).append(i)
    return list(groups.values())


class CompiledCounts:
    """Adds the ops that count to the current graph.

    Args:
        mode: Says what is counted.
        measured: Whether the smallest and largest finite elements are found too.
    """

    def __init__(self, mode: TensorDebugMode, *, measured: bool = False) -> None:
        self._mode = mode
        self._measured = measured
        self._constants: dict[tuple[Any, Any], Any] = {}

    def of(self, tensors: list[Any]) -> Any:
        """Return what is counted of tensors that are alike, as int64 ``[tensors, columns]``.

        Columns: nothing in NO_TENSOR; rank, size and six dimensions in SHAPE; size, -∞, +∞, NaN in
        the health modes; in FULL_HEALTH rank before, and negative and zero after these.  Last, if
        measured, two that `summaries.numbers_of_keys` makes the smallest and largest element of.
        """
        if self._mode is TensorDebugMode.NO_TENSOR:
            return tf.zeros([len(tensors), 0], tf.int64)
        if self._mode is TensorDebugMode.SHAPE:
            return tf.tile(self._shape_row(tensors[0]), [len(tensors), 1])
        return self._health(tensors)

    def number_of_bad(self, rows: Any) -> Any:
        """Return how many elements are NaN or ∞, of all tensors; None where that is not counted.

        Args:
            rows: What `of` has returned, of one tensor or more.
        """
        if self._mode in (TensorDebugMode.NO_TENSOR, TensorDebugMode.SHAPE):
            return None
        start = 2 if self._mode is TensorDebugMode.FULL_HEALTH else 1
        return tf.reduce_sum(rows[:, start : start + 3])

    def _shape_row(self, tensor: Any) -> Any:
        shape = tf.shape(tensor, tf.int64)[-6:]
        padded = tf.concat([shape, tf.zeros([6], tf.int64)], axis=0)[:6]
        rank, size = tf.cast(tf.rank(tensor), tf.int64), tf.size(tensor, tf.int64)
        return tf.reshape(tf.concat([[rank, size], padded], axis=0), [1, 8])

    def _health(self, tensors: list[Any]) -> Any:
        first, number = tensors[0], len(tensors)
        small = first.shape.is_fully_defined() and first.shape.num_elements() <= _SMALL
        blocks = [tf.stack(tensors)] if small else tensors
        blocks = [tensor_ops.as_real(block) for block in blocks]
        rows = self._constant((-1, _row_width(first.shape)), tf.int32)
        axis = self._constant(1, tf.int32)

        def sums(codes: list[Any], fields: int) -> Any:
            reshaped = [tf.raw_ops.Reshape(tensor=code, shape=rows) for code in codes]
            sums = [tf.raw_ops.Sum(input=rows, axis=axis) for rows in reshaped]
            return self._sum_fields(_together(sums, number), fields)

        columns = [tf.fill([number, 1], tf.size(first, tf.int64))]
        if self._measured and not first.dtype.is_complex:
            parts = [self._counted_and_ordered(block, rows) for block in blocks]
            codes, *ends = (_together(some, number) for some in zip(*parts, strict=True))
            keys = [
                reduce(input=end, axis=self._constant(2, tf.int32))
                for end, reduce in zip(ends, (tf.raw_ops.Min, tf.raw_ops.Max), strict=True)
            ]
            columns.append(self._sum_fields(tf.cast(codes, tf.int32), 3))
        else:
            # Complex numbers have no order.
            keys = [tf.fill([number, 1], self._constant(summaries.NO_KEY, tf.int64))] * 2
            columns.append(sums(list(map(self._bad_code, blocks)), 3))
        if self._mode is TensorDebugMode.FULL_HEALTH:
            columns.insert(0, tf.fill([number, 1], tf.cast(tf.rank(first), tf.int64)))
            columns.append(sums(list(map(self._sign_code, blocks)), 2))
        if self._measured:
            columns += [tf.cast(key, tf.int64) for key in keys]
        return tf.concat(columns, axis=1)

    def _counted_and_ordered(self, real: Any, rows: Any) -> Any:
        """Return sums of `_bad_code`, and the smallest and largest keys, of rows of elements.

        Args:
            real: The elements.
            rows: The shape that makes rows of them.
        """
        integer, infinity = _KEY_TYPES[real.dtype]
        dtype = integer.as_numpy_dtype

        def constant(value: int) -> Any:
            return self._constant(int(dtype(value)), integer)

        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
        bits = tf.raw_ops.Bitcast(input=real, type=integer)
        bits = tf.raw_ops.Reshape(tensor=bits, shape=rows)
        magnitude = tf.bitwise.bitwise_and(bits, constant(highest))
        # The larger a negative number, the smaller its magnitude.
        key = tf.where(tf.less(bits, constant(0)), tf.bitwise.invert(magnitude), magnitude)
        is_finite = tf.less(magnitude, constant(infinity))
        code = tf.where(tf.equal(key, constant(~infinity)), self._field(0, integer), constant(0))
        code = tf.where(tf.equal(key, constant(infinity)), self._field(1, integer), code)
        code = tf.where(tf.greater(magnitude, constant(infinity)), self._field(2, integer), code)
        low = tf.where(is_finite, key, constant(highest))
        high = tf.where(is_finite, key, constant(lowest))
        starts = [constant(0), constant(highest), constant(lowest)]
        return reductions.sum_and_ends([code, low, high], starts)

    def _bad_code(self, real: Any) -> Any:
        minus, plus = (self._constant(value, real.dtype) for value in (-np.inf, np.inf))
        code = tf.where(tf.equal(real, minus), self._field(0), self._field(None))
        code = tf.where(tf.equal(real, plus), self._field(1), code)
        return tf.where(tf.not_equal(real, real), self._field(2), code)

    def _sign_code(self, real: Any) -> Any:
        zero = self._constant(0.0, real.dtype)
        sign = tf.where(tf.equal(real, zero), self._field(1), self._field(None))
        sign = tf.where(real < zero, self._field(0), sign)
        minus, plus = (self._constant(value, real.dtype) for value in (-np.inf, np.inf))
        return tf.where((minus < real) & (real < plus), sign, self._field(None))

    def _sum_fields(self, sums: Any, fields: int) -> Any:
        """Return the totals of the fields.

        Args:
            sums: Int32 ``[tensors, 1, rows]``.
            fields: How many there are in each number.

        Returns:
            Int64 ``[tensors, fields]``.
        """
        shifts = self._constant(tuple((_FIELD_BITS * i,) for i in range(fields)), tf.int32)
        shifted = tf.bitwise.right_shift(sums, shifts)
        split = tf.bitwise.bitwise_and(shifted, self._constant(_FIELD, tf.int32))
        total = tf.raw_ops.Sum(input=split, axis=self._constant(2, tf.int32))
        return tf.cast(total, tf.int64)

    def _field(self, index: int | None, dtype: Any = tf.int32) -> Any:
        return self._constant(0 if index is None else 1 << _FIELD_BITS * index, dtype)

    def _constant(self, value: Any, dtype: Any) -> Any:
        key = value, dtype
        if key not in self._constants:
            self._constants[key] = tf.constant(value, dtype)
        return self._constants[key]


def _together(parts: Sequence[Any], number: int) -> Any:
    """Return rows of all tensors as ``[tensors, 1, rows of each]``."""
    return tf.reshape(tf.concat(parts, axis=0), [number, 1, -1])


def _row_width(shape: Any) -> int:
    """Return a number of elements, at most `_FIELD`, that divides the size of every such tensor."""
    if shape.rank is None:
        return 1
    width = 1
    for dimension in reversed(shape.as_list()):
        if not dimension:
            break
        limit = _FIELD // width
        width *= max(n for n in range(1, min(limit, dimension) + 1) if dimension % n == 0)
        if dimension > limit:
            break
    return width
