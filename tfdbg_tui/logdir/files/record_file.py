"""One file of a file set, read forward as its writer appends to it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from tfdbg_tui.logdir.files import frames
from tfdbg_tui.logdir.files.chunk import Chunk, ScanBuffer, is_intact
from tfdbg_tui.logdir.files.file_slice import FileSlice
from tfdbg_tui.storage import storage_of
from tfdbg_tui.storage.interface import NotRegularError
from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.storage.interface import Fate, StoredFile

CHUNK_BYTES = 8 << 20
_PATIENCE_SECONDS = 3.0
"""How long zeros count as data that is on its way.

Where writes reach a network file system out of order, or its caches lag behind, a file can be
longer than what has arrived of it; what is missing reads as zeros.
"""

_START_BYTES = 64
"""By so many bytes a file that has become shorter is known to be no other one."""

_HEADER, _FOOTER, _FRAME = tfrecord.HEADER_SIZE, tfrecord.FOOTER_SIZE, tfrecord.FRAME_SIZE


class RecordFile:
    """Reads a record file from where it stopped last; never past a torn record.

    Attributes:
        path: The file.
        position: Everything before this offset has been read.
        size: Size of the file at the last look.
        modified: When the file was written last, in seconds since the epoch; None where it is
            not there.
        fate: What became of the file since it was opened: "", "deleted", "replaced" (another
            file has its name now), "truncated" (it is shorter than what was read of it, and no more
            than that) or "rewritten" (it was, and something else has been written to it).
    """

    def __init__(self, path: str, problems: Problems) -> None:
        self.path = path
        self.position = 0
        self.size = 0
        self.modified: float | None = None
        self.fate: Fate | Literal["truncated", "rewritten"] = ""
        self._problems = problems
        self._file: StoredFile | None = None
        self._searched = 0
        self._start = b""  # the first bytes that were read
        self._cut: int | None = None  # its size since it became shorter than that
        self._patient = False
        self._waiting = False
        self._hole = (-1, 0.0)  # where there are zeros, and since when
        self._exhausted_at: tuple[int, float | None] | None = None

    def __del__(self) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the file was there and could be opened."""
        return self._file is not None

    @property
    def exhausted(self) -> bool:
        """Whether nothing whole is left of what was there at the last look."""
        looked_at = (self.size, self.modified)
        return (
            self.fate == "truncated"
            or self.position >= self.size
            or self._waiting
            or self._exhausted_at == looked_at
        )

    def look(self, *, patient: bool) -> None:
        """Note how large the file is now; open it if it has appeared.

        Args:
            patient: Whether zeros may for some seconds be data that has not arrived yet, rather
                than damage.
        """
        if self._file is None and not self._open():
            return
        assert self._file is not None
        size, modified, self.fate = self._file.look()
        self._patient, self._waiting = patient, False
        if size is not None:
            self.size, self.modified = size, modified
            if not self.fate and (size < self.position or self._cut is not None):
                self.fate = self._fate_of_shorter(size)

    def _fate_of_shorter(self, size: int) -> Literal["truncated", "rewritten"]:
        has_grown = self._cut is not None and size > self._cut
        self._cut = size
        kept = self._start[:size]
        is_same = self._bytes_ahead(0, len(kept)) == kept
        return "truncated" if is_same and not has_grown else "rewritten"

    def read(self, buffer: ScanBuffer, limit: int) -> Chunk | None:
        """Return the whole records within the next `limit` bytes, or None where there are none.

        A record larger than `limit` comes alone.  What is damaged is skipped and reported.
        """
        while not self.exhausted:
            size = self._fill(buffer, self.position, min(limit, buffer.size))
            bounds = frames.walk(buffer.data, size)
            chunk: Chunk | None
            if len(bounds) > 1:
                chunk = Chunk.between(bounds, base=self.position, data=buffer.data)
            else:
                chunk = self._read_one(buffer)
            if chunk is None:
                self._go_on(buffer)
            elif len(intact := self._advance(chunk)):
                return intact
        return None

    def heads(self, limit: int) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, first `limit` bytes of the payload) of each record that is left."""
        while not self.exhausted:
            length = self._next_length()
            if length is None:
                self._go_on(ScanBuffer(1 << 20))
                continue
            offset = self.position
            head = self._bytes_ahead(offset + _HEADER, min(limit, length))
            if head is not None:
                self.position += _FRAME + length
                yield offset, head

    def record(self, offset: int) -> bytes:
        """Return the payload of the record at `offset`; a `FileSlice` if it is large.

        Raises:
            OSError: The file cannot be read any more.
            tfrecord.CorruptRecordError: The record is not, or no longer, intact.
        """
        # One read gets most records whole.
        data = self._stored(offset, 2048)
        if len(data) < _HEADER:
            raise tfrecord.CorruptRecordError(offset, "the file has become shorter")
        length = int.from_bytes(data[:8], "little")
        if not frames.is_header(data[:_HEADER]):
            raise tfrecord.CorruptRecordError(offset, "the length does not match its checksum")
        if length > CHUNK_BYTES:
            return cast("bytes", FileSlice(self._stored, offset + _HEADER, length))
        end = length + _FRAME
        if end > len(data):
            data += self._stored(offset + len(data), end - len(data))
        if end > len(data):
            raise tfrecord.CorruptRecordError(offset, "the record is cut off")
        tfrecord.verify(data, 0, end)
        return data[_HEADER : end - _FOOTER]

    def check(self, offset: int) -> None:
        """Read the record at `offset`, however large, and check it.

        Raises:
            OSError: The file cannot be read any more.
            tfrecord.CorruptRecordError: The record is not, or no longer, intact.
        """
        payload = self.record(offset)
        if isinstance(payload, FileSlice) and not is_intact(payload):
            raise tfrecord.CorruptRecordError(offset, tfrecord.WRONG_CHECKSUM)

    def stored_offset(self, offset: int) -> int:
        """Return where in the file the record is that is asked for by an offset."""
        return offset

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes at `offset`."""
        return self._stored(offset, size)

    def bytes_at_each(self, offsets: Sequence[int], size: int) -> list[bytes]:
        """Return up to `size` bytes at each of some offsets."""
        return [b""] * len(offsets) if self._file is None else self._file.read_each(size, offsets)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def report_tail(self) -> None:
        """Report bytes after the last whole record, or that there no longer are any."""
        if self.exhausted and self.position < self.size and self._is_torn():
            left = f"the last {self.size - self.position:,} bytes" if self.position else "its bytes"
            shown = "everything before it is shown" if self.position else "it holds no other"
            self._problems.add(
                self.path,
                f"{left} are the beginning of a record that is not written to its end; {shown}",
                key="tail",
                passing=True,
            )
        else:
            self._problems.discard(self.path, "tail")

    def _stored(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes that the file has at `offset`."""
        if self._file is None or size <= 0:
            return b""
        return self._file.read(size, offset)

    def _open(self) -> bool:
        try:
            self._file = storage_of(self.path).open(self.path)
        except FileNotFoundError:
            return False
        except NotRegularError:
            self._problems.add(self.path, "is not a regular file; it is left out")
            return False
        except OSError as error:
            message = f"cannot be read: {error.strerror}; it is left out"
            self._problems.add(self.path, message, key="opening")
            return False
        self._problems.discard(self.path, "opening")
        return True

    def _fill(self, buffer: ScanBuffer, offset: int, limit: int) -> int:
        assert self._file is not None
        want = min(limit, self.size - offset)
        done = 0
        try:
            while done < want:
                got = self._file.read_into(buffer.view[done:want], offset + done)
                if not got:
                    break
                done += got
        except OSError as error:
            self._fail(offset + done, error)
        if not offset:
            self._start = bytes(buffer.view[: min(done, _START_BYTES)])
        return done

    def _fail(self, offset: int, error: OSError) -> None:
        """Report that nothing can be read at an offset; the next look tries again."""
        message = f"cannot be read at byte {offset:,}: {error.strerror}; nothing after it"
        self._problems.add(self.path, message, key="reading")
        self._waiting = True

    def _advance(self, chunk: Chunk) -> Chunk:
        """Go past some records, or to one that is on its way; return those that are intact."""
        try:
            intact = chunk.intact()
        except OSError as error:
            self._fail(chunk.base, error)
            return chunk.some(slice(0))
        for row in np.flatnonzero(~intact).tolist():
            offset, end = int(chunk.offsets[row]), int(chunk.ends[row])
            if self._is_on_its_way(offset, self._bytes_ahead(chunk.base + end, _FOOTER)):
                chunk, intact = chunk.some(slice(row)), intact[:row]
                self._waiting = True
                break
            damage = tfrecord.CorruptRecordError(offset, tfrecord.WRONG_CHECKSUM)
            self._problems.add_record(self.path, offset, damage)
        if len(chunk):
            self.position = chunk.base + int(chunk.ends[-1]) + _FOOTER
            self._problems.discard(self.path, ("damage", chunk.base))  # it was on its way
        if not self._waiting:  # Some of what was asked for may be at hand, and the rest not.
            self._problems.discard(self.path, "reading")
        return chunk if intact.all() else chunk.some(intact)

    def _next_length(self) -> int | None:
        """Return the length of the record at `position` if it is whole and its header intact."""
        header = self._header()
        if header is None or not frames.is_header(header):
            return None
        length = int.from_bytes(header[:8], "little")
        return length if self.position + _FRAME + length <= self.size else None

    def _header(self) -> bytes | None:
        header = self._bytes_ahead(self.position, _HEADER)
        return header if header is not None and len(header) == _HEADER else None

    def _bytes_ahead(self, offset: int, size: int) -> bytes | None:
        """Return up to `size` bytes at `offset`, on the way forward; None where that fails."""
        try:
            return self._stored(offset, size)
        except OSError as error:
            self._fail(offset, error)
            return None

    def _go_on(self, buffer: ScanBuffer) -> None:
        """Skip what is at `position` and no record, or wait for more."""
        if self._is_on_its_way(self.position, self._header()):
            self._waiting = True
        elif (self._is_torn() or not self._skip_damage(buffer)) and not self._waiting:
            self._exhausted_at = (self.size, self.modified)

    def _is_torn(self) -> bool:
        """Whether what is at `position` can become a record when more is written."""
        header = self._header()
        if header is None:
            return True
        return frames.is_header(header) and self._next_length() is None

    def _is_on_its_way(self, offset: int, part: bytes | None) -> bool:
        """Whether a record at `offset` may arrive soon, as a part of it is zeros."""
        if not self._patient or part is None or any(part):
            return False
        if self._hole[0] != offset:
            self._hole = (offset, time.monotonic())
        return time.monotonic() - self._hole[1] < _PATIENCE_SECONDS

    def _read_one(self, buffer: ScanBuffer) -> Chunk | None:
        """Return the record at `position` alone; None where it is not there to its end."""
        length = self._next_length()
        if length is None:
            return None
        bounds = np.array([0, length + _FRAME], np.int64)
        if length + _FRAME <= buffer.size:
            if self._fill(buffer, self.position, length + _FRAME) < length + _FRAME:
                return None
            return Chunk.between(bounds, base=self.position, data=buffer.data)
        payload = FileSlice(self._stored, self.position + _HEADER, length)
        return Chunk.between(bounds, base=self.position, data=buffer.data, large=payload)

    def _after_hole(self, offset: int) -> int:
        """Return where the next record can begin: its first bytes may be zeros."""
        assert self._file is not None
        return max(offset, self._file.next_data(offset, self.size) - _HEADER)

    def _skip_damage(self, buffer: ScanBuffer) -> bool:
        """Go to the next intact record; return whether there is one yet."""
        start = self.position
        at = max(start + 1, self._searched)
        found: int | None = None
        while found is None and self.size - (at := self._after_hole(at)) > _HEADER:
            size = self._fill(buffer, at, buffer.size)
            if size <= _HEADER:
                break
            found = frames.find_header(buffer.data, 0, size)
            at += size - _HEADER if found is None else found
        if self._waiting:
            return False
        self._searched = at
        upto = "and nothing intact follows" if found is None else f"up to byte {at:,}"
        self._problems.add(
            self.path,
            f"damaged at byte {start:,}, {upto}; the records there are skipped",
            key=("damage", start),
        )
        if found is None:
            return False
        self.position = at
        return True
