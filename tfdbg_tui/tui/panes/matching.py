"""What a search finds in a list of any length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.query import TextTerm

    RowNumbers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_WINDOW = 1 << 16  # rows looked at together


class Matches:
    """The rows of a list that a search finds; looked at when somebody asks for them.

    Args:
        count: Number of rows of the list.
        test: Returns which of some rows match.
    """

    def __init__(self, count: int, test: Callable[[RowNumbers], Flags]) -> None:
        self._count = count
        self._test = test
        self._counted: list[int] = []  # matches in each window, as far as they have been counted

    @classmethod
    def of_texts(cls, term: TextTerm, texts: Sequence[str]) -> Matches:
        """Return the matches in a list of texts."""
        flags = np.array([term.finds(text) for text in texts], bool)
        return cls(len(texts), lambda rows: flags[rows])

    def next(self, start: int, step: int) -> int | None:
        """Return the first match from a row on, downwards (1) or upwards (-1); None for none."""
        start = min(start, self._count - 1) if step < 0 else start
        while 0 <= start < self._count:
            end = start + step * _WINDOW
            low, high = (start, end) if step > 0 else (max(0, end + 1), start + 1)
            found = np.flatnonzero(self._flags(low, high))
            if found.size:
                return low + int(found[0] if step > 0 else found[-1])
            start = end
        return None

    def number(self, row: int) -> int | None:
        """Return which of the matches a row is, from 1; None where it is none."""
        if not 0 <= row < self._count or not self._flags(row, row + 1)[0]:
            return None
        return self._before(row) + 1

    def total(self) -> int:
        """Return how many rows match."""
        return self._before(self._count)

    def _before(self, row: int) -> int:
        """Return how many rows before a row match."""
        windows = row // _WINDOW
        while len(self._counted) < windows:
            low = len(self._counted) * _WINDOW
            self._counted.append(int(self._flags(low, low + _WINDOW).sum()))
        return sum(self._counted[:windows]) + int(self._flags(windows * _WINDOW, row).sum())

    def _flags(self, low: int, high: int) -> Flags:
        return self._test(np.arange(low, min(high, self._count)))
