"""Walking the fields of many messages at once.

A `Cursor` stands at one byte of each of many messages.  Each step looks for the same field in all
of them; those that have it move past it.  A message that does not look as expected loses its `ok`
and is left to the scalar decoder; nothing it holds is trusted after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import Bytes, Flags, Ints, Words, words
from tfdbg_tui.wire import codec

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.chunk import Chunk

# Tags of DebugEvent.
_WALL_TIME = 1 << 3 | codec.FIXED64
_STEP = 2 << 3 | codec.VARINT


class Cursor:
    """A position in each of many messages of one buffer.

    Attributes:
        position: Where each cursor stands, shape [n].
        end: Where each message ends.
        ok: Which messages have been as expected so far.
    """

    def __init__(self, data: Bytes, position: Ints, end: Ints) -> None:
        self._words = words(data)
        self.position = position
        self.end = end
        self.ok: Flags = position <= end
        self._look()

    def skip_tag(self, tag: int) -> None:
        """Move past a one-byte tag that every message must have here."""
        self.ok &= self._byte() == tag
        self._move(np.ones(len(self.position), np.int64))

    def skip(self, size: int) -> None:
        """Move past bytes that every message has here."""
        self._move(np.full(len(self.position), size, np.int64))

    def varint(self) -> Ints:
        """Return the varint that every message has here, and move past it."""
        value, width = varints(self._word)
        self.ok &= width > 0
        self._move(width)
        return value

    def optional_varint(self, tag: int) -> Ints:
        """Return the value of a varint field, 0 where a message does not have it here."""
        has = self._byte() == tag
        if not has.any():
            return np.zeros(len(has), np.int64)
        value, width = varints(self._word >> np.uint64(8))
        self.ok &= ~has | (width > 0)
        self._move(np.where(has, width + 1, 0))
        return np.where(has, value, 0)

    def optional_bytes(self, tag: int) -> tuple[Flags, Ints, Ints]:
        """Return (who has it, start, length) of a length-delimited field, and move past it.

        The length is 0 where a message does not have the field here.
        """
        has = self._byte() == tag
        if not has.any():
            return has, self.position, np.zeros(len(has), np.int64)
        length, width = varints(self._word >> np.uint64(8))
        self.ok &= ~has | (width > 0)
        length = np.where(has, length, 0)
        start = self.position + np.where(has, width + 1, 0)
        self._go(start + length)
        return has, start, length

    def optional_fixed(self, tag: bytes) -> tuple[Flags, Ints]:
        """Return (who has it, start) of a fixed-width field with a two-byte tag; move past it."""
        has = (self._word & np.uint64(0xFFFF)) == int.from_bytes(tag, "little")
        start = self.position + 2
        if has.any():
            width = 8 if tag[0] & 7 == codec.FIXED64 else 4
            self._move(np.where(has, 2 + width, 0))
        return has, start

    def optional_tagged_bytes(self, tag: bytes) -> Flags:
        """Move past a length-delimited field with a two-byte tag; return who has it."""
        has: Flags = (self._word & np.uint64(0xFFFF)) == int.from_bytes(tag, "little")
        if has.any():
            length, width = varints(self._word >> np.uint64(16))
            self.ok &= ~has | ((width > 0) & (width < 6))
            self._move(np.where(has, 2 + width + length, 0))
        return has

    def subset(self, rows: Ints) -> Cursor:
        """Return a cursor of its own for some of the messages."""
        part = Cursor.__new__(Cursor)
        part._words = self._words
        part.position, part.end, part.ok = self.position[rows], self.end[rows], self.ok[rows]
        part._word = self._word[rows]
        return part

    def put(self, rows: Ints, part: Cursor) -> None:
        """Take over where the cursor of a `subset` has got to."""
        self.position[rows], self.ok[rows] = part.position, part.ok
        self._word[rows] = part._word

    def _byte(self) -> Words:
        return self._word & np.uint64(0xFF)

    def _move(self, by: Ints) -> None:
        self._go(self.position + by)

    def _go(self, position: Ints) -> None:
        inside = position <= self.end
        if not inside.all():
            self.ok &= inside
            position = np.where(inside, position, self.end)
        self.position = position
        self._look()

    def _look(self) -> None:
        self._word: Words = self._words[self.position]


def into_events(chunk: Chunk, rows: Ints, tag: int) -> Cursor:
    """Return a cursor at the start of the message that each of some DebugEvents holds.

    Args:
        chunk: Records.
        rows: Which of them.
        tag: Tag of the message; it must be the last field.
    """
    start, end = chunk.payload_bounds(rows)
    cursor = Cursor(chunk.data, start, end)
    cursor.skip_tag(_WALL_TIME)
    cursor.skip(8)
    cursor.optional_varint(_STEP)
    cursor.skip_tag(tag)
    size = cursor.varint()
    cursor.ok &= cursor.position + size == end
    return cursor


def varints(word: Words) -> tuple[Ints, Ints]:
    """Return (value, width) of the varint in the low bytes of each word.

    Widths are 1 to 7; 0 where the varint is longer.
    """
    value = (word & np.uint64(0x7F)).astype(np.int64)
    width = np.ones(len(word), np.int64)
    more = (word & np.uint64(0x80)) != 0
    for place in range(1, 7):
        if not more.any():
            return value, width
        byte = (word >> np.uint64(8 * place)) & np.uint64(0xFF)
        value += np.where(more, (byte & np.uint64(0x7F)).astype(np.int64) << 7 * place, 0)
        width += more
        more &= byte >= 0x80
    width[more] = 0
    return value, width
