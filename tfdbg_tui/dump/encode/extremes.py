"""The smallest and largest finite elements of tensors, found with numpy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode.float_layouts import FLOAT32, FLOAT64, chunks, layout_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_CACHED = 1 << 17
"""Elements that are still in the CPU's cache when a second pass looks at them."""

NO_EXTREME = float("nan")
"""Stands for the extremes of a tensor that has none."""

NO_KEY = 0x7FFFFFFF
"""The largest int32: the bits of a NaN."""


def extremes_of(array: Any) -> tuple[float, float]:
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
    if not array.size or (array.dtype is not FLOAT32 and array.dtype is not FLOAT64):
        return None
    if array.size <= _CACHED:
        low, high = float(array.min()), float(array.max())
    else:
        parts = chunks(array.reshape(-1), _CACHED)
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
        return np.full((len(pack), 2), NO_EXTREME)
    found = np.array(_ordered_extremes(rows), np.float64).T
    for row in np.flatnonzero(~np.isfinite(found).all(axis=1)):
        finite = rows[row][np.isfinite(rows[row])]
        found[row] = (finite.min(), finite.max()) if finite.size else NO_EXTREME
    return found


def extremes_in_parts(
    arrays: Sequence[Any], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the smallest and the largest finite element of each part of many small arrays.

    Args:
        arrays: See `summaries.count_bad_in_parts`.
        sizes: See `summaries.count_bad_in_parts`.

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
    return np.where(np.isfinite(both), both, NO_EXTREME)


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
    layout = layout_of(rows.dtype)
    if layout is None or layout.unsigned is not np.uint16:
        return rows.min(axis=1), rows.max(axis=1)
    unsigned, signed = rows.view(np.uint16), rows.view(np.int16)
    top, signed_top = unsigned.max(axis=1), signed.max(axis=1)
    low = np.where(top >= layout.sign, top, unsigned.min(axis=1))
    high = np.where(signed_top >= 0, signed_top, signed.min(axis=1))
    return low.view(rows.dtype), high.view(rows.dtype)
