"""Files on disks of this machine: a bounded number of them is open at once.

A run of 200 processes has 1,200 files, and a process may open 1,024.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tfdbg_tui.storage.interface import Fate, Listing, Look, NotRegularError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST = 512

# Reentrant, as collecting garbage can close a file at any time.
_lock = threading.RLock()
_open: OrderedDict[LocalFile, int] = OrderedDict()  # their descriptors, the last used one last


class LocalFile:
    """A regular file that may be closed and opened again between two reads.

    Only the file that was opened first is read, not another one that has its name now.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be opened.
        NotRegularError: It is no regular file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None  # device and number
        with self._descriptor():
            pass

    def look(self) -> Look:
        """Return how the file that was opened is now."""
        fate: Fate = "deleted"
        try:
            status = os.stat(self._path)
            if (status.st_dev, status.st_ino) == self._identity:
                return Look(status.st_size, status.st_mtime, "")
            fate = "replaced"
        except PermissionError:
            fate = ""  # nobody knows
        except OSError:
            pass
        try:
            with self._descriptor() as descriptor:
                status = os.fstat(descriptor)
        except OSError:
            return Look(None, None, fate)
        return Look(status.st_size, status.st_mtime, fate)

    def read(self, size: int, offset: int) -> bytes:
        """Return up to `size` bytes at `offset`; raises OSError."""
        with self._descriptor() as descriptor:
            return os.pread(descriptor, size, offset)

    def read_each(self, size: int, offsets: Sequence[int]) -> list[bytes]:
        """Return up to `size` bytes at each of some offsets; raises OSError."""
        with self._descriptor() as descriptor:
            return [os.pread(descriptor, size, offset) for offset in offsets]

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
        if self._identity not in (None, identity):
            os.close(descriptor)
            raise FileNotFoundError(errno.ENOENT, "another file has its name now")
        self._identity = identity
        return descriptor


def _limit() -> int:
    """Return how many files may be open: half of what the process may, for the rest of it."""
    import resource  # Not in a program that is watched, which may have a file of this name.

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(1, min(_MOST, soft // 2))


class LocalStorage:
    """The disks of this machine; see `Storage`."""

    is_local: Final = True
    poll_seconds: Final = 0.0
    problem: Final = ""

    def wait_for_connection(self) -> bool:
        """Return that there is none to wait for."""
        return False

    def refresh(self) -> None:
        """Do nothing: each look asks anew."""

    def list(self, directory: str) -> Listing:
        """Return what lies in a directory; raises OSError."""
        with os.scandir(directory) as found:
            entries = list(found)
        directories = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        links = [
            entry.name for entry in entries if entry.is_symlink() and _leads_to_directory(entry)
        ]
        return Listing([entry.name for entry in entries], directories, links)

    def exists(self, path: str) -> bool:
        """Return whether there is anything of this name; True where that cannot be told."""
        try:
            os.lstat(path)
        except PermissionError:
            return True
        except (OSError, ValueError):
            return False
        return True

    def open(self, path: str) -> LocalFile:
        """Open a regular file; raises OSError, NotRegularError."""
        return LocalFile(path)

    def read_start(self, path: str, size: int) -> bytes:
        """Return up to `size` bytes from the start of a file; raises OSError."""
        file = LocalFile(path)
        try:
            return file.read(size, 0)
        finally:
            file.close()


def _leads_to_directory(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:  # a circle of links
        return False


LOCAL: Final = LocalStorage()
