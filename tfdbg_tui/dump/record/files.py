"""The files of a file set: appended to, or rewritten as a ring of the last records.

Framing and checksums of payloads are TensorFlow's own (`tf.io.TFRecordWriter`), which also makes
every file system TensorFlow knows a possible dump root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import tensorflow as tf

from tfdbg_tui.user_files import make_private_directory
from tfdbg_tui.wire import tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_RESERVED_BYTES = 4096


def make_directory(path: str) -> None:
    """Make a directory, and those above it, that only its user may enter."""
    local = _local(path)
    if local is None:
        tf.io.gfile.makedirs(path)
    else:
        make_private_directory(local)


def create_private(path: str) -> None:
    """Create a file that only its user may read: dumps hold the text of programs.

    TensorFlow has no way to say so, but keeps the mode of a file that is there.  The umask belongs
    to the whole process, so to the program.  What is there already is not ours, nor is what a
    link points to: both are refused.

    Raises:
        OSError: The file cannot be created.
    """
    local = _local(path)
    if local is not None:
        os.close(os.open(local, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _local(path: str) -> str | None:
    """Return the path of a local file; None for one on a file system of TensorFlow's."""
    scheme, separator, rest = path.partition("://")
    if not separator:
        return path
    return rest if scheme == "file" else None


class RecordSink(Protocol):
    """A file that items are appended to."""

    def write(self, item: bytes) -> None:
        """Append an item."""

    def write_all(self, items: Iterable[bytes]) -> None:
        """Append items."""

    def flush(self) -> None:
        """Hand what was written to the operating system."""

    def close(self) -> None:
        """Flush and close the file."""


class _Open:
    """An open file of TensorFlow's, and whether its descriptor still belongs to it.

    A program may close all descriptors, as daemons do, and open files of its own: what we wrote to
    the descriptor would be in one of these, which closing it would close.  So nothing is written
    or closed without a look, and no destructor does: the object stays until the process has ended.

    Attributes:
        file: The object of TensorFlow's.
    """

    _stat = staticmethod(os.stat)  # a program's tests may put a mock or a fake in place of `os`'s

    def __init__(self, path: str, file: Any) -> None:
        self.file = file
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(file))
        local = _local(path)
        self._identity = self._identity_of(local) if local is not None else None
        self._number = next(filter(self._is_own, _descriptors()), None)

    def _is_own(self, number: int) -> bool:
        with contextlib.suppress(OSError):
            return self._identity is not None and self._identity_of(number) == self._identity
        return False

    def _identity_of(self, file: str | int) -> tuple[int, int]:
        status = self._stat(file)
        return status.st_dev, status.st_ino

    @property
    def lost(self) -> bool:
        """Whether the program has closed it."""
        return self._number is not None and not self._is_own(self._number)

    def checked(self) -> Any:
        """Return the object of TensorFlow's, to write to.

        Raises:
            OSError: The program has closed the file.
        """
        if self.lost:
            raise OSError(errno.EBADF, "the program has closed the descriptors of the dump")
        return self.file


def _descriptors() -> list[int]:
    """Return the numbers of all open files of this process, where the system tells them."""
    try:
        return [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return []


class PayloadFile:
    """A TFRecord file; its items are the payloads of records."""

    def __init__(self, path: str) -> None:
        create_private(path)
        self._open = _Open(path, tf.io.TFRecordWriter(path))

    def write(self, item: bytes) -> None:
        """Append an item."""
        self._open.checked().write(item)

    def write_all(self, items: Iterable[bytes]) -> None:
        """Append items."""
        writer = self._open.checked()
        for item in items:
            writer.write(item)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._open.checked().flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._open.checked().close()


class AppendedFile:
    """A TFRecord file that other processes append to as well."""

    def __init__(self, path: str) -> None:
        create_private(path)
        self._path = path
        self._open = self._opened()

    def _opened(self) -> _Open:
        file = tf.io.gfile.GFile(self._path, "ab")
        file.write(b"")  # Opens the file.
        return _Open(self._path, file)

    def write(self, item: bytes) -> None:
        """Append the payload of a record and hand it to the operating system."""
        self._append(tfrecord.frame(item))

    def write_all(self, items: Iterable[bytes]) -> None:
        """Append the payloads of records and hand them to the operating system."""
        self._append(b"".join(map(tfrecord.frame, items)))

    def _append(self, data: bytes) -> None:
        if self._open.lost:
            self._open = self._opened()
        file = self._open.checked()
        file.write(data)
        file.flush()

    def flush(self) -> None:
        """Do nothing: `write` has done it."""

    def close(self) -> None:
        """Close the file."""
        self._open.checked().close()


class Reserve:
    """A little of the disk, kept so that there is room to say that the disk is full."""

    def __init__(self, path: str) -> None:
        self._path = path

    def take(self) -> None:
        """Occupy it."""
        create_private(self._path)
        with tf.io.gfile.GFile(self._path, "wb") as file:
            file.write(b"\1" * _RESERVED_BYTES)

    def free(self) -> None:
        """Give it back."""
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(self._path)


class RestMark:
    """A file that is there while the process waits, with all that it has recorded in the files."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.is_set = False

    def set(self) -> None:
        """Create it, if nobody has; where that fails, the process seems to be at work."""
        if self.is_set or _local(self._path) is None:
            return
        with contextlib.suppress(OSError):
            create_private(self._path)
            self.is_set = True

    def clear(self) -> None:
        """Remove it."""
        self.is_set = False
        with contextlib.suppress(OSError):
            os.remove(_local(self._path) or self._path)


class FramedFile:
    """A TFRecord file; its items are whole records, framed and checksummed already."""

    def __init__(self, path: str) -> None:
        create_private(path)
        file = tf.io.gfile.GFile(path, "wb")
        file.write(b"")  # Creates the file.
        self._open = _Open(path, file)

    def write(self, item: bytes) -> None:
        """Append an item."""
        self._open.checked().write(item)

    def write_all(self, items: Iterable[bytes]) -> None:
        """Append items."""
        self._open.checked().write(b"".join(items))

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._open.checked().flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._open.checked().close()


class StraightFile:
    """Keeps every record: the behaviour for a `circular_buffer_size` of 0 or less."""

    def __init__(self, path: str, make: Callable[[str], RecordSink]) -> None:
        self._sink = make(path)

    def extend(self, items: Iterable[tuple[bytes, int]]) -> None:
        """Append (item, number of records in it) pairs and hand them to the system."""
        self._sink.write_all(item for item, _ in items)
        self._sink.flush()

    def commit(self) -> None:
        """Do what an explicit flush asks for: nothing more than `extend` does."""

    def close(self) -> None:
        """Close the file."""
        self._sink.close()


class RingFile:
    """Keeps the last `capacity` records, on disk at all times.

    Records are appended; when twice the capacity is in the file it is replaced, atomically, by
    one with the last `capacity`.  So a killed program leaves between one and two capacities.
    `commit` makes what is in the ring permanent, as flushing TensorFlow's circular buffer does.

    Args:
        path: Where the file is.
        make: Opens a file for records.
        capacity: How many records are kept.
    """

    def __init__(self, path: str, make: Callable[[str], RecordSink], capacity: int) -> None:
        self._path = path
        self._make = make
        self._capacity = capacity
        self._ring: deque[tuple[bytes, int]] = deque()
        self._in_ring = 0
        self._in_file = 0
        self._committed: list[bytes] = []
        self._sink = make(path)

    def extend(self, items: Iterable[tuple[bytes, int]]) -> None:
        """Append (item, number of records in it) pairs, drop what is too old."""
        added = deque(items)
        if not added:
            return
        self._ring.extend(added)
        self._in_ring += sum(count for _, count in added)
        while len(self._ring) > 1 and self._in_ring - self._ring[0][1] >= self._capacity:
            self._in_ring -= self._ring.popleft()[1]
        self._in_file += sum(count for _, count in added)
        if self._in_file > 2 * self._capacity:
            self._rewrite()
            return
        self._sink.write_all(item for item, _ in added)
        self._sink.flush()

    def _rewrite(self) -> None:
        replacement = self._path + ".tmp"
        if tf.io.gfile.exists(replacement):  # of a rewrite that failed
            tf.io.gfile.remove(replacement)
        sink = self._make(replacement)
        sink.write_all(self._committed)
        sink.write_all(item for item, _ in self._ring)
        sink.flush()
        tf.io.gfile.rename(replacement, self._path, overwrite=True)
        self._sink.close()
        self._sink = sink
        self._in_file = self._in_ring

    def commit(self) -> None:
        """Make the ring's records permanent and start an empty ring."""
        if self._in_file > self._in_ring:
            self._rewrite()
        self._committed.extend(item for item, _ in self._ring)
        self._ring.clear()
        self._in_ring = self._in_file = 0

    def close(self) -> None:
        """Close the file."""
        self._sink.close()
