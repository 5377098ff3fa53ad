"""A chunk of a file in memory: whole records that are looked at together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from tfdbg_tui.logdir.files.gather import PADDING, Bytes, Flags, Ints, words
from tfdbg_tui.wire import crc32c, tfrecord

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.file_slice import FileSlice

VERIFIED_BYTES = 1 << 20
"""Records up to this length are checked against their checksums, at 4 ns a byte."""

_TOGETHER = 1 << 12  # bytes of a record up to which the checksums of many are made together


class ScanBuffer:
    """Memory that all files of a run are scanned through, one chunk at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._bytes = bytearray(size + PADDING)
        self.view = memoryview(self._bytes)
        self.data: Bytes = np.frombuffer(self._bytes, np.uint8)


@dataclass(slots=True)
class Chunk:
    """Whole records that follow each other in a file; valid until the next one is read.

    Attributes:
        base: Offset in the file of the first byte of `data`.
        data: The records, and at least `PADDING` bytes more.
        bounds: Where each record starts in `data`, and where the last one ends.
        large: Payload of the only record, where that is too large for memory.
    """

    base: int
    data: Bytes
    bounds: Ints
    large: FileSlice | None = None

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def offsets(self) -> Ints:
        """Where each record starts in the file."""
        return self.bounds[:-1] + self.base

    def payload(self, row: int) -> bytes:
        """Return the payload of a record; a `FileSlice`, which reads like bytes, if large."""
        if self.large is not None:
            return cast("bytes", self.large)
        start = int(self.bounds[row]) + tfrecord.HEADER_SIZE
        end = int(self.bounds[row + 1]) - tfrecord.FOOTER_SIZE
        return self.data[start:end].tobytes()

    def payload_bounds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return where the payloads of some records start and end in `data`."""
        starts = self.bounds[rows] + tfrecord.HEADER_SIZE
        return starts, self.bounds[rows + 1] - tfrecord.FOOTER_SIZE

    def verify(self, row: int) -> None:
        """Check the payload of a record against its checksum.

        Raises:
            tfrecord.CorruptRecordError: It does not match.
        """
        start, end = int(self.bounds[row]), int(self.bounds[row + 1])
        tfrecord.verify(self.data[start:end].tobytes(), 0, end - start)

    def is_intact(self, row: int) -> bool:
        """Return whether a payload matches its checksum; False where it is too long to tell."""
        if self.large is not None or self.bounds[row + 1] - self.bounds[row] > VERIFIED_BYTES:
            return False
        try:
            self.verify(row)
        except tfrecord.CorruptRecordError:
            return False
        return True

    def damaged(self) -> Flags:
        """Return of each record whether its payload contradicts its checksum.

        Those that are too long to tell do not.
        """
        found = np.zeros(len(self), bool)
        if self.large is not None:
            return found
        starts, ends = self.payload_bounds(np.arange(len(self)))
        short = np.flatnonzero(ends - starts < _TOGETHER)
        stored = words(self.data)[ends[short]] & np.uint64(0xFFFFFFFF)
        made = crc32c.masked_crc32c_of_each(self.data, starts[short], ends[short])
        found[short] = made != stored
        long = (ends - starts >= _TOGETHER) & (ends - starts < VERIFIED_BYTES)
        for row in np.flatnonzero(long).tolist():
            found[row] = not self.is_intact(row)
        return found
