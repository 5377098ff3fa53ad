"""Value vectors computed with numpy: for eager tensors, and for bad tensors of graphs.

The numbers are those of TensorFlow's ``DebugNumericSummaryV2`` kernel (tensorflow/core/kernels/
debug_ops.cc).  TensorFlow runs its kernels with denormals flushed to zero, so a denormal counts
as a zero here too; a float16 denormal does not, because the kernel widens it to float32 first.
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import bad_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

_CHUNK = 1 << 16
"""Elements that one pass looks at, so that its temporary arrays stay in the CPU's cache."""

_CACHED = 1 << 17
"""Elements that are still in the cache when a second pass, without such arrays, looks at them."""

_FEW = 1024
"""Up to so many elements, the number of numpy's calls is what a look costs."""

EXACT_FLOAT32 = 1 << 24
"""A float32 sum of ones is exact up to here."""

TIMES_DETAILED = 10
"""How often the same pattern of a bad tensor is described in full."""

WATCHED = frozenset({1, 2, 8, 14, 18, 19, 24, 25, 26, 27, 28})
"""DataType numbers of the floating and complex types: those that can hold NaN or infinity."""

UNKNOWN_TO_OPS = frozenset({26, 27, 28})
"""Those of them that no op of TensorFlow's computes with: numpy alone can look at them."""


_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

_NO_EXTREME = float("nan")

NO_KEY = 0x7FFFFFFF
"""The largest int32: the bits of a NaN."""


@dataclass(frozen=True)
class _Layout:
    """The bits of a floating type, as an unsigned integer of the same width."""

    unsigned: type
    infinity: int
    smallest_counted: int  # Magnitudes below it count as zero.

    @cached_property
    def sign(self) -> int:
        return 1 << (8 * np.dtype(self.unsigned).itemsize - 1)

    @cached_property
    def magnitude(self) -> Any:
        """The mask of all bits but the sign."""
        return self.unsigned(self.sign - 1)


_LAYOUTS = {
    "float16": _Layout(np.uint16, 0x7C00, 1),
    "bfloat16": _Layout(np.uint16, 0x7F80, 0x0080),
    "float32": _Layout(np.uint32, 0x7F800000, 0x00800000),
    "float64": _Layout(np.uint64, 0x7FF0000000000000, 0x0010000000000000),
}


@dataclass(slots=True)
class HealthCounts:
    """How many elements of a tensor are what, and its smallest and largest finite element.

    `places` are its shape and where its first bad elements are; see `wire.bad_elements`.
    A complex number is NaN if either part is, else infinite if either part is; it has no sign, so
    every other non-zero one counts as positive.
    """

    size: int = 0
    neg_inf: int = 0
    pos_inf: int = 0
    nan: int = 0
    neg: int = 0
    zero: int = 0
    pos: int = 0
    minimum: float = _NO_EXTREME
    maximum: float = _NO_EXTREME
    places: tuple[float, ...] = field(default=bad_elements.UNKNOWN, kw_only=True)

    @property
    def bad(self) -> int:
        """How many elements are NaN or infinite."""
        return self.neg_inf + self.pos_inf + self.nan

    @property
    def kinds(self) -> tuple[bool, bool, bool]:
        """Whether it has NaN, -∞ and +∞."""
        return self.nan > 0, self.neg_inf > 0, self.pos_inf > 0

    def values(self) -> tuple[float, ...]:
        """Return the fields in order, one after the other."""
        bad = self.neg_inf, self.pos_inf, self.nan
        return (
            *(self.size, *bad, self.neg, self.zero, self.pos),
            *(self.minimum, self.maximum),
            *self.places,
        )


class Novelty:
    """Tells whether a bad tensor is worth counting everything about: the first times that it is.

    A training that has turned to NaN makes thousands of bad tensors a step, of which the first
    tell what happened; of the others NaN and infinity are counted and nothing else.
    """

    def __init__(self) -> None:
        self._times: dict[Hashable, int] = {}

    def is_new(self, pattern: Hashable) -> bool:
        """Note a bad tensor, and return whether it was seen less than a few times.

        Args:
            pattern: Which tensor, with what kinds of bad elements, from which inputs bad or not.
        """
        times = self._times.get(pattern, 0)
        if times < TIMES_DETAILED:
            self._times[pattern] = times + 1
        return times < TIMES_DETAILED


def all_finite(array: Any) -> bool:
    """Return whether a floating or complex array surely has no NaN or infinity.

    False may also mean that the cheap test could not tell (a sum of squares that overflows).
    """
    dtype = array.dtype
    if dtype is _FLOAT32 or dtype is _FLOAT64:
        size = array.size
        if size and not math.isfinite(array.item(0)):
            return False  # Most that begin with NaN are NaN all over: one look less.
        return size < 2 or math.isfinite(np.vdot(array, array))
    layout = _layout(dtype)
    if layout is None or array.size <= _FEW:
        return bool(np.count_nonzero(np.isfinite(array)) == array.size)
    bits = array.reshape(-1).view(layout.unsigned)
    return int((bits & layout.magnitude).max()) < layout.infinity


def all_nan(array: Any) -> bool:
    """Return whether a floating or complex array surely is NaN all over.

    False may also mean that the cheap test could not tell: of large arrays of complex numbers, and
    of NaN that have no bit in common besides those of infinity.
    """
    layout = _layout(array.dtype) if array.size > _FEW else None
    if layout is None:
        return 0 < array.size <= _CHUNK and bool(np.count_nonzero(array != array) == array.size)
    common = np.bitwise_and.reduce(array.view(layout.unsigned), axis=None)
    return int(common & layout.magnitude) > layout.infinity


def count_bad(array: Any) -> HealthCounts:
    """Count NaN, -∞ and +∞ in a floating or complex array, and nothing else."""
    flat = np.ascontiguousarray(array).reshape(-1)
    counts = HealthCounts(size=flat.size)
    if flat.dtype.kind == "c":
        _count_bad_complex(flat, counts)
    elif flat.dtype is _FLOAT32 or flat.dtype is _FLOAT64:
        for chunk in _chunks(flat):
            _count_bad_floats(chunk, counts)
    else:
        flat, layout = _with_layout(flat)
        for chunk in _chunks(flat):
            bits = chunk.view(layout.unsigned)
            _count_bad_bits(bits, bits & layout.magnitude, layout, counts)
    return counts


def count_bad_in_parts(
    arrays: Sequence[Any], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Count the bad elements of many small arrays in few calls of numpy's.

    Args:
        arrays: Floating arrays of one type.
        sizes: How many elements each part of them has, one behind the other; none of them is empty.

    Returns:
        Size, -∞, +∞ and NaN of each part, ``[parts, 4]``.
    """
    flat = np.concatenate(arrays, axis=None)
    starts = sizes.cumsum() - sizes
    counts: npt.NDArray[np.int64] = count_bad_of_each(flat[None], starts, sizes)[0]
    return counts


def count_bad_of_each(
    elements: Any, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Count the bad elements of many arrays that have the same parts.

    Args:
        elements: Those of the arrays, floating, ``[arrays, elements]``.
        starts: Where each part begins: one after the other, none of them empty.
        sizes: How many elements each has.

    Returns:
        Size, -∞, +∞ and NaN of each part, ``[arrays, parts, 4]``.
    """
    counts = np.zeros((len(elements), len(starts), 4), np.int64)
    counts[..., 0] = sizes
    is_finite = np.isfinite(elements)
    if is_finite.all():
        return counts
    is_nan = elements != elements
    counts[..., 3] = _count_of_each(is_nan, starts, sizes)
    if np.count_nonzero(is_finite) + np.count_nonzero(is_nan) < is_nan.size:
        counts[..., 1] = _count_of_each(elements == -np.inf, starts, sizes)
        counts[..., 2] = _count_of_each(elements == np.inf, starts, sizes)
    return counts


def _count_of_each(mask: npt.NDArray[np.bool_], starts: Any, sizes: Any) -> Any:
    """Return how many are true in each part of each array: mostly none or all.

    Args:
        mask: ``[arrays, elements]``.
        starts: Where each part begins.
        sizes: How many elements each has.
    """
    is_all = np.logical_and.reduceat(mask, starts, axis=1)
    if (is_all == np.logical_or.reduceat(mask, starts, axis=1)).all():
        return is_all * sizes
    # Sums of so few float32 are exact, and faster than those of integers.
    kind = np.float32 if mask.shape[1] < EXACT_FLOAT32 else np.int64
    return np.add.reduceat(mask.astype(kind), starts, axis=1)


def health_counts(array: Any, *, detailed: bool = False) -> HealthCounts:
    """Count the elements of a floating or complex array.

    Args:
        array: A numpy array of any shape.
        detailed: Whether to find the smallest and largest finite element too (not of complex
            numbers, which have no order), and the first bad ones.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    counts = HealthCounts(size=flat.size)
    if flat.dtype.kind == "c":
        _count_bad_complex(flat, counts)
        counts.zero = int(np.count_nonzero(flat == 0))
    else:
        flat, layout = _with_layout(flat)
        for chunk in _chunks(flat):
            bits = chunk.view(layout.unsigned)
            magnitude = bits & layout.magnitude
            bad = _count_bad_bits(bits, magnitude, layout, counts)
            if bad == chunk.size:
                continue
            counts.zero += int(np.count_nonzero(magnitude < layout.smallest_counted))
            counts.neg += _negative(bits, layout, any_bad=bad > 0)
            if detailed:
                _widen_extremes(chunk, counts)
    counts.pos = counts.size - counts.bad - counts.neg - counts.zero
    if detailed:
        places = _first_bad(flat, np.isnan if counts.nan else np.isinf) if counts.bad else ()
        counts.places = bad_elements.numbers(array.shape, places)
    return counts


def counts_of_equal(one: Any, shape: tuple[int, ...], *, detailed: bool) -> HealthCounts:
    """Return the counts of a tensor whose elements are all one finite number.

    Args:
        one: An array with this number alone.
        shape: The tensor's.
        detailed: See `health_counts`.
    """
    counts = health_counts(one, detailed=detailed)
    counts.size = math.prod(shape)
    counts.neg, counts.zero, counts.pos = (
        counts.size * number for number in (counts.neg, counts.zero, counts.pos)
    )
    counts.places = bad_elements.numbers(shape) if detailed else counts.places
    return counts


def _first_bad(flat: Any, is_bad: Callable[[Any], Any]) -> Sequence[int]:
    """Return where the first bad elements are: of infinity beside NaN is not told."""
    found: list[int] = []
    for start, chunk in zip(itertools.count(0, _CHUNK), _chunks(flat), strict=False):
        places = np.flatnonzero(is_bad(chunk))[: bad_elements.MAX_ELEMENTS]
        found += (places + start).tolist()
        if len(found) >= bad_elements.MAX_ELEMENTS:
            break
    return found


def _with_layout(flat: Any) -> tuple[Any, _Layout]:
    """Return an array whose bits are known: a type without a layout becomes float32."""
    layout = _layout(flat.dtype)
    if layout is not None:
        return flat, layout
    return flat.astype(np.float32), _LAYOUTS["float32"]


def _layout(dtype: Any) -> _Layout | None:
    name: str = dtype.type.__name__  # that of the dtype itself takes longer than a small tensor
    return _LAYOUTS.get(name)


def _chunks(flat: Any, size: int = _CHUNK) -> Iterator[Any]:
    return (flat[start : start + size] for start in range(0, flat.size, size))


def _count_bad_floats(chunk: Any, counts: HealthCounts) -> None:
    """Add the NaN and infinite elements to the counts: of all NaN, in one look."""
    nan = int(np.count_nonzero(chunk != chunk))
    counts.nan += nan
    if nan == chunk.size:
        return
    infinite = chunk.size - nan - int(np.count_nonzero(np.isfinite(chunk)))
    positive = int(np.count_nonzero(chunk == np.inf)) if infinite else 0
    counts.pos_inf += positive
    counts.neg_inf += infinite - positive


def _count_bad_bits(bits: Any, magnitude: Any, layout: _Layout, counts: HealthCounts) -> int:
    """Add the NaN and infinite elements to the counts; return how many there are."""
    bad = int(np.count_nonzero(magnitude >= layout.infinity))
    if not bad:
        return 0
    nan = int(np.count_nonzero(magnitude > layout.infinity))
    positive = int(np.count_nonzero(bits == layout.infinity)) if nan < bad else 0
    counts.nan += nan
    counts.pos_inf += positive
    counts.neg_inf += bad - nan - positive
    return bad


def _negative(bits: Any, layout: _Layout, *, any_bad: bool) -> int:
    """Return the number of negative finite elements."""
    sign = layout.sign
    negative = np.count_nonzero(bits >= layout.unsigned(sign + layout.smallest_counted))
    if any_bad:  # The bits of -∞ and of NaN with a sign are the largest of all.
        negative -= np.count_nonzero(bits >= layout.unsigned(sign + layout.infinity))
    return int(negative)


def _widen_extremes(chunk: Any, counts: HealthCounts) -> None:
    values = chunk if chunk.dtype.itemsize > 2 else chunk.astype(np.float32)
    finite = values[np.isfinite(values)]
    if finite.size:
        counts.minimum = float(np.fmin(counts.minimum, finite.min()))
        counts.maximum = float(np.fmax(counts.maximum, finite.max()))


def _count_bad_complex(flat: Any, counts: HealthCounts) -> None:
    nan = np.isnan(flat)
    pos_inf = (np.isposinf(flat.real) | np.isposinf(flat.imag)) & ~nan
    neg_inf = (np.isneginf(flat.real) | np.isneginf(flat.imag)) & ~nan & ~pos_inf
    counts.nan = int(np.count_nonzero(nan))
    counts.pos_inf = int(np.count_nonzero(pos_inf))
    counts.neg_inf = int(np.count_nonzero(neg_inf))


def extremes(array: Any) -> tuple[float, float]:
    """Return the smallest and the largest finite element of an array; see `extremes_of_each`."""
    found = finite_extremes(array)
    if found is not None:
        return found
    rows = array.reshape(1, -1)
    if rows.size and rows.dtype.kind != "c":
        low, high = (float(end[0]) for end in _ordered_extremes(rows))
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    low, high = extremes_of_each(rows)[0].tolist()
    return low, high


def finite_extremes(array: Any) -> tuple[float, float] | None:
    """Return the smallest and the largest element of an array, if they are finite: so are all.

    None as well where minimum and maximum of numpy do not tell.
    """
    if not array.size or (array.dtype is not _FLOAT32 and array.dtype is not _FLOAT64):
        return None
    if array.size <= _CACHED:
        low, high = float(array.min()), float(array.max())
    else:
        parts = _chunks(array.reshape(-1), _CACHED)
        ends = np.array([(part.min(), part.max()) for part in parts])
        low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def extremes_of_each(pack: Any) -> npt.NDArray[np.float64]:
    """Return the smallest and the largest finite element of each of several arrays of one shape.

    Args:
        pack: ``[arrays, ...]``, floating or complex.

    Returns:
        ``[arrays, 2]``; NaN where there is none, and for complex numbers, which have no order.
    """
    rows = pack.reshape(len(pack), -1)
    if rows.dtype.kind == "c" or not rows.size:
        return np.full((len(pack), 2), _NO_EXTREME)
    found = np.array(_ordered_extremes(rows), np.float64).T
    for row in np.flatnonzero(~np.isfinite(found).all(axis=1)):
        finite = rows[row][np.isfinite(rows[row])]
        found[row] = (finite.min(), finite.max()) if finite.size else _NO_EXTREME
    return found


def extremes_in_parts(
    arrays: Sequence[Any], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the smallest and the largest finite element of each part of many small arrays.

    Args:
        arrays: See `count_bad_in_parts`.
        sizes: See `count_bad_in_parts`.

    Returns:
        ``[parts, 2]``; NaN where there is none.
    """
    flat = np.concatenate(arrays, axis=None)
    if flat.dtype == np.float16:
        flat = flat.astype(np.float32)  # numpy compares these many times as fast.
    found: npt.NDArray[np.float64] = extremes_of_parts(flat[None], sizes.cumsum() - sizes)[0]
    return found


def extremes_of_parts(elements: Any, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the smallest and the largest finite element of parts that many arrays have.

    Args:
        elements: Those of the arrays, floating, ``[arrays, elements]``.
        starts: Where each part begins: one after the other, none of them empty.

    Returns:
        ``[arrays, parts, 2]``; NaN where there is none.
    """
    ends = ((np.minimum, np.inf), (np.maximum, -np.inf))
    both = np.stack([end.reduceat(elements, starts, axis=1) for end, _ in ends], axis=-1)
    if np.isfinite(both).all():  # So are all between them.
        return both
    is_finite = np.isfinite(elements)
    found = [
        end.reduceat(np.where(is_finite, elements, none), starts, axis=1) for end, none in ends
    ]
    both = np.stack(found, axis=-1)
    return np.where(np.isfinite(both), both, _NO_EXTREME)


def numbers_of_keys(
    keys: npt.NDArray[np.int64], is_double: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return the floating numbers that integers with their order stand for.

    Args:
        keys: Of numbers above zero their bits, of others the complement of their magnitude's bits;
            `NO_KEY`, or the last integer on either side, where there is none.  ``[tensors, 2]``
        is_double: Which of the tensors are of float64, others of float32.
    """
    magnitudes = np.where(keys < 0, ~keys, keys)
    singles = magnitudes.astype(np.int32).view(np.float32).astype(np.float64)
    numbers = np.where(is_double[:, None], magnitudes.view(np.float64), singles)
    return np.where(keys < 0, -numbers, numbers)


def _ordered_extremes(rows: Any) -> tuple[Any, Any]:
    """Return the smallest and largest element of each row, where all of them are finite.

    Of types with two bytes numpy compares the bits several times as fast as the numbers.  Among
    negative ones, those of the largest number are the smallest.
    """
    layout = _layout(rows.dtype)
    if layout is None or layout.unsigned is not np.uint16:
        return rows.min(axis=1), rows.max(axis=1)
    unsigned, signed = rows.view(np.uint16), rows.view(np.int16)
    top, signed_top = unsigned.max(axis=1), signed.max(axis=1)
    low = np.where(top >= layout.sign, top, unsigned.min(axis=1))
    high = np.where(signed_top >= 0, signed_top, signed.min(axis=1))
    return low.view(rows.dtype), high.view(rows.dtype)


def sign_counts(pack: Any) -> npt.NDArray[np.int64]:
    """Count the negative, zero and positive elements of several small arrays of one shape.

    Args:
        pack: ``[arrays, ...]``, floating or complex.

    Returns:
        ``[arrays, 3]``; of those that have NaN or infinity the numbers mean nothing.
    """
    rows = pack.reshape(len(pack), -1)
    if rows.dtype.kind == "c":
        positive = np.count_nonzero(rows, axis=1)
        negative = np.zeros_like(positive)
    else:
        layout = _layout(rows.dtype)
        if layout is None or layout is _LAYOUTS["bfloat16"]:
            rows, layout = rows.astype(np.float32), _LAYOUTS["float32"]
        smallest = np.array(layout.smallest_counted, layout.unsigned).view(rows.dtype)
        positive = np.count_nonzero(rows >= smallest, axis=1)
        negative = np.count_nonzero(rows <= -smallest, axis=1)
    return np.stack((negative, rows.shape[1] - negative - positive, positive), axis=1)


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the six dimensions of a SHAPE vector: the last six, zeros where there are fewer."""
    return shape[-6:] + (0,) * (6 - len(shape))


_CURT = struct.Struct("<2d")
_CONCISE = struct.Struct("<5d")
_FULL = struct.Struct("<11d")
_SHAPE = struct.Struct("<10d")


def curt_vector(tensor_id: int, *, bad: bool) -> bytes:
    """Return a CURT_HEALTH value vector: 2 little-endian doubles."""
    return _CURT.pack(tensor_id, bad)


def concise_vector(tensor_id: int, counts: HealthCounts) -> bytes:
    """Return a CONCISE_HEALTH value vector: 5 little-endian doubles."""
    return _CONCISE.pack(tensor_id, counts.size, counts.neg_inf, counts.pos_inf, counts.nan)


def full_vector(tensor_id: int, dtype: int, rank: int, counts: HealthCounts) -> bytes:
    """Return a FULL_HEALTH value vector: 11 little-endian doubles.

    Args:
        tensor_id: Id of the tensor.
        dtype: Its DataType number.
        rank: Number of its dimensions.
        counts: Its elements, by kind.
    """
    c = counts
    return _FULL.pack(
        tensor_id, -1, dtype, rank, c.size, c.neg_inf, c.pos_inf, c.nan, c.neg, c.zero, c.pos
    )


def shape_vector(tensor_id: int, dtype: int, shape: tuple[int, ...], size: int) -> bytes:
    """Return a SHAPE value vector: 10 little-endian doubles.

    Args:
        tensor_id: Id of the tensor.
        dtype: Its DataType number.
        shape: Length of each dimension, of which the last six are told.
        size: Number of its elements.
    """
    return _SHAPE.pack(tensor_id, dtype, len(shape), size, *padded_shape(shape))
