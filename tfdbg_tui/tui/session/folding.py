"""Rows that stand for several things: frames of libraries in a stack trace, copies on a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import is_library_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import StackFrame


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """A row of a list: one thing, or several that follow each other folded into one.

    Attributes:
        first: Position of the first of them.
        last: Position of the last of them.
    """

    first: int
    last: int

    @property
    def folded(self) -> int:
        """How many are folded into the row; 0 where it is one thing alone."""
        return self.last - self.first + 1 if self.last > self.first else 0


def fold_library_frames(frames: Sequence[StackFrame]) -> list[FoldedRow]:
    """Return the rows of a stack trace, outermost first; each run of library frames is one."""
    rows: list[FoldedRow] = []
    after_library = False
    for i, frame in enumerate(frames):
        library = is_library_frame(frame)
        if library and after_library:
            rows[-1] = FoldedRow(rows[-1].first, i)
        else:
            rows.append(FoldedRow(i, i))
        after_library = library
    return rows
