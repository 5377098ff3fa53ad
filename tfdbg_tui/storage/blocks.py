"""What has been fetched of remote files, kept in a file of this machine that has no name."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

BLOCK = 1 << 18
_SHARE = 2  # of the room where temporary files lie, one part in this many is taken at most
PIECES_AHEAD = 4


class Blocks:
    """Blocks of `BLOCK` bytes of files; the last one of a file is shorter.

    All that is fetched once is kept, so that what is shown later needs no server.  Where there is
    not enough room, those that were used longest ago are given up first.

    Args:
        most_bytes: How much is kept; None for a share of the room that there is.

    Attributes:
        ahead: What has to be acquired for each piece that is fetched before it is asked for.
    """

    def __init__(self, most_bytes: int | None = None) -> None:
        self.ahead = threading.BoundedSemaphore(PIECES_AHEAD)
        self._most_bytes = most_bytes
        self._kept: IO[bytes] | None = None
        self._held: OrderedDict[tuple[Hashable, int], tuple[int, int]] = OrderedDict()
        self._free: list[int] = []  # places of blocks that have been given up
        self._lock = threading.Lock()

    def __del__(self) -> None:
        if self._kept is not None:
            self._kept.close()

    def length(self, file: Hashable, number: int) -> int:
        """Return how many bytes are held of a block."""
        return self._held.get((file, number), (0, 0))[1]

    def read_into(self, view: memoryview, file: Hashable, number: int, start: int) -> int:
        """Fill a view with what is held of a block.

        Args:
            view: The view.
            file: The file.
            number: Which block of it.
            start: Where in the block to begin.

        Returns:
            How many bytes that was.
        """
        with self._lock:
            place, length = self._held.get((file, number), (0, 0))
            part = view[: max(0, length - start)]
            if not part:
                return 0
            self._held.move_to_end((file, number))
            return os.preadv(self._descriptor(), [part], place * BLOCK + start)

    def put(self, file: Hashable, number: int, data: bytes | memoryview) -> None:
        """Hold a block, unless there is no room at all.

        Args:
            file: The file.
            number: Which block of it.
            data: What is in it.
        """
        with self._lock:
            place = self._place(self._held.pop((file, number), None))
            try:
                written = os.pwrite(self._descriptor(), data, place * BLOCK)
            except OSError:  # the disk is full
                written = 0
            if written == len(data):
                self._held[file, number] = place, written
            else:
                self._free.append(place)

    def drop(self, file: Hashable) -> None:
        """Give up all blocks of a file."""
        with self._lock:
            for key in [key for key in self._held if key[0] == file]:
                self._free.append(self._held.pop(key)[0])
            if not self._held and self._kept is not None and not self._kept.closed:
                self._free = []
                self._kept.truncate(0)

    def _place(self, before: tuple[int, int] | None) -> int:
        """Return where a block can be written: where it was, or where none is."""
        if before is not None:
            return before[0]
        if self._free:
            return self._free.pop()
        if self._held and len(self._held) >= self._most() // BLOCK:
            return self._held.popitem(last=False)[1][0]
        return len(self._held)

    def _most(self) -> int:
        if self._most_bytes is None:
            self._most_bytes = shutil.disk_usage(tempfile.gettempdir()).free // _SHARE
        return self._most_bytes

    def _descriptor(self) -> int:
        if self._kept is None:
            self._kept = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # as long as this is
        return self._kept.fileno()
