"""Stack traces with the frames of libraries folded away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.locations import is_library_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import StackFrame


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A row of Stack Trace: one frame, or several library frames folded into one.

    Attributes:
        first: The outermost of its frames.
        last: The innermost of its frames.
    """

    first: int
    last: int

    @property
    def folded(self) -> int:
        """How many frames are folded into the row; 0 for a frame of its own."""
        return self.last - self.first + 1 if self.last > self.first else 0


def fold(frames: Sequence[StackFrame]) -> list[FrameRow]:
    """Return rows for the frames of a stack trace; each run of library frames is one row."""
    rows: list[FrameRow] = []
    after_library = False
    for i, frame in enumerate(frames):
        library = is_library_frame(frame)
        if library and after_library:
            rows[-1] = FrameRow(rows[-1].first, i)
        else:
            rows.append(FrameRow(i, i))
        after_library = library
    return rows
