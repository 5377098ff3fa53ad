"""What has been fetched of remote files, as far as a bound in bytes allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

BLOCK = 1 << 16
_MOST_BYTES = 64 << 20
_FILES_AHEAD = 4


class Blocks:
    """Blocks of `BLOCK` bytes of files; the last one of a file is shorter.

    Those that were used longest ago are given up first.

    Attributes:
        ahead: What a file has to acquire before it fetches more than it was asked for.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self.ahead = threading.BoundedSemaphore(_FILES_AHEAD)
        self._most_bytes = most_bytes
        self._held: OrderedDict[tuple[Hashable, int], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, file: Hashable, number: int) -> bytes:
        """Return what is held of a block; b"" where nothing is."""
        with self._lock:
            data = self._held.get((file, number))
            if data is None:
                return b""
            self._held.move_to_end((file, number))
            return data

    def put(self, file: Hashable, number: int, data: bytes) -> None:
        """Hold a block.

        Args:
            file: The file.
            number: Which block of it.
            data: What is in it.
        """
        with self._lock:
            self._bytes += len(data) - len(self._held.pop((file, number), b""))
            self._held[file, number] = data
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._held.popitem(last=False)[1])

    def drop(self, file: Hashable) -> None:
        """Give up all blocks of a file."""
        with self._lock:
            for key in [key for key in self._held if key[0] == file]:
                self._bytes -= len(self._held.pop(key))
