"""A chunk of a file in memory: whole records that are looked at together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from tfdbg_tui.logdir.files.frames import WALL_TIME_TAG
from tfdbg_tui.logdir.files.gather import PADDING, Bytes, Flags, Ints
from tfdbg_tui.wire import crc32c, tfrecord

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.file_slice import FileSlice

_PIECE = 1 << 20  # bytes of a large record whose checksum is computed together


class ScanBuffer:
    """Memory that all files of a run are scanned through, one chunk at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._bytes = bytearray(size + PADDING)
        self.view = memoryview(self._bytes)
        self.data: Bytes = np.frombuffer(self._bytes, np.uint8)


@dataclass(slots=True)
class Chunk:
    """Whole records of a file; valid until the next chunk is read.

    Attributes:
        base: Offset in the file of the first byte of `data`.
        data: The records, and at least `PADDING` bytes more.
        starts: Where the payload of each record starts in `data`.
        ends: Where each payload ends.
        large: Payload of the only record, where that is too large for memory.
    """

    base: int
    data: Bytes
    starts: Ints
    ends: Ints
    large: FileSlice | None = None

    @classmethod
    def between(
        cls, bounds: Ints, *, base: int, data: Bytes, large: FileSlice | None = None
    ) -> Chunk:
        """Return records that follow each other.

        Args:
            bounds: Where in `data` each of them starts, and the last one ends.
            base: See `Chunk`.
            data: See `Chunk`.
            large: See `Chunk`.
        """
        starts, ends = bounds[:-1] + tfrecord.HEADER_SIZE, bounds[1:] - tfrecord.FOOTER_SIZE
        return cls(base, data, starts, ends, large)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def offsets(self) -> Ints:
        """Where each record starts in the file."""
        return self.starts - tfrecord.HEADER_SIZE + self.base

    def payload(self, row: int) -> bytes:
        """Return the payload of a record; a `FileSlice`, which reads like bytes, if large."""
        if self.large is not None:
            return cast("bytes", self.large)
        return self.data[self.starts[row] : self.ends[row]].tobytes()

    def payload_bounds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return where the payloads of some records start and end in `data`."""
        return self.starts[rows], self.ends[rows]

    def some(self, rows: Flags | slice) -> Chunk:
        """Return the records that an index of numpy selects."""
        return replace(self, starts=self.starts[rows], ends=self.ends[rows])

    def intact(self) -> Flags:
        """Return of each of records that follow each other whether its checksum is right.

        Raises:
            OSError: A record that is too large for memory cannot be read any more.
        """
        if self.large is not None:
            return np.array([is_intact(self.large)])
        if not len(self):
            return np.ones(0, bool)
        all_intact = self._all_intact()
        if all_intact or len(self) == 1:
            return np.full(len(self), all_intact)
        half = len(self) // 2
        halves = self.some(slice(half)), self.some(slice(half, None))
        return np.concatenate([some.intact() for some in halves])

    def _all_intact(self) -> bool:
        """Return whether the checksums of all payloads are right.

        A payload becomes a message whose `crc32c.remainder` is 0 by something in front of it
        that leaves ones, as its CRC starts from these, and its own CRC behind it.  Both are put
        in the places of the header and the checksum; then the remainder of all is 0.
        """
        first = int(self.starts[0]) - tfrecord.HEADER_SIZE
        message = self.data[first : int(self.ends[-1]) + tfrecord.FOOTER_SIZE].copy()
        headers = np.ndarray((len(message) - 11,), "V12", message, 0, (1,))
        headers[self.starts - (first + tfrecord.HEADER_SIZE)] = crc32c.LEAVES_ONES.rjust(12, b"\0")
        footers = np.ndarray((len(message) - 3,), "<u4", message, 0, (1,))
        ends = self.ends - first
        footers[ends] = ~crc32c.unmasked(footers[ends])
        return crc32c.remainder(message) == 0


def is_intact(large: FileSlice) -> bool:
    """Return whether the checksum behind a payload too large for memory is right.

    A hole in a file is not read to its end: a payload begins with its wall time, not with 0.

    Raises:
        OSError: It cannot be read any more.
    """
    if large[:1] != bytes([WALL_TIME_TAG]):
        return False
    checksum = large.behind(tfrecord.FOOTER_SIZE)
    found = crc32c.mask(crc32c.crc32c_of_pieces(large.pieces(_PIECE)))
    return found == int.from_bytes(checksum, "little")
