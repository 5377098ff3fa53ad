"""The rows of numbers in which graphs hand over healthy executions; see `observe.row_queue`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.dump.encode.causes import Cause

NUMBER, PART, ITERATION, KEY, SIZES = range(5)
"""Columns of a row: number of the group, below zero in a mark; which of the rows of one execution
it is; iteration of the loop; by which the group knows the details, 0 where nothing is bad; the
first of the sizes."""
WIDTH = 8
NO_KEY = -1
"""The key of details that could not be made: such an execution is not recorded."""
COUNTED = -2
"""The key of an execution that has told all by counting what is bad: it has a row for each
tensor in `GroupPlan.counted`, with its size, -∞, +∞ and NaN in place of `SIZES`."""

SIZES_IN_ROW = WIDTH - SIZES

Rows = npt.NDArray[np.int64]
"""``[rows, WIDTH]``."""


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

    def with_rows(self, told: Mapping[int, Rows]) -> QueueRows:
        """Return the same executions, some with other rows.

        Args:
            told: These rows, by the number of the execution.
        """
        if not told:
            return self
        heads = self.heads()
        ends = np.append(heads[1:], len(self.rows))
        sizes, parts, done = ends - heads, [], 0
        for place in sorted(told):
            parts += [self.rows[done : heads[place]], told[place]]
            sizes[place], done = len(told[place]), ends[place]
        rows = np.concatenate([*parts, self.rows[done:]])
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
