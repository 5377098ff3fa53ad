"""Bytes that stay in their file: what stands for a record too large to be held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from tfdbg_tui.wire import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IN_MEMORY = 1 << 16
_WINDOW = 1 << 12


class FileSlice:
    """A stretch of a file that is indexed and sliced like `bytes`.

    Short slices come as bytes, long ones as another `FileSlice`; so `codec.fields` walks a message
    of gigabytes and reads only what lies around its tags.

    Args:
        read: ``read(offset, size)`` returns bytes of the file, fewer at its end.
        start: Offset in the file.
        size: Length in bytes.
    """

    __slots__ = ("_read", "_size", "_start", "_window", "_window_at")

    def __init__(self, read: Callable[[int, int], bytes], start: int, size: int) -> None:
        self._read = read
        self._start = start
        self._size = size
        self._window = b""
        self._window_at = 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> bytes | FileSlice: ...
    def __getitem__(self, index: int | slice) -> int | bytes | FileSlice:
        if isinstance(index, slice):
            start, stop, _ = index.indices(self._size)
            size = max(0, stop - start)
            if size > _IN_MEMORY:
                return FileSlice(self._read, self._start + start, size)
            if size > _WINDOW:
                return self._read(self._start + start, size)
            at = self._place(start, size) if size else 0
            return self._window[at : at + size]
        if not 0 <= index < self._size:
            raise IndexError(index)
        at = self._place(index, 1)
        if at >= len(self._window):
            raise codec.DecodeError("the file has become shorter")
        return self._window[at]

    def _place(self, index: int, size: int) -> int:
        """Read so many bytes into the window, unless they are there; return where they begin."""
        at = index - self._window_at
        if at < 0 or at + size > len(self._window):
            self._window_at, at = index, 0
            self._window = self._read(self._start + index, min(_WINDOW, self._size - index))
        return at

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the bytes in pieces of `size` (the last may be shorter)."""
        for at in range(0, self._size, size):
            yield self._read(self._start + at, min(size, self._size - at))

    def behind(self, size: int) -> bytes:
        """Return up to `size` bytes that follow in the file."""
        return self._read(self._start + self._size, size)

    def decode(self, *_: str) -> str:
        """Refuse to be a string, as which no field is this long.

        Raises:
            codec.DecodeError: Always.
        """
        raise codec.DecodeError(f"a string of {self._size:,} bytes")
