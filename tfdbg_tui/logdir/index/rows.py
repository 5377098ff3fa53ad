"""Which file, and which row of it, each event of a run is in.

Of a merged row only the number of its log is kept.  Its row there is how many rows of that log
come before it: that is counted, from the last of the tallies that are kept every so often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.index.merge import STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.logdir.index.columns import ColumnView, Int64Array, IntArray
    from tfdbg_tui.logdir.index.merge import Order


class Rows:
    """The places of the events of a run; an immutable view.

    Args:
        sizes: Number of events of each log.
        order: Their order; None for a single log, whose order is its own.
    """

    def __init__(self, sizes: Sequence[int], order: Order | None) -> None:
        self._size = sum(sizes)
        self._logs: ColumnView | None = order.logs.view() if order else None
        self._tallies: Int64Array = order.tallies if order else np.zeros((1, 1), np.int64)

    def __len__(self) -> int:
        return self._size

    def locate(self, index: int) -> tuple[int, int]:
        """Return (number of the log, row in it) of an event.

        Raises:
            IndexError: There is no such event.
        """
        if index < 0:
            index += self._size
        if not 0 <= index < self._size:
            raise IndexError(f"row {index} of {self._size}")
        if self._logs is None:
            return 0, index
        log = self._logs[index]
        stride, place = divmod(index, STRIDE)
        before = np.count_nonzero(self._stride(stride)[:place] == log)
        return log, int(self._tallies[stride, log]) + int(before)

    def split(self, indices: Int64Array) -> list[tuple[int, Int64Array, Int64Array]]:
        """Return (log, places in `indices`, rows in the log) for each log."""
        if self._logs is None:
            return [(0, np.arange(len(indices)), indices)]
        logs, rows = self._logs.take(indices), np.empty(len(indices), np.int64)
        order = np.argsort(indices, kind="stable")
        strides = indices[order] // STRIDE
        for part in np.split(order, np.flatnonzero(np.diff(strides)) + 1):
            if len(part):
                rows[part] = self._rows_of(indices[part], logs[part])
        places = [np.flatnonzero(logs == number) for number in range(self._tallies.shape[1])]
        return [(number, where, rows[where]) for number, where in enumerate(places)]

    def logs(self) -> Iterator[tuple[int, IntArray]]:
        """Yield ``(first row, number of the log of each row)`` for one part after another."""
        if self._logs is None:
            yield 0, np.zeros(self._size, np.uint8)
        else:
            yield from self._logs.blocks()

    def index(self, log: int, row: int) -> int:
        """Return the index of a row of a log."""
        if self._logs is None:
            return row
        stride = int(np.searchsorted(self._tallies[:, log], row, side="right")) - 1
        mine = np.flatnonzero(self._stride(stride) == log)
        return stride * STRIDE + int(mine[row - int(self._tallies[stride, log])])

    def indices(self, log: int, rows: Int64Array) -> Int64Array:
        """Return the indices of some rows of a log."""
        if self._logs is None:
            return rows
        return self._logs.rows_equal(log)[rows]

    def _rows_of(self, indices: Int64Array, logs: Int64Array) -> Int64Array:
        """Return the rows, in their logs, of events that are all of one stride."""
        stride = int(indices[0]) // STRIDE
        values, places = self._stride(stride), indices - stride * STRIDE
        rows = np.empty(len(indices), np.int64)
        for log in np.unique(logs).tolist():
            mine = logs == log
            rows[mine] = self._tallies[stride, log] + np.cumsum(values == log)[places[mine]] - 1
        return rows

    def _stride(self, number: int) -> IntArray:
        """Return the log of each event of a stride."""
        assert self._logs is not None
        _, values = next(self._logs.blocks(number * STRIDE, (number + 1) * STRIDE))
        return values
