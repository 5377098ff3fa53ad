"""Whether the process that writes a file set still does.

Our dump writer names its files ``tfdbg_events.<seconds>.<host>-<pid>``, TensorFlow's
``tfdbg_events.<seconds>.<host>``.  On the same host the first can be asked for; the second is
searched for, among the processes that have one of the files open for writing.

Ours also says in the metadata file that it has ended its dump in order, which can be read on any
host, and which a process that is killed, or crashes, cannot say.  One that is killed while it waits
for others has said before that all is on record: see `filesets.REST`.
"""

from __future__ import annotations

import os
import re
import socket
from typing import TYPE_CHECKING

from tfdbg_tui.process_stat import STATE, process_stat
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import filesets, metadata

if TYPE_CHECKING:
    from tfdbg_tui.wire.filesets import FileSet

_SEARCHES = 3  # a writer opens its files at once: who has not been found soon will not be
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR
_STOPPED = ("T", "t")  # by a signal, by a tracer


class WriterProcess:
    """The process that writes a file set.

    Args:
        file_set: The file set.

    Attributes:
        pid: Its process id; None where it is not known, or one of another host.
        is_ours: Whether it is our dump writer on this host, which writes what is recorded within
            a quarter of a second.
    """

    def __init__(self, file_set: FileSet) -> None:
        self._storage = storage_of(file_set.prefix)
        here = self._storage.is_local
        paths = [file_set.path(suffix) for suffix in filesets.SUFFIXES]
        self._names = {os.path.basename(path) for path in paths}
        self._paths = {os.path.realpath(path) for path in paths}
        self._metadata_path = file_set.path(filesets.METADATA)
        self._rest_path = file_set.path(filesets.REST)
        self.pid = _pid_of(file_set) if here else None
        self.is_ours = self.pid is not None
        may_be_found = here and _writer_of(file_set) == socket.gethostname()
        self._searches_left = _SEARCHES if may_be_found else 0
        self._ended = False

    def writing(self) -> bool | None:
        """Return whether it lives and has the files open; None where that cannot be told."""
        if self.pid is None and self._searches_left:
            self._searches_left -= 1
            self.pid = self._search()
        if self.pid is None:
            return False if self.has_ended_in_order() else None
        if not self._ended:
            self._ended = not (_lives(self.pid) and self._has_files_open(self.pid))
        return not self._ended

    def killed(self) -> bool:
        """Return whether it is our writer and has gone without having ended its dump in order.

        Nobody knows that where its metadata file cannot be read.
        """
        try:
            return self.is_ours and self._ended and not self._says_ended() and not self._rested()
        except OSError:
            return False

    def has_ended_in_order(self) -> bool:
        """Return whether the last word of the metadata file on the dump is that it has ended."""
        try:
            return self._says_ended() or (self._ended and self._rested())
        except OSError:  # it is gone, or not ours to read
            return False

    def _rested(self) -> bool:
        """Return whether its last word was that all is on record; see `filesets.REST`."""
        return os.path.exists(self._rest_path)

    def _says_ended(self) -> bool:
        start = self._storage.read_start(self._metadata_path, metadata.SIZE_LIMIT)
        try:
            return metadata.says_ended(start)
        except ValueError:  # it is damaged, which the reader tells
            return False

    def suspended(self) -> bool:
        """Return whether it lives but has been stopped, as by Ctrl-Z, SIGSTOP or a debugger."""
        if self.pid is None or self._ended:
            return False
        try:
            return process_stat(self.pid)[STATE] in _STOPPED
        except OSError:
            return False

    def _search(self) -> int | None:
        """Return the process that has any of the files open for writing, if one is found."""
        try:
            processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            return None
        return next((pid for pid in processes if self._writes(pid)), None)

    def _writes(self, pid: int) -> bool:
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            return False
        return any(
            _target(pid, number) in self._paths and _is_for_writing(pid, number)
            for number in numbers
        )

    def _has_files_open(self, pid: int) -> bool:
        """Whether a process has any of the files open; True where it does not let us look."""
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
        except FileNotFoundError:
            return not os.path.isdir("/proc/self/fd")  # a zombie; or there is no /proc at all
        except OSError:
            return True
        return any(os.path.basename(_target(pid, number)) in self._names for number in numbers)


def _target(pid: int, number: str) -> str:
    """Return the path of a file that a process has open; "" where it cannot be told."""
    try:
        return os.readlink(f"/proc/{pid}/fd/{number}").removesuffix(" (deleted)")
    except OSError:
        return ""


def _is_for_writing(pid: int, number: str) -> bool:
    try:
        with open(f"/proc/{pid}/fdinfo/{number}") as file:
            flags = re.search(r"^flags:\s*([0-7]+)", file.read(), re.MULTILINE)
    except OSError:
        return False
    return flags is not None and bool(int(flags[1], 8) & _WRITE_FLAGS)


def _writer_of(file_set: FileSet) -> str:
    return os.path.basename(file_set.prefix).split(".", 2)[-1]


def _pid_of(file_set: FileSet) -> int | None:
    pattern = re.escape(socket.gethostname()) + r"-(\d{1,9})(-\d+)?"
    match = re.fullmatch(pattern, _writer_of(file_set))
    return int(match[1]) if match and int(match[1]) > 0 else None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True
