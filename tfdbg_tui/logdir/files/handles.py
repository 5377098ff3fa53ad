"""Files that are read from time to time: a bounded number of them is open at once.

A run of 200 processes has 1,200 files, and a process may open 1,024.
"""

from __future__ import annotations

import errno
import os
import resource
import stat
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 512

# Reentrant, as collecting garbage can close a file at any time.
_lock = threading.RLock()
_open: OrderedDict[ReadFile, int] = OrderedDict()  # their descriptors, the last used one last


class NotRegularError(OSError):
    """What has the name of a file is a directory, a named pipe or a device."""


class ReadFile:
    """A regular file that may be closed and opened again between two reads.

    Args:
        path: The file.

    Attributes:
        identity: Device and number of the file that was opened first: no other one is read.

    Raises:
        OSError: It cannot be opened.
        NotRegularError: It is no regular file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.identity: tuple[int, int] | None = None
        with self._descriptor():
            pass

    def status(self) -> os.stat_result | None:
        """Return the status of the file; None where it has gone from its place and is closed."""
        try:
            with self._descriptor() as descriptor:
                return os.fstat(descriptor)
        except OSError:
            return None

    def read(self, size: int, offset: int) -> bytes:
        """Return up to `size` bytes at `offset`; raises OSError."""
        with self._descriptor() as descriptor:
            return os.pread(descriptor, size, offset)

    def read_into(self, view: memoryview, offset: int) -> int:
        """Fill a view with what is at `offset`; return how much that was.  Raises OSError."""
        with self._descriptor() as descriptor:
            return os.preadv(descriptor, [view], offset)

    def next_data(self, offset: int, size: int) -> int:
        """Return where, from `offset` up to `size`, a hole of zeros without blocks ends.

        Where the file system does not know its holes, that is `offset` itself.
        """
        try:
            with self._descriptor() as descriptor:
                return os.lseek(descriptor, offset, os.SEEK_DATA)
        except OSError as error:
            return size if error.errno == errno.ENXIO else offset

    def close(self) -> None:
        """Close the file."""
        with _lock:
            descriptor = _open.pop(self, None)
            if descriptor is not None:
                os.close(descriptor)

    @contextmanager
    def _descriptor(self) -> Iterator[int]:
        with _lock:
            descriptor = _open.pop(self, None)
            if descriptor is None:
                descriptor = self._opened()
            _open[self] = descriptor
            while len(_open) > _limit():
                os.close(_open.popitem(last=False)[1])
            yield descriptor

    def _opened(self) -> int:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(descriptor)
        identity = status.st_dev, status.st_ino
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise NotRegularError(errno.EINVAL, "not a regular file")
        if self.identity not in (None, identity):
            os.close(descriptor)
            raise FileNotFoundError(errno.ENOENT, "another file has its name now")
        self.identity = identity
        return descriptor


def _limit() -> int:
    """Return how many files may be open: half of what the process may, for the rest of it."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(_MOST, soft // 2))
