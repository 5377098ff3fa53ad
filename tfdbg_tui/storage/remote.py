"""Files behind a URL."""

from __future__ import annotations

import errno
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tfdbg_tui.storage.blocks import Blocks
from tfdbg_tui.storage.connection import Connection
from tfdbg_tui.storage.interface import Listing
from tfdbg_tui.storage.remote_file import RemoteFile, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsspec import AbstractFileSystem

_POLL_SECONDS = 1.0
_TIMES = "LastModified", "last_modified", "mtime", "updated", "modified", "created"


@lru_cache(maxsize=64)
def remote_storage(server: str) -> RemoteStorage:
    """Return the storage behind a server's URL: the same one each time.

    Raises:
        MissingPackageError: What reads such URLs is not installed.
    """
    return RemoteStorage(server)


class RemoteStorage:
    """The files of a server, a bucket or the like; see `Storage`.

    How files are is learnt from listings of their directories, so that a look at all files of a
    logdir is one request.

    Args:
        server: Its URL.
    """

    is_local: Final = False
    poll_seconds: Final = _POLL_SECONDS

    def __init__(self, server: str) -> None:
        self._connection = Connection(server)
        self._blocks = Blocks()
        self._listings: dict[str, dict[str, Mapping[str, Any]]] = {}
        self._starts: dict[str, tuple[object, bytes]] = {}  # of files, with their versions

    @property
    def problem(self) -> str:
        """What is wrong with the connection, in words; "" where nothing is."""
        return self._connection.problem

    def wait_for_connection(self) -> bool:
        """Wait a second for a connection that is lost; return whether to look once more."""
        return self._connection.wait()

    def refresh(self) -> None:
        """Forget how files were: the next look asks anew."""
        self._listings = {}

    def list(self, directory: str) -> Listing:
        """Return what lies in a directory; raises OSError."""
        entries = self._entries(directory)
        is_directory = {name: entry.get("type") == "directory" for name, entry in entries.items()}
        return Listing(list(entries), [name for name, is_one in is_directory.items() if is_one])

    def exists(self, path: str) -> bool:
        """Return whether there is anything of this name; True where that cannot be told."""
        directory, _, name = path.rpartition("/")
        try:
            return name in self._entries(directory)
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def open(self, path: str) -> RemoteFile:
        """Open a file; raises OSError."""
        return RemoteFile(
            self._connection, self._blocks, self._connection.path(path), lambda: self._status(path)
        )

    def read_start(self, path: str, size: int) -> bytes:
        """Return up to `size` bytes from the start of a file; raises OSError."""
        status = self._status(path)
        version, start = self._starts.get(path, (None, b""))
        if version != status.version or len(start) < min(size, status.size):
            there = self._connection.path(path)
            start = self._connection.read(there, [(0, min(size, status.size))])[0]
            self._starts[path] = status.version, start
        return start[:size]

    def _status(self, path: str) -> Status:
        """Return how a file is.

        Raises:
            FileNotFoundError: It is not there.
            OSError: It cannot be asked.
        """
        directory, _, name = path.rpartition("/")
        entry = self._entries(directory).get(name)
        if entry is None:
            raise FileNotFoundError(path)
        if entry.get("size") is None:  # listings of web servers have names only
            entry = self._info(path)
            self._entries(directory)[name] = entry
        modified = next((time for name in _TIMES if (time := _seconds(entry.get(name)))), None)
        size = int(entry["size"])
        return Status(size, modified, (size, entry.get("ETag") or modified))

    def _entries(self, directory: str) -> dict[str, Mapping[str, Any]]:
        """Return what lies in a directory by name, as it was at the last look."""
        found = self._listings.get(directory)
        if found is None:
            found = self._listings[directory] = self._listed(directory)
        return found

    def _listed(self, directory: str) -> dict[str, Mapping[str, Any]]:
        path = self._connection.path(directory)
        try:
            entries = self._connection.call(lambda files: _fresh(files, path))
        except FileNotFoundError:  # which SFTP says of files too
            entries = [self._connection.call(lambda files: files.info(path))]
        if len(entries) == 1 and _same(entries[0]["name"], path) and _is_file(entries[0]):
            raise NotADirectoryError(path)
        parents = (entry["name"].rstrip("/").rpartition("/") for entry in entries)
        return {
            name: entry
            for (parent, _, name), entry in zip(parents, entries, strict=True)
            if name and _same(parent, path)
        }

    def _info(self, path: str) -> Mapping[str, Any]:
        there = self._connection.path(path)
        info: Mapping[str, Any] = self._connection.call(lambda files: files.info(there))
        if info.get("size") is None:
            raise OSError(errno.EINVAL, "the server does not tell how long the file is")
        return info


def _fresh(files: AbstractFileSystem, path: str) -> list[dict[str, Any]]:
    """Return what lies in a directory, not what a backend remembers of it."""
    files.invalidate_cache()
    entries: list[dict[str, Any]] = files.ls(path, detail=True)
    return entries


def _same(one: str, other: str) -> bool:
    return one.strip("/") == other.strip("/")


def _is_file(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "file"


def _seconds(time: object) -> float | None:
    """Return a time, in whichever form a backend has it, in seconds since the epoch."""
    if isinstance(time, datetime):
        return time.timestamp()
    if isinstance(time, (int, float)):
        return float(time)
    try:
        return datetime.fromisoformat(time).timestamp() if isinstance(time, str) else None
    except ValueError:
        return None
