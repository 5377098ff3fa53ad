"""Walking the fields of many messages at once.

A `Cursor` stands at one byte of each of many messages.  Each step looks for the same field in all
of them; those that have it move past it.  A message that does not look as expected loses its `ok`
and is left to the scalar decoder; nothing it holds is trusted after that.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import Bytes, Flags, Ints, Words, blocks, words
from tfdbg_tui.wire import codec
from tfdbg_tui.wire.events import DebugEvent

if TYPE_CHECKING:
    from tfdbg_tui.wire.message import Message

_WALL_TIME = DebugEvent.tag("wall_time")
_STEP = DebugEvent.tag("step")

_LONGEST_VARINT = 10  # bytes
_MAX_UNKNOWN = 16  # unknown fields in a row; messages with more are left to the scalar decoder


class Cursor:
    """A position in each of many messages of one buffer.

    Attributes:
        position: Where each cursor stands, shape [n].
        end: Where each message ends.
        ok: Which messages have been as expected so far.
    """

    def __init__(
        self, data: Bytes, position: Ints, end: Ints, skips_all_but: type[Message] | None = None
    ) -> None:
        """Make a cursor.

        Args:
            data: A buffer.
            position: Where each message starts.
            end: Where each ends.
            skips_all_but: The class of the messages, if fields that it does not declare are to be
                skipped.  That takes time, and is not needed for what today's writers write.
        """
        self._data = data
        self._words = words(data)
        self._known = skips_all_but.numbers() if skips_all_but is not None else None
        self.position = position
        self.end = end
        self.ok: Flags = position <= end
        self._look()

    def skip_tag(self, tag: int) -> None:
        """Move past a tag that every message must have here."""
        has, width = self._find(tag)
        self.ok &= has
        self.skip(width)

    def skip(self, size: int) -> None:
        """Move past bytes that every message has here."""
        self._move(np.full(len(self.position), size, np.int64))

    def varint(self) -> Ints:
        """Return the varint that every message has here, and move past it."""
        value, width = varints(self._word)
        self.ok &= width > 0
        self._move(width)
        return value

    def optional_varint(self, tag: int, absent: int = 0) -> Ints:
        """Return the value of a varint field, `absent` where a message does not have it here."""
        has, tag_width = self._find(tag)
        if not has.any():
            return np.full(len(has), absent, np.int64)
        value, width = varints(self._word >> np.uint64(8 * tag_width))
        self.ok &= ~has | (width > 0)
        self._move(np.where(has, tag_width + width, 0))
        return np.where(has, value, absent)

    def optional_bytes(self, tag: int) -> tuple[Flags, Ints, Ints]:
        """Return (who has it, start, length) of a length-delimited field, and move past it.

        The length is 0 where a message does not have the field here.
        """
        has, tag_width = self._find(tag)
        if not has.any():
            return has, self.position, np.zeros(len(has), np.int64)
        length, width = varints(self._word >> np.uint64(8 * tag_width))
        # A tag and a length are looked at as one word of eight bytes.
        self.ok &= ~has | ((width > 0) & (tag_width + width <= 8))
        length = np.where(has, length, 0)
        start = self.position + np.where(has, tag_width + width, 0)
        self._go(start + length)
        return has, start, length

    def optional_fixed(self, tag: int) -> tuple[Flags, Ints]:
        """Return (who has it, start) of a fixed-width field, and move past it."""
        has, tag_width = self._find(tag)
        start = self.position + tag_width
        if has.any():
            width = 8 if tag & 7 == codec.FIXED64 else 4
            self._move(np.where(has, tag_width + width, 0))
        return has, start

    def ends(self) -> Flags:
        """Return which messages have been as expected to their end."""
        self._skip_unknown()
        ended: Flags = self.ok & (self.position == self.end)
        return ended

    def subset(self, rows: Ints) -> Cursor:
        """Return a cursor of its own for some of the messages."""
        part = copy.copy(self)
        part.position, part.end, part.ok = self.position[rows], self.end[rows], self.ok[rows]
        part._word = self._word[rows]
        return part

    def put(self, rows: Ints, part: Cursor) -> None:
        """Take over where the cursor of a `subset` has got to."""
        self.position[rows], self.ok[rows] = part.position, part.ok
        self._word[rows] = part._word

    def _find(self, tag: int) -> tuple[Flags, int]:
        """Return (who has a field here, how many bytes its tag takes)."""
        self._skip_unknown()
        encoded = codec.varint(tag)
        mask = np.uint64((1 << 8 * len(encoded)) - 1)
        has: Flags = (self._word & mask) == int.from_bytes(encoded, "little")
        return has & (self.position < self.end), len(encoded)

    def _skip_unknown(self) -> None:
        if self._known is None:
            return
        for _ in range(_MAX_UNKNOWN):
            tag, width = varints(self._word)  # three bits of it are the wire type
            unknown = (self.position < self.end) & (tag >= 8) & ~np.isin(tag >> 3, self._known)
            if not unknown.any():
                return
            size = _value_sizes(self._data, self.position + width, tag & 7)
            self.ok &= ~unknown | ((width > 0) & (size > 0))
            self._move(np.where(unknown, width + size, 0))

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


def into_events(
    data: Bytes,
    bounds: tuple[Ints, Ints],
    tag: int,
    message: type[Message],
    *,
    skip_unknown: bool,
) -> tuple[Cursor, Ints]:
    """Return a cursor at the message that each of some DebugEvents holds, and the steps of those.

    The step is -1 where an event has none.

    Args:
        data: A buffer.
        bounds: Where in it the events start and end.
        tag: Tag of the message in DebugEvent.
        message: Its class.
        skip_unknown: Whether fields that the classes do not declare are skipped.
    """
    event = Cursor(data, *bounds, DebugEvent if skip_unknown else None)
    event.skip_tag(_WALL_TIME)
    event.skip(8)
    steps = event.optional_varint(_STEP, absent=-1)
    has, start, size = event.optional_bytes(tag)
    ok = event.ends() & has
    end = np.where(ok, start + size, start)
    cursor = Cursor(data, start, end, message if skip_unknown else None)
    cursor.ok = ok
    return cursor, steps


def _value_sizes(data: Bytes, at: Ints, wire_types: Ints) -> Ints:
    """Return how many bytes the value of each of some fields takes; 0 where that cannot be told."""
    length, width = varints(words(data)[at])
    continued = np.cumprod(blocks(data, at, _LONGEST_VARINT) >= 0x80, axis=1).sum(axis=1)
    sizes = np.zeros(len(at), np.int64)
    sizes[wire_types == codec.FIXED64] = 8
    sizes[wire_types == codec.FIXED32] = 4
    is_varint = (wire_types == codec.VARINT) & (continued < _LONGEST_VARINT)
    sizes = np.where(is_varint, continued + 1, sizes)
    return np.where((wire_types == codec.BYTES) & (width > 0), width + length, sizes)


def varints(word: Words) -> tuple[Ints, Ints]:
    """Return (value, width) of the varint in the low bytes of each word.

    Widths are 1 to 7; 0 where the varint is longer.
    """
    # Each byte has seven bits of the value, lowest first; the eighth says that another follows.
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
