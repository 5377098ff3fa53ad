"""The rows of numbers in which graphs hand over healthy executions; see `observe.row_queue`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.causes import Cause

NUMBER, PART, ITERATION, KEY, SERIAL, SIZES = range(6)
"""Columns of a row: number of the group; which of the rows of one execution it is; iteration of the
loop; by which the group knows the details, 0 where nothing is bad; number of the session's run, 0
where the graph does not know it; the first of the sizes."""
WIDTH = 9
MARK = 0
"""Stands for the number of a group in what is not the row of an execution."""
NO_KEY = -1
"""The key of details that could not be made: such an execution is not recorded."""
COUNTED = -2
"""The key of an execution that has told all by counting what is bad: it has a row for each
tensor in `GroupPlan.counted`, with its size, -∞, +∞ and NaN in place of `SIZES`."""
FIRST_SETTLED = -3
"""The key of an execution that has the first settled pattern of its group (see `settled`); those of
others are below."""

SIZES_IN_ROW = WIDTH - SIZES

Rows = npt.NDArray[np.int64]
"""``[rows, WIDTH]``."""

ExecutionRows = tuple[npt.NDArray[np.int64], Rows]
"""The numbers of some executions, and their rows, ``[executions, rows, WIDTH]``."""


@dataclass(frozen=True, slots=True)
class QueueRows:
    """Rows of whole executions in their order.

    Attributes:
        which: Which of some groups each row is of.
        causes: What causes them.
        caused: Which of the causes each row has.
        rows: The rows.
    """

    which: npt.NDArray[np.int64]
    causes: Sequence[Cause]
    caused: npt.NDArray[np.int64]
    rows: Rows

    def __getitem__(self, part: slice) -> QueueRows:
        return QueueRows(self.which[part], self.causes, self.caused[part], self.rows[part])

    def with_rows(self, told: Sequence[ExecutionRows]) -> QueueRows:
        """Return the same executions, some with other rows."""
        if not told:
            return self
        heads = self.heads()
        before = np.diff(np.append(heads, len(self.rows)))
        sizes, is_kept = before.copy(), np.ones(len(heads), bool)
        for places, its_rows in told:
            sizes[places], is_kept[places] = its_rows.shape[1], False
        rows = np.empty((sizes.sum(), WIDTH), np.int64)
        starts = np.cumsum(sizes) - sizes
        for places, its_rows in told:
            rows[starts[places, None] + np.arange(its_rows.shape[1])] = its_rows
        rows[np.repeat(is_kept, sizes)] = self.rows[np.repeat(is_kept, before)]
        which, caused = (np.repeat(each[heads], sizes) for each in (self.which, self.caused))
        return QueueRows(which, self.causes, caused, rows)

    def heads(self) -> npt.NDArray[np.int64]:
        """Return which rows are the first of an execution."""
        return np.flatnonzero(self.rows[:, PART] == 0)


def rows_for(number_of_sizes: int) -> int:
    """Return how many rows an execution takes."""
    return max(1, -(-number_of_sizes // SIZES_IN_ROW))


def without_details(rows: Rows) -> Rows:
    """Let the rows of an execution tell that it is not recorded, and return them."""
    rows.flat[KEY] = NO_KEY
    return rows
