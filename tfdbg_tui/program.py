"""A program that runs under the dump writer in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOG_NAME = "program.log"
_PATIENCE_SECONDS = 5.0


def new_logdir(name: str) -> str:
    """Create and return a directory for the dump of a program called `name`."""
    parent = os.path.join(tempfile.gettempdir(), "tfdbg-tui")
    os.makedirs(parent, exist_ok=True)
    stem = os.path.splitext(os.path.basename(name))[0]
    return tempfile.mkdtemp(prefix=f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-", dir=parent)


def log_path(logdir: str) -> str:
    """Return the file that holds what the program of a logdir printed, if `run` started it."""
    return os.path.join(logdir, _LOG_NAME)


@dataclass
class Program:
    """A program under the dump writer.

    Attributes:
        logdir: Where its dump goes.
        arguments: What follows ``python -m tfdbg_tui.dump --dump-root LOGDIR``.
    """

    logdir: str
    arguments: Sequence[str]
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log_path(self) -> str:
        """The file that holds what the program printed, standard output and error together."""
        return log_path(self.logdir)

    def start(self) -> None:
        """Start the program.

        It gets a session of its own, so that neither Ctrl-C in this terminal nor the end of the
        terminal reaches it, and its output goes to a file, so that it can outlive the debugger.
        """
        command = [sys.executable, "-u", "-m", "tfdbg_tui.dump", "--dump-root", self.logdir]
        with open(self.log_path, "ab") as log:
            self._process = subprocess.Popen(
                [*command, *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def started(self) -> bool:
        """Whether it has been started, running or not."""
        return self._process is not None

    @property
    def exit_code(self) -> int | None:
        """The program's exit code (minus the signal that ended it); None while it runs."""
        return self._process.poll() if self._process else None

    @property
    def running(self) -> bool:
        """Whether the program has been started and has not ended."""
        return self._process is not None and self.exit_code is None

    @property
    def outcome(self) -> str:
        """What has become of the program, in words."""
        code = self.exit_code
        if code is None:
            return f"running (process {self._process.pid})" if self._process else "not started"
        if code < 0:
            return f"ended by signal {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    @property
    def brief(self) -> str:
        """What has become of the program, in few words."""
        return "runs" if self.running else self.outcome

    def stop(self) -> None:
        """End the program: politely first, so that it can save, then, or at Ctrl-C, for good."""
        if self._process is None or not self.running:
            return
        with contextlib.suppress(KeyboardInterrupt):
            for request in (signal.SIGINT, signal.SIGTERM):
                self._signal(request)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE_SECONDS)
                    return
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.killpg(self._process.pid, number)
