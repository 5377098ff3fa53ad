"""A file of records some of which are repetitions, read as if all were written whole."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files import repeated
from tfdbg_tui.logdir.files.chunk import Chunk
from tfdbg_tui.logdir.files.gather import PADDING, Bytes, Ints
from tfdbg_tui.logdir.files.record_file import RecordFile
from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.logdir.files.chunk import ScanBuffer
    from tfdbg_tui.logdir.files.problems import Problems

_MADE = 8
"""Of so many places the repetitions are kept."""
_LEAST_BYTES = 1 << 12


class RepeatingFile(RecordFile):
    """A record file in which repetitions take up the offsets that they would have if written.

    Where repetitions come before a record, these and the record make a *stretch*: what is read of
    it is not what is stored there.

    Attributes:
        path: See `RecordFile`; `position` and `size` are about what is stored.
    """

    def __init__(self, path: str, problems: Problems) -> None:
        super().__init__(path, problems)
        # Of each stretch, where it starts and ends, and where what is stored of it does.
        self._starts, self._ends = array("q"), array("q")
        self._stored_starts, self._stored_ends = array("q"), array("q")
        self._growth = 1.0
        self._lock = threading.Lock()
        self._made: OrderedDict[int, bytes] = OrderedDict()

    def read(self, buffer: ScanBuffer, limit: int) -> Chunk | None:
        """See `RecordFile.read`; with the repetitions there are not many more bytes than that."""
        chunk = super().read(buffer, max(_LEAST_BYTES, int(limit / self._growth)))
        if chunk is None:
            return None
        rows = repeated.rows_with_repetitions(chunk)
        if not len(rows):
            self._growth = max(1.0, self._growth / 2)
            return replace(chunk, base=chunk.base + self._shift())
        return self._with_repetitions(chunk, rows, limit)

    def record(self, offset: int) -> bytes:
        """See `RecordFile.record`."""
        number = self._stretch_at(offset)
        if number is None:
            return super().record(self.stored_offset(offset))
        data, at = self._stretch(number), offset - self._starts[number]
        begin = at + tfrecord.HEADER_SIZE
        return data[begin : begin + int.from_bytes(data[at : at + 8], "little")]

    def stored_offset(self, offset: int) -> int:
        """See `RecordFile`: that of the record that tells of it, for a repetition."""
        before = bisect_right(self._starts, offset) - 1
        if before < 0:
            return offset
        if offset < self._ends[before]:
            return self._stored_starts[before]
        return offset - self._ends[before] + self._stored_ends[before]

    def bytes_at(self, offset: int, size: int) -> bytes:
        """See `RecordFile.bytes_at`."""
        pieces = []
        while size > 0 and (piece := self._piece_at(offset, size)):
            pieces.append(piece)
            offset, size = offset + len(piece), size - len(piece)
        return b"".join(pieces)

    def bytes_at_each(self, offsets: Sequence[int], size: int) -> list[bytes]:
        """See `RecordFile.bytes_at_each`."""
        is_made = [self._stretch_at(offset) is not None for offset in offsets]
        pairs = list(zip(offsets, is_made, strict=True))
        stored = [self.stored_offset(offset) for offset, made in pairs if not made]
        read = iter(super().bytes_at_each(stored, size))
        return [self.bytes_at(offset, size) if made else next(read) for offset, made in pairs]

    # ---- On the way forward --------------------------------------------------------------------

    def _shift(self) -> int:
        """Return by how much offsets behind all stretches so far differ from stored ones."""
        return self._ends[-1] - self._stored_ends[-1] if self._ends else 0

    def _with_repetitions(self, chunk: Chunk, rows: Ints, limit: int) -> Chunk | None:
        """Return records with the repetitions before some of them, about `limit` bytes.

        Those that are left out are read again.
        """
        parts = _Parts(chunk, self._shift())
        for row in rows.tolist():
            offset = int(chunk.offsets[row])
            try:
                made = self._made_at(chunk, row)
            except OSError as error:
                self._fail(offset, error)
                self.position = offset
                break
            self._note_stretch(offset, chunk.base + int(chunk.ends[row]), made.size)
            parts.add(row, made)
            if parts.size > limit and row + 1 < len(chunk):
                self.position = int(chunk.offsets[row + 1])
                break
        else:
            parts.add_rest()
        self._growth = max(1.0, parts.size / max(1, self.position - int(chunk.offsets[0])))
        return parts.chunk() if parts.size else None

    def _made_at(self, chunk: Chunk, row: int) -> repeated.Records:
        """Return the repetitions before a record of a chunk, and the record.

        Raises:
            OSError: The file cannot be read.
        """
        payload, offset = chunk.payload(row), int(chunk.offsets[row])
        try:
            return repeated.with_repetitions(payload, self._before(offset, chunk))
        except ValueError as error:
            self._problems.add_record(self.path, offset, error)
            return repeated.own_record(payload)

    def _note_stretch(self, stored: int, stored_end: int, size: int) -> None:
        """Note where a stretch is.

        Args:
            stored: Where the record that tells of it starts.
            stored_end: Where the payload of that ends.
            size: How many bytes the stretch has.
        """
        start = stored + self._shift()
        self._ends.append(start + size)
        self._stored_starts.append(stored)
        self._stored_ends.append(stored_end + tfrecord.FOOTER_SIZE)
        self._starts.append(start)  # The last, as other threads look for it.

    def _before(self, offset: int, chunk: Chunk | None = None) -> Callable[[int, int], bytes]:
        """Return what returns stored bytes before an offset, from a chunk as far as they are."""

        def read(distance: int, size: int) -> bytes:
            at = offset - distance
            if chunk is not None and at >= chunk.base:
                return chunk.data[at - chunk.base : at - chunk.base + size].tobytes()
            return self._stored(at, size) if at >= 0 else b""

        return read

    # ---- Read again ----------------------------------------------------------------------------

    def _stretch_at(self, offset: int) -> int | None:
        """Return the number of the stretch that an offset is in; None if it is in none."""
        number = bisect_right(self._starts, offset) - 1
        return number if number >= 0 and offset < self._ends[number] else None

    def _piece_at(self, offset: int, size: int) -> bytes:
        """Return bytes at an offset, up to where a stretch begins or ends."""
        number = self._stretch_at(offset)
        if number is not None:
            at = offset - self._starts[number]
            try:
                return self._stretch(number)[at : at + size]
            except ValueError:  # It is damaged by now, so there are no such bytes any more.
                return b""
        following = bisect_right(self._starts, offset)
        if following < len(self._starts):
            size = min(size, self._starts[following] - offset)
        return self._stored(self.stored_offset(offset), size)

    def _stretch(self, number: int) -> bytes:
        """Return the bytes of a stretch.

        Raises:
            OSError: The file cannot be read any more.
            ValueError: The record that tells of it, or what is repeated, is no longer intact.
        """
        with self._lock:
            if number in self._made:
                self._made.move_to_end(number)
                return self._made[number]
        offset = self._stored_starts[number]
        payload = super().record(offset)
        try:
            made = repeated.with_repetitions(payload, self._before(offset))
        except ValueError:
            made = repeated.own_record(payload)
        data = made.data[: made.size].tobytes()
        if len(data) != self._ends[number] - self._starts[number]:
            raise tfrecord.CorruptRecordError(offset, "the file has changed")
        with self._lock:
            self._made[number] = data
            if len(self._made) > _MADE:
                self._made.popitem(last=False)
        return data


class _Parts:
    """Puts a chunk together from stored records and from those that are made."""

    def __init__(self, chunk: Chunk, shift: int) -> None:
        self._chunk = chunk
        self._base = int(chunk.offsets[0]) + shift
        self._row = 0
        self._data: list[Bytes] = []
        self._starts: list[Ints] = []
        self._ends: list[Ints] = []
        self.size = 0

    def add(self, row: int, made: repeated.Records) -> None:
        """Add the stored records before a row, and what is made in its place."""
        self._add_stored(row, int(self._chunk.starts[row]) - tfrecord.HEADER_SIZE)
        self._add(made.data[: made.size], made.starts, made.ends)
        self._row = row + 1

    def add_rest(self) -> None:
        """Add the stored records that are left."""
        self._add_stored(len(self._chunk), int(self._chunk.ends[-1]) + tfrecord.FOOTER_SIZE)

    def chunk(self) -> Chunk:
        """Return what was added."""
        data = np.concatenate([*self._data, np.zeros(PADDING, np.uint8)])
        return Chunk(self._base, data, np.concatenate(self._starts), np.concatenate(self._ends))

    def _add_stored(self, row: int, stop: int) -> None:
        """Add the stored records up to a row, and what is between them.

        Args:
            row: The first that is not added.
            stop: Where in the chunk the bytes end.
        """
        chunk = self._chunk
        start = int(chunk.starts[0]) - tfrecord.HEADER_SIZE
        if self._row:
            start = int(chunk.ends[self._row - 1]) + tfrecord.FOOTER_SIZE
        rows = slice(self._row, row)
        self._add(chunk.data[start:stop], chunk.starts[rows] - start, chunk.ends[rows] - start)

    def _add(self, data: Bytes, starts: Ints, ends: Ints) -> None:
        self._data.append(data)
        self._starts.append(starts + self.size)
        self._ends.append(ends + self.size)
        self.size += len(data)
