"""How much may wait for the writer thread: as much as is written in a tenth of a second."""

from __future__ import annotations

from tfdbg_tui.dump import locks

_SECONDS = 0.1
"""What takes longer to write may not be queued: a thread of the program waits for the writer."""
_BYTES = (4 << 20, 256 << 20)
"""The least and the most that may be queued, whatever the disk's speed."""
_FIRST_BYTES = 32 << 20


class Backlog:
    """Counts the bytes that wait; any thread may add to them, one takes them away."""

    def __init__(self) -> None:
        self._bytes = 0
        self._most = _FIRST_BYTES
        self._lock = locks.new()

    @property
    def num_bytes(self) -> int:
        """How many bytes wait."""
        return self._bytes

    @property
    def is_full(self) -> bool:
        """Whether whoever queues something has to wait."""
        return self._bytes > self._most

    def add(self, size: int) -> bool:
        """Count bytes that wait from now on; return `is_full`."""
        with self._lock:
            self._bytes += size
        return self._bytes > self._most

    def written(self, size: int, seconds: float) -> None:
        """Count bytes that wait no more, and learn how fast they are written.

        Args:
            size: How many bytes.
            seconds: How long it took to write them.
        """
        least, most = _BYTES
        if size >= least // 4:
            self._most = min(max(int(size / max(seconds, 1e-3) * _SECONDS), least), most)
        with self._lock:
            self._bytes -= size

    def clear(self) -> None:
        """Forget what waits."""
        self._bytes = 0
