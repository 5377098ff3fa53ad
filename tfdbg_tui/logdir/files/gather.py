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


def words(data: Bytes) -> Words:
    """Return the eight bytes at every position of `data` as integers, without copying them."""
    return np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))


def blocks(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return the `size` bytes at each of `starts`, shape [len(starts), size]."""
    windows: npt.NDArray[Any] = np.ndarray((len(data) - size + 1,), f"V{size}", data, 0, (1,))
    return windows[starts].view(np.uint8).reshape(len(starts), size)


def column(rows: Bytes, dtype: str, offset: int) -> npt.NDArray[Any]:
    """Return the values of one type at `offset` of each row of gathered blocks."""
    return columns(rows, dtype, offset, 1)[:, 0]


def columns(rows: Bytes, dtype: str, offset: int, count: int) -> npt.NDArray[Any]:
    """Return `count` adjoining values at `offset` of each row, shape [len(rows), count]."""
    values: npt.NDArray[Any] = rows[:, offset : offset + count * np.dtype(dtype).itemsize]
    return values.view(dtype)
