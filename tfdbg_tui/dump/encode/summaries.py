"""What the elements of tensors are, counted with numpy: of eager ones, and of bad ones of graphs.

The numbers are those of TensorFlow's ``DebugNumericSummaryV2`` kernel (tensorflow/core/kernels/
debug_ops.cc).  TensorFlow runs its kernels with denormals flushed to zero, so a denormal counts
as a zero here too; a float16 denormal does not, because the kernel widens it to float32 first.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode.extremes import NO_EXTREME
from tfdbg_tui.dump.encode.float_layouts import (
    FLOAT32,
    FLOAT64,
    LAYOUTS,
    FloatLayout,
    chunks,
    layout_of,
)
from tfdbg_tui.wire import bad_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_CHUNK = 1 << 16
"""Elements that one pass looks at, so that its temporary arrays stay in the CPU's cache."""

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
    minimum: float = NO_EXTREME
    maximum: float = NO_EXTREME
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
    if dtype is FLOAT32 or dtype is FLOAT64:
        size = array.size
        if size and not math.isfinite(array.item(0)):
            return False  # Most that begin with NaN are NaN all over: one look less.
        return size < 2 or math.isfinite(np.vdot(array, array))
    layout = layout_of(dtype)
    if layout is None or array.size <= _FEW:
        return bool(np.count_nonzero(np.isfinite(array)) == array.size)
    bits = array.reshape(-1).view(layout.unsigned)
    return int((bits & layout.magnitude).max()) < layout.infinity


def all_nan(array: Any) -> bool:
    """Return whether a floating or complex array surely is NaN all over.

    False may also mean that the cheap test could not tell: of large arrays of complex numbers, and
    of NaN that have no bit in common besides those of infinity.
    """
    layout = layout_of(array.dtype) if array.size > _FEW else None
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
    elif flat.dtype is FLOAT32 or flat.dtype is FLOAT64:
        for chunk in chunks(flat, _CHUNK):
            _count_bad_floats(chunk, counts)
    else:
        flat, layout = _with_layout(flat)
        for chunk in chunks(flat, _CHUNK):
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
        for chunk in chunks(flat, _CHUNK):
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
    for start, chunk in zip(itertools.count(0, _CHUNK), chunks(flat, _CHUNK), strict=False):
        places = np.flatnonzero(is_bad(chunk))[: bad_elements.MAX_ELEMENTS]
        found += (places + start).tolist()
        if len(found) >= bad_elements.MAX_ELEMENTS:
            break
    return found


def _with_layout(flat: Any) -> tuple[Any, FloatLayout]:
    """Return an array whose bits are known: a type without a layout becomes float32."""
    layout = layout_of(flat.dtype)
    if layout is not None:
        return flat, layout
    return flat.astype(np.float32), LAYOUTS["float32"]


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


def _count_bad_bits(bits: Any, magnitude: Any, layout: FloatLayout, counts: HealthCounts) -> int:
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


def _negative(bits: Any, layout: FloatLayout, *, any_bad: bool) -> int:
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
        layout = layout_of(rows.dtype)
        if layout is None or layout is LAYOUTS["bfloat16"]:
            rows, layout = rows.astype(np.float32), LAYOUTS["float32"]
        smallest = np.array(layout.smallest_counted, layout.unsigned).view(rows.dtype)
        positive = np.count_nonzero(rows >= smallest, axis=1)
        negative = np.count_nonzero(rows <= -smallest, axis=1)
    return np.stack((negative, rows.shape[1] - negative - positive, positive), axis=1)
