"""Reading the same few bytes of many records at once.

Records start at any byte, so what is gathered is unaligned.  One indexed copy of a block is much
cheaper than a copy for each of the fields in it: gather a block, then view its columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

PADDING = 64
"""Bytes that must be readable behind the last record of a buffer."""

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def words(data: Bytes) -> Words:
    """Return the eight bytes at every position of `data` as integers, without copying them."""
    return np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))


def blocks(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return some bytes of each of many records.

    Args:
        data: A buffer.
        starts: Where in it each record's bytes begin, shape [n].
        size: How many bytes.

    Returns:
        Shape [n, size].
    """
    windows: npt.NDArray[Any] = np.ndarray((len(data) - size + 1,), f"V{size}", data, 0, (1,))
    return windows[starts].view(np.uint8).reshape(len(starts), size)


def column(rows: Bytes, dtype: str, offset: int) -> npt.NDArray[Any]:
    """Return one value of each record.

    Args:
        rows: Gathered blocks, shape [n, size].
        dtype: Type of the value, as numpy writes it: ``<u8``.
        offset: Where in a block it begins, in bytes.

    Returns:
        Shape [n].
    """
    return columns(rows, dtype, offset, 1)[:, 0]


def columns(rows: Bytes, dtype: str, offset: int, count: int) -> npt.NDArray[Any]:
    """Return adjoining values of each record.

    Args:
        rows: Gathered blocks, shape [n, size].
        dtype: Type of the values, as numpy writes it: ``<f8``.
        offset: Where in a block the first begins, in bytes.
        count: How many values.

    Returns:
        Shape [n, count].
    """
    values: npt.NDArray[Any] = rows[:, offset : offset + count * np.dtype(dtype).itemsize]
    return values.view(dtype)
