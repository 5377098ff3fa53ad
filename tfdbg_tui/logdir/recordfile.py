"""One file of a file set, read forward as its writer appends to it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from tfdbg_tui.logdir.events import Problem
from tfdbg_tui.wire import tfrecord

CHUNK_BYTES = 8 << 20


@dataclass(slots=True)
class Chunk:
    """Whole records that follow each other in a file.

    Attributes:
        base: Offset in the file of the first byte of `data`.
        data: The records.
        offsets: Where each record starts in `data`.
        ends: Where each record ends in `data`.
    """

    base: int
    data: bytes
    offsets: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


class RecordFile:
    """Reads a record file from where it stopped last; never past a torn record.

    Attributes:
        path: The file.
        position: Everything before this offset has been read.
        size: Size of the file at the last look.
        problems: What was found wrong with it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.position = 0
        self.size = 0
        self.problems: list[Problem] = []
        self._fd: int | None = None

    def look(self) -> None:
        """Note how large the file is now; open it if it has appeared."""
        if self._fd is None:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                return
            except OSError as error:
                self._report_once(f"{self.path}: cannot be read: {error.strerror}")
                return
        self.size = os.fstat(self._fd).st_size

    def read(self, limit: int = CHUNK_BYTES) -> Chunk | None:
        """Return the whole records within the next `limit` bytes, or None where there are none.

        A record larger than `limit` comes alone.
        """
        data = self._bytes_at(self.position, min(limit, self.size - self.position))
        chunk = self._walk(data)
        if chunk is None and len(data) == limit:
            chunk = self._walk(self._first_record(data))
        if chunk is not None:
            self.position = chunk.base + chunk.ends[-1]
        return chunk

    def record(self, offset: int) -> bytes:
        """Return the payload of the record at `offset`.

        Raises:
            OSError: The file cannot be read any more.
            tfrecord.CorruptRecordError: The record is not, or no longer, intact.
        """
        header = self._bytes_at(offset, tfrecord.HEADER_SIZE)
        if len(header) < tfrecord.HEADER_SIZE:
            raise tfrecord.CorruptRecordError(offset, "the file has become shorter")
        end = offset + tfrecord.FRAME_SIZE + int.from_bytes(header[:8], "little")
        data = self._bytes_at(offset, min(end, self.size) - offset)
        if tfrecord.record_end(data, 0) != len(data):
            raise tfrecord.CorruptRecordError(offset, "the record is cut off")
        if len(data) <= 1 << 16:  # a checksum in Python takes 50 ns a byte
            tfrecord.verify(data, 0, len(data))
        return data[tfrecord.HEADER_SIZE : -tfrecord.FOOTER_SIZE]

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes at `offset`."""
        return self._bytes_at(offset, size)

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _bytes_at(self, offset: int, size: int) -> bytes:
        if self._fd is None or size <= 0:
            return b""
        return os.pread(self._fd, size, offset)

    def _first_record(self, data: bytes) -> bytes:
        """Return the bytes of the first record, of which `data` is the beginning."""
        length = int.from_bytes(data[:8], "little") + tfrecord.FRAME_SIZE
        if self.position + length > self.size:
            return b""
        return self._bytes_at(self.position, length)

    def _walk(self, data: bytes) -> Chunk | None:
        chunk = Chunk(self.position, data)
        offset = 0
        while True:
            try:
                end = tfrecord.record_end(data, offset)
            except tfrecord.CorruptRecordError:
                intact = _next_record(data, offset + 1)
                self._report_gap(chunk.base + offset, intact and chunk.base + intact)
                if intact is None:
                    self.position = self.size if not chunk.ends else self.position
                    break
                offset = intact
                continue
            if end is None:
                break
            chunk.offsets.append(offset)
            chunk.ends.append(end)
            offset = end
        return chunk if chunk.ends else None

    def _report_gap(self, start: int, end: int | None) -> None:
        upto = f"up to byte {end:,}" if end else "and nothing intact follows"
        self._report_once(
            f"{self.path}: damaged at byte {start:,}, {upto}; the records there are skipped"
        )

    def _report_once(self, message: str) -> None:
        problem = Problem(self.path, message)
        if problem not in self.problems:
            self.problems.append(problem)


def _next_record(data: bytes, start: int) -> int | None:
    """Return where the next intact record starts in `data`.

    Every payload of a tfdbg2 file begins with field 1, wall_time (tag 0x09), and is shorter than
    2**32 bytes, which leaves few places to test for a matching checksum.
    """
    at = data.find(b"\x09", start + tfrecord.HEADER_SIZE)
    while at >= 0:
        offset = at - tfrecord.HEADER_SIZE
        if data[offset + 4 : offset + 8] == b"\0\0\0\0":
            try:
                end = tfrecord.record_end(data, offset)
                if end is not None:
                    tfrecord.verify(data, offset, end)
                    return offset
            except tfrecord.CorruptRecordError:
                pass
        at = data.find(b"\x09", at + 1)
    return None
