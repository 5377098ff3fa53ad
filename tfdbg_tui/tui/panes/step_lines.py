"""The lines of the timeline: which executions stand in each, so that a step begins a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Int64Array = npt.NDArray[np.int64]


class StepLines:
    """Boxes in lines of a width, of which each step begins a new one.

    What is in no step stands behind the step before it.

    Args:
        marks: The step of each box; -1 where it is in none, shape [boxes].
        stride: How many boxes there is room for in a line.
    """

    def __init__(self, marks: Int64Array, stride: int) -> None:
        self._marks = marks
        begins = np.flatnonzero((np.diff(marks, prepend=-1) != 0) & (marks >= 0))
        begins = np.union1d([0], begins) if len(marks) else begins
        lines = -(-np.diff(begins, append=len(marks)) // stride)
        first = np.cumsum(lines) - lines
        within = np.arange(int(lines.sum())) - np.repeat(first, lines)
        self._starts: Int64Array = np.repeat(begins, lines) + stride * within
        self._is_first = within == 0

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._starts)

    def boxes(self, line: int) -> range:
        """Return the boxes of a line; none beyond the last one."""
        if line >= len(self):
            return range(0)
        end = self._starts[line + 1] if line + 1 < len(self) else len(self._marks)
        return range(int(self._starts[line]), int(end))

    def line_of(self, box: int) -> int:
        """Return the line that a box is in."""
        return max(0, int(self._starts.searchsorted(box, side="right")) - 1)

    def step(self, line: int) -> int | None:
        """Return the step that begins with a line; None where none does."""
        mark = int(self._marks[self._starts[line]])
        return mark if self._is_first[line] and mark >= 0 else None

    def moved(self, box: int, lines: int) -> int:
        """Return the box that is some lines below another, or above it: in the same place there.

        Args:
            box: Where one is.
            lines: How many lines; negative ones go up.
        """
        line = self.line_of(box)
        boxes = self.boxes(min(max(0, line + lines), len(self) - 1))
        return min(boxes.start + box - self.boxes(line).start, boxes.stop - 1)
