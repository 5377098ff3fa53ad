"""Where an expression is in a source file: a line may hold several."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from collections.abc import Sequence


class Expression(NamedTuple):
    """Where an expression is, as Python's parser counts.

    Attributes:
        line: Its first line, from 1.
        column: Where it begins there, in bytes of UTF-8 from 0.
        end_line: Its last line.
        end_column: Where it ends there.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    def columns(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Return which characters it has of its first line; None where that is not so long.

        Args:
            lines: The text of the file.

        Returns:
            The first character, from 0, and the one after its last.
        """
        if not 0 < self.line <= len(lines):
            return None
        data = lines[self.line - 1].encode(errors="surrogatepass")
        end = self.end_column if self.end_line == self.line else len(data)
        if not 0 <= self.column < end <= len(data):
            return None
        before, text = data[: self.column], data[self.column : end]
        begin = len(before.decode(errors="replace"))
        return begin, begin + len(text.decode(errors="replace"))


def to_frame(frame_id: str, place: events.FileLineCol, expression: Expression | None) -> bytes:
    """Return the serialized `StackFrameWithId`.

    Args:
        frame_id: Its id.
        place: Its file, line and function.
        expression: What it runs of that line, where that is known.
    """
    record = events.StackFrameWithId(frame_id, place)
    if expression is not None:
        place.col = expression.column + 1
        record.end_line, record.end_col = expression.end_line, expression.end_column
    return record.encode()


def of_frame(frame: events.StackFrameWithId) -> Expression | None:
    """Return the expression that a frame runs of its line; None where that is not on record."""
    place = frame.file_line_col
    if place is None or not place.col:
        return None
    return Expression(place.line, place.col - 1, frame.end_line, frame.end_col)
