"""A program that runs under the dump writer in a process of its own."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from tfdbg_tui.logdir import LogdirError
from tfdbg_tui.wire import filesets, metadata, omissions
from tfdbg_tui.wire.events import DebugEvent, Omission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfdbg_tui.storage.spool import Spool

_PATIENCE_SECONDS = 5.0
_LONGEST_ID = 100  # in names of files
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h

# Python imports sitecustomize from here, in the program.
_STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dump", "startup")

DEFAULTS = {"tensor_debug_mode": "ADAPTIVE", "circular_buffer_size": -1}
"""Arguments of `tfdbg_tui.enable_dump_debug_info` where `run` was given no others."""


def new_logdir(name: str) -> str:
    """Create and return a directory for the dump of a program called `name`.

    Raises:
        LogdirError: The directory for all such dumps of this user is not the user's own.
        OSError: It cannot be made.
    """
    parent = os.path.join(tempfile.gettempdir(), f"tfdbg-tui-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(parent, 0o700)
    _check_private(parent)
    stem = os.path.splitext(os.path.basename(name))[0]
    return tempfile.mkdtemp(prefix=f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-", dir=parent)


def _check_private(directory: str) -> None:
    """Refuse a directory in which others could plant files, or from which they could read."""
    found = os.lstat(directory)
    if not stat.S_ISDIR(found.st_mode):
        wrong = "is not a directory"
    elif found.st_uid != os.getuid():
        wrong = "belongs to another user"
    elif found.st_mode & 0o077:
        wrong = f"is open to other users (chmod 700 {directory} closes it)"
    else:
        return
    raise LogdirError(f"{directory}: {wrong}; choose another place with --logdir DIR")


def log_path(logdir: str, run_id: str | None) -> str | None:
    """Return the file that holds what the program of a run printed, if `run` started it.

    Args:
        logdir: The directory of the run.
        run_id: Its id; where several programs have it, the one that began last is meant.
    """
    stem = glob.escape(_log_stem(logdir, run_id or ""))
    logs = [*glob.glob(f"{stem}.log"), *glob.glob(f"{stem}.*.log")]
    return max(filter(os.path.isfile, logs), key=os.path.getmtime, default=None)


def _log_stem(logdir: str, run_id: str) -> str:
    return os.path.join(logdir, "program." + re.sub(r"[^A-Za-z0-9_-]", "_", run_id)[:_LONGEST_ID])


def _new_log(logdir: str, run_id: str) -> str:
    """Create a file that no other program writes to, and only its user may read."""
    stem = _log_stem(logdir, run_id)
    for path in chain([f"{stem}.log"], (f"{stem}.{number}.log" for number in count(2))):
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return path
    raise AssertionError("numbers do not end")


def recording_environment(logdir: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment in which a Python program is recorded, with its Python children.

    Args:
        logdir: Where the dump goes.
        options: Further arguments of `tfdbg_tui.enable_dump_debug_info`.
    """
    path = os.environ.get("PYTHONPATH", "").removeprefix(_STARTUP).removeprefix(os.pathsep)
    return {
        **os.environ,
        "PYTHONPATH": f"{_STARTUP}{os.pathsep}{path}" if path else _STARTUP,
        "TFDBG_TUI_LOGDIR": os.path.abspath(logdir),
        "TFDBG_TUI_OPTIONS": json.dumps({**DEFAULTS, "run_id": _new_run_id(), **options}),
    }


def _new_run_id() -> str:
    """Return what tells a run from others: the user's choice, which several programs may share."""
    return os.environ.get("TFDBG_RUN_ID") or uuid.uuid4().hex[:8]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


@dataclass
class Program:
    """A program under the dump writer.

    Attributes:
        logdir: Where its dump goes.
        command: What follows ``python``: its options, the script and the script's arguments.
        options: Further arguments of `tfdbg_tui.enable_dump_debug_info`.
        spool: What uploads its logdir, as long as the program runs; None where it stays.
        run_id: What tells its run from those that others record into the logdir meanwhile.
    """

    logdir: str
    command: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    spool: Spool | None = None
    run_id: str = field(default_factory=_new_run_id)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @cached_property
    def log_path(self) -> str:
        """The file that holds what the program printed, standard output and error together."""
        return _new_log(self.logdir, self.run_id)

    def start(self, stdin: int | None = subprocess.DEVNULL, *, outlives: bool = True) -> None:
        """Start the program.

        It gets a session of its own, so that neither Ctrl-C in this terminal nor the end of the
        terminal reaches it, and its output goes to a file, so that it can outlive the debugger.

        Args:
            stdin: What `subprocess.Popen` takes; None gives it the standard input of this process.
            outlives: Whether it goes on where this process is killed by SIGKILL.  Elsewhere than
                on Linux it does in any case.
        """
        ends_too = None if outlives or sys.platform != "linux" else _ending_with_parent()
        with open(self.log_path, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self.command],
                stdin=stdin,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=recording_environment(self.logdir, {**self.options, "run_id": self.run_id}),
                start_new_session=True,
                preexec_fn=ends_too,
                pass_fds=(self.spool.pipe,) if self.spool else (),
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
            return f"ended by signal {_signal_name(-code)}"
        return f"ended with exit code {code}"

    @property
    def brief(self) -> str:
        """What has become of the program, in few words."""
        return "runs" if self.running else self.outcome

    def tell_failure(self) -> None:
        """Say in the logdir that the program has failed, where it could not say so itself.

        Of one that a signal has ended before its dump has, the missing end tells.
        """
        if self._process is None or not self.exit_code:
            return
        omission = Omission(omissions.FAILED, "the rest of the program", f"it {self.outcome}")
        event = DebugEvent(time.time(), omission=omission.encode())
        with contextlib.suppress(OSError, ValueError):  # damaged: then nobody calls it clean
            for file_set in filesets.find_file_sets(self.logdir):
                path = file_set.path(filesets.METADATA)
                is_its_own = re.search(rf"-{self._process.pid}(-\d+)?$", file_set.prefix)
                if not is_its_own or metadata.tells(path, omissions.FAILED):
                    continue
                if self.exit_code > 0 or metadata.has_ended(path):
                    metadata.append(path, event.encode())

    def stop(self) -> None:
        """End the program: politely first, so that it can save, then, or at Ctrl-C, for good."""
        if self._process is None or not self.running:
            return
        with contextlib.suppress(KeyboardInterrupt):
            for request in (signal.SIGINT, signal.SIGTERM):
                self.send(request)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE_SECONDS)
                    return
        self.send(signal.SIGKILL)
        self._process.wait()

    def send(self, number: int, *, alone: bool = False) -> None:
        """Send a signal to the program.

        Args:
            number: The signal.
            alone: Whether the processes that it has started do not get it.
        """
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            (os.kill if alone else os.killpg)(self._process.pid, number)


def _ending_with_parent() -> Callable[[], object]:
    """Return what lets a new process end as soon as the one that starts it has; see prctl(2)."""
    import ctypes  # The app needs it not.

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
