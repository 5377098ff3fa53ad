"""Append-only columns: one value per recorded event, for millions of events.

One thread appends; any thread may read a `ColumnView`, which covers the rows that existed when it
was taken and never changes.  Values live in fixed-size blocks, so growing copies nothing and costs
no memory beyond the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK_ROWS = 1 << 18

IntArray = npt.NDArray[np.integer[Any]]
Int64Array = npt.NDArray[np.int64]


class ColumnView:
    """An immutable view of the first `len` values of a column of integers.

    Args:
        blocks: The values, less the base of each block, `BLOCK_ROWS` a block.
        bases: What is added to the values of each block.
        size: How many values count.
    """

    __slots__ = ("_bases", "_blocks", "_size")

    def __init__(self, blocks: Sequence[IntArray], bases: Sequence[int], size: int) -> None:
        self._blocks = tuple(blocks)
        self._bases = tuple(bases)
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Int64Array: ...
    def __getitem__(self, index: int | slice) -> int | Int64Array:
        if isinstance(index, slice):
            return self.take(np.arange(*index.indices(self._size), dtype=np.int64))
        if index < 0:
            index += self._size
        if not 0 <= index < self._size:
            raise IndexError(f"row {index} of {self._size}")
        block, row = divmod(index, BLOCK_ROWS)
        return int(self._blocks[block][row]) + self._bases[block]

    def take(self, rows: npt.ArrayLike) -> Int64Array:
        """Return the values of `rows` (any order, each in ``0 .. len - 1``)."""
        rows = np.asarray(rows, dtype=np.int64)
        out = np.empty(rows.shape, np.int64)
        which = rows // BLOCK_ROWS
        for block in np.flatnonzero(np.bincount(which.reshape(-1))).tolist():
            mask = which == block
            values = self._blocks[block][rows[mask] % BLOCK_ROWS]
            out[mask] = values.astype(np.int64) + self._bases[block]
        return out

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, IntArray]]:
        """Yield ``(index of first row, values)`` of each block that overlaps ``start .. stop``.

        Values are copied only from blocks that have a base: those of ascending numbers.
        """
        stop = self._size if stop is None else min(stop, self._size)
        for block in range(start // BLOCK_ROWS, -(-stop // BLOCK_ROWS)):
            first = block * BLOCK_ROWS
            low, high = max(start, first), min(stop, first + BLOCK_ROWS)
            values, base = self._blocks[block][low - first : high - first], self._bases[block]
            yield low, values + np.int64(base) if base else values

    def rows_equal(self, value: int, start: int = 0, stop: int | None = None) -> Int64Array:
        """Return the rows in ``start .. stop`` that hold `value`, ascending.

        Args:
            value: The value.
            start: The first row that counts.
            stop: The row behind the last one that counts.
        """
        found = [np.flatnonzero(b == value) + low for low, b in self.blocks(start, stop)]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def last_equal(self, value: int, before: int) -> int | None:
        """Return the last row under `before` that holds `value`, or None."""
        stop = min(before, self._size)
        window = 4096  # what produced a tensor is nearly always close: look there first
        while stop > 0:
            start = max(0, stop - window)
            rows = self.rows_equal(value, start, stop)
            if rows.size:
                return int(rows[-1])
            stop, window = start, window * 8
        return None


class AscendingView(ColumnView):
    """An immutable view of a column of ascending numbers."""

    __slots__ = ()

    def searchsorted(
        self, values: npt.ArrayLike, side: Literal["left", "right"] = "left"
    ) -> Int64Array:
        """Return where values are, or would be: see `numpy.searchsorted`."""
        wanted = np.asarray(values, np.int64)
        found = np.zeros(wanted.shape, np.int64)
        which = np.searchsorted(np.array(self._bases, np.int64), wanted, side) - 1
        for block in np.flatnonzero(np.bincount(which[which >= 0])).tolist():
            start, mine = block * BLOCK_ROWS, which == block
            numbers = self._blocks[block][: self._size - start]
            # In the type of the block, or numpy would copy it.
            relative = np.minimum(wanted[mine] - self._bases[block], np.iinfo(numbers.dtype).max)
            found[mine] = start + numbers.searchsorted(relative.astype(numbers.dtype), side)
        return found


class Column:
    """A growing column of unsigned integers up to 32 bits.

    A block takes one byte a value until a value needs two or four.
    """

    _dtype: npt.DTypeLike = np.uint8

    def __init__(self) -> None:
        self._blocks: list[IntArray] = []
        self._bases: list[int] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: npt.ArrayLike) -> None:
        """Append `values`, a 1-D array of integers."""
        array = np.asarray(values)
        done = 0
        while done < len(array):
            row = self._size % BLOCK_ROWS
            if row == 0:
                self._start_block(int(array[done]))
            part = array[done : done + BLOCK_ROWS - row]
            self._write(row, part)
            self._size += len(part)
            done += len(part)

    def truncate(self, size: int) -> None:
        """Drop the values from `size` on; views keep theirs."""
        if size >= self._size:
            return
        keep = -(-size // BLOCK_ROWS)
        del self._blocks[keep:], self._bases[keep:]
        if size % BLOCK_ROWS:
            self._blocks[-1] = self._blocks[-1].copy()
        self._size = size

    def view(self) -> ColumnView:
        """Return the values so far."""
        return ColumnView(self._blocks, self._bases, self._size)

    def _start_block(self, first: int) -> None:
        del first
        self._blocks.append(np.empty(BLOCK_ROWS, self._dtype))
        self._bases.append(0)

    def _write(self, row: int, part: IntArray) -> None:
        needed = np.min_scalar_type(int(part.max()))
        if needed.itemsize > self._blocks[-1].itemsize:
            self._blocks[-1] = self._blocks[-1].astype(needed)
        self._blocks[-1][row : row + len(part)] = part


class AscendingColumn(Column):
    """A growing column of ascending numbers, four bytes each, relative to their block's first."""

    _dtype = np.uint32

    def _start_block(self, first: int) -> None:
        super()._start_block(first)
        self._bases[-1] = first

    def _write(self, row: int, part: IntArray) -> None:
        relative = np.asarray(part, np.int64) - self._bases[-1]
        if int(relative[-1]) >> 32 and self._blocks[-1].dtype != np.int64:
            # For example, records so large (full tensors) that a block spans more than 4 GiB.
            self._blocks[-1] = self._blocks[-1].astype(np.int64)
        self._blocks[-1][row : row + len(part)] = relative

    def view(self) -> AscendingView:
        """Return the values so far."""
        return AscendingView(self._blocks, self._bases, self._size)
