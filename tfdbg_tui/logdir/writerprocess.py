"""Whether the process that writes a file set still does.

Our dump writer names its files ``tfdbg_events.<seconds>.<host>-<pid>``; on the same host the
process can be asked for.  TensorFlow's names hold no process: of those only silence can be told.
"""

from __future__ import annotations

import os
import re
import socket
from typing import TYPE_CHECKING

from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from tfdbg_tui.wire.filesets import FileSet


class WriterProcess:
    """The process that writes a file set.

    Args:
        file_set: The file set.

    Attributes:
        pid: Its process id; None where the name tells none, or one of another host.
    """

    def __init__(self, file_set: FileSet) -> None:
        self._names = {os.path.basename(file_set.path(suffix)) for suffix in filesets.SUFFIXES}
        self.pid = _pid_of(file_set)
        self._ended = False

    def writing(self) -> bool | None:
        """Return whether it lives and has the files open; None where that cannot be told."""
        if self.pid is None:
            return None
        if not self._ended:
            self._ended = not (_lives(self.pid) and self._has_files_open(self.pid))
        return not self._ended

    def _has_files_open(self, pid: int) -> bool:
        """Whether a process has any of the files open; True where it does not let us look."""
        directory = f"/proc/{pid}/fd"
        try:
            descriptors = os.listdir(directory)
        except FileNotFoundError:
            return not os.path.isdir("/proc/self/fd")  # a zombie; or there is no /proc at all
        except OSError:
            return True
        return any(self._is_ours(f"{directory}/{number}") for number in descriptors)

    def _is_ours(self, link: str) -> bool:
        try:
            name = os.path.basename(os.readlink(link))
        except OSError:
            return False
        return name.removesuffix(" (deleted)") in self._names


def _pid_of(file_set: FileSet) -> int | None:
    writer = os.path.basename(file_set.prefix).split(".", 2)[-1]
    match = re.fullmatch(re.escape(socket.gethostname()) + r"-(\d{1,9})(-\d+)?", writer)
    return int(match[1]) if match and int(match[1]) > 0 else None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is somebody else's
    return True
