"""Looks whether somebody beside the program asks for other things to be recorded."""

from __future__ import annotations

import logging
import os
import stat
import time
from typing import TYPE_CHECKING

from tfdbg_tui.dump.errors import reason_of
from tfdbg_tui.wire import control

if TYPE_CHECKING:
    from tfdbg_tui.wire.control import Control

_log = logging.getLogger("tfdbg_tui")

_INTERVAL_SECONDS = 0.25
_MAX_BYTES = 1 << 16


class ControlFile:
    """The file of one run.

    Args:
        logdir: The directory that it lies in.
        run_id: The run.
    """

    def __init__(self, logdir: str, run_id: str) -> None:
        self._path = control.control_path(logdir)
        self._run_id = run_id
        self._looked_at = 0.0
        self._seen: tuple[int, int] | None = None

    def changed(self) -> Control | None:
        """Return what is asked for, if the file has changed; it is looked at four times a second.

        A file that another user owns is as if it were not there.
        """
        now = time.monotonic()
        if now - self._looked_at < _INTERVAL_SECONDS:
            return None
        self._looked_at = now
        try:
            found = os.lstat(self._path)
        except OSError:  # There is none, or the logdir is behind a URL.
            return None
        seen = found.st_ino, found.st_mtime_ns
        if seen == self._seen:
            return None
        self._seen = seen
        try:
            return control.decode(self._read(), self._run_id)
        except (OSError, ValueError) as error:
            _log.warning(
                "tfdbg-tui: %s is not followed (%s): recording goes on as it was",
                self._path,
                reason_of(error),
            )
            return None

    def _read(self) -> str:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
                raise ValueError("it is no file of this user's")
            return file.read(_MAX_BYTES).decode()
