"""One file behind a URL, read by ranges."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.storage.blocks import BLOCK, PIECES_AHEAD
from tfdbg_tui.storage.interface import Fate, Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfdbg_tui.storage.blocks import Blocks
    from tfdbg_tui.storage.connection import Connection

_HEAD_BYTES = 64
_LEAST_BYTES = 1 << 20  # that are fetched at once: what is near is asked for soon
_PIECE_BYTES = 16 << 20  # of one request; several are on their way at once
_AHEAD_BYTES = PIECES_AHEAD * _PIECE_BYTES


class Status(NamedTuple):
    """How a file is: its size in bytes, when it was written, and what tells its versions apart."""

    size: int
    modified: float | None
    version: object


class RemoteFile:
    """A file that is read block by block; what was read last is kept.

    An object that grows is another version each time; whether it is still the same file is told by
    its first bytes, which its writer never changes.

    Args:
        connection: The server.
        held: Takes the blocks that have been fetched.
        path: What the server calls the file.
        ask: Returns how the file is now.

    Raises:
        OSError: It is not there, or cannot be read.
    """

    def __init__(
        self, connection: Connection, held: Blocks, path: str, ask: Callable[[], Status]
    ) -> None:
        self._connection = connection
        self._held = held
        self._path = path
        self._ask = ask
        self._status = ask()
        self._head = b""
        self._fate: Fate = ""
        self._coming: list[_Ahead] = []
        self._lock = threading.Lock()
        self._take(self._status)

    def look(self) -> Look:
        """Return how the file is now; as it was, where that cannot be asked."""
        if self._fate != "replaced":
            try:
                self._take(self._ask())
            except FileNotFoundError:
                self._fate = "deleted"
            except OSError:
                pass  # the connection tells its problem
        return Look(self._status.size, self._status.modified, self._fate)

    def read(self, size: int, offset: int) -> bytes:
        """Return up to `size` bytes at `offset`; raises OSError."""
        data = bytearray(max(0, min(size, self._status.size - offset)))
        return bytes(data[: self._fill(memoryview(data), offset)])

    def read_each(self, size: int, offsets: Sequence[int]) -> list[bytes]:
        """Return up to `size` bytes at each of some offsets, in one call; raises OSError."""
        ends = [min(offset + size, self._status.size) for offset in offsets]
        ranges = [(at, end) for at, end in zip(offsets, ends, strict=True) if at < end]
        missing = [each for each in ranges if not self._is_held(*each)]
        fetched = dict(zip(missing, self._connection.read(self._path, missing), strict=True))
        return [
            fetched[at, end] if (at, end) in fetched else self.read(size, at)
            for at, end in zip(offsets, ends, strict=True)
        ]

    def read_into(self, view: memoryview, offset: int) -> int:
        """Fill a view with what is at `offset`, and fetch what follows; raises OSError."""
        self._fetch_ahead(offset + len(view))
        return self._fill(view, offset)

    def next_data(self, offset: int, size: int) -> int:
        """Return `offset`: holes of remote files are zeros like others."""
        return offset

    def close(self) -> None:
        """Give up what is held of the file."""
        for piece in self._coming:
            piece.join()
        self._held.drop(self)

    def _take(self, status: Status) -> None:
        """Note how the file is now, and whether it is still the same."""
        if status.version == self._status.version and len(self._head) == _HEAD_BYTES:
            self._status, self._fate = status, ""
            return
        head = self._first_bytes(status) if status.size else b""
        shared = min(len(head), len(self._head))
        self._fate = "" if head[:shared] == self._head[:shared] else "replaced"
        if not self._fate:
            self._head, self._status = max(head, self._head, key=len), status

    def _first_bytes(self, status: Status) -> bytes:
        """Return what tells the file from others; the first time, with what is read next."""
        if not self._head and status is self._status:
            least = min(self._num_blocks(), _LEAST_BYTES // BLOCK)
            return bytes(self.fetch(range(least))[0][:_HEAD_BYTES])
        return self._connection.read(self._path, [(0, min(_HEAD_BYTES, status.size))])[0]

    def _is_held(self, start: int, end: int) -> bool:
        """Return whether some bytes, of two blocks at most, need not be fetched."""
        places = (start, end - 1)
        return all(self._held.length(self, at // BLOCK) > at % BLOCK for at in places)

    def _fill(self, view: memoryview, offset: int) -> int:
        """Fill a view with what is at `offset`; return how much that was."""
        end = min(offset + len(view), self._status.size)
        if end <= offset:
            return 0
        fetched = self._fetch_missing(range(offset // BLOCK, -(-end // BLOCK)))
        at = offset
        while at < end:
            number, start = divmod(at, BLOCK)
            part = view[at - offset : min(end, (number + 1) * BLOCK) - offset]
            if self._held.read_into(part, self, number, start) < len(part):
                # There is no room to hold it.
                data = fetched[number] if number in fetched else self.fetch([number])[number]
                part[:] = data[start : start + len(part)]
            at += len(part)
        return end - offset

    def _fetch_missing(self, numbers: range) -> dict[int, memoryview]:
        """Fetch those of some blocks that are not held, and some more; return them by number."""
        for piece in self._coming:
            if piece.numbers.start < numbers.stop and numbers.start < piece.numbers.stop:
                piece.join()
        if self._fate == "replaced":
            raise FileNotFoundError("another file has its name now")
        if not any(self._lacks(number) for number in numbers):
            return {}
        least = range(numbers.start, numbers.start + _LEAST_BYTES // BLOCK)
        wanted = range(numbers.start, max(numbers.stop, min(least.stop, self._num_blocks())))
        return self.fetch([number for number in wanted if self._lacks(number)])

    def _lacks(self, number: int) -> bool:
        """Whether not all is held of what is in a block now."""
        whole = min(BLOCK, self._status.size - number * BLOCK)
        return self._held.length(self, number) < whole

    def _num_blocks(self) -> int:
        return -(-self._status.size // BLOCK)

    def fetch(self, numbers: Iterable[int]) -> dict[int, memoryview]:
        """Fetch blocks, adjoining ones together; raises OSError."""
        size = self._status.size
        runs = _runs(numbers)
        ranges = [(run.start * BLOCK, min(run.stop * BLOCK, size)) for run in runs]
        found = {}
        for run, data in zip(runs, self._connection.read(self._path, ranges), strict=True):
            view = memoryview(data)
            for at, number in enumerate(run):
                found[number] = view[at * BLOCK : (at + 1) * BLOCK]
                self._held.put(self, number, found[number])
        return found

    def _fetch_ahead(self, start: int) -> None:
        """Fetch what is missing soon after `start`, as far as not too much is on its way."""
        stop = min((start + _AHEAD_BYTES) // BLOCK, self._num_blocks())
        with self._lock:
            self._coming = [piece for piece in self._coming if piece.is_alive()]
            soon = set(range(start // BLOCK, stop)).difference(*(p.numbers for p in self._coming))
            for run in _runs(sorted(number for number in soon if self._lacks(number))):
                whole = len(run) == _PIECE_BYTES // BLOCK or run.stop == self._num_blocks()
                if whole and self._held.ahead.acquire(blocking=False):
                    self._coming.append(_Ahead(self, run, self._held.ahead))


class _Ahead(threading.Thread):
    """Fetches blocks that are likely to be asked for next; what fails is fetched when it is.

    Args:
        file: The file.
        numbers: Which blocks.
        turn: What has been acquired for that; it is released at the end.
    """

    def __init__(self, file: RemoteFile, numbers: range, turn: threading.Semaphore) -> None:
        super().__init__(name="read-ahead", daemon=True)
        self._file = file
        self._turn = turn
        self.numbers = numbers
        self.start()

    def run(self) -> None:
        """Do the work; called by `start`."""
        with contextlib.suppress(OSError):
            self._file.fetch(self.numbers)
        self._turn.release()


def _runs(numbers: Iterable[int]) -> list[range]:
    """Return ascending numbers as ranges of adjoining ones, none longer than a piece."""
    runs: list[range] = []
    for number in numbers:
        if runs and runs[-1].stop == number and len(runs[-1]) < _PIECE_BYTES // BLOCK:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs
