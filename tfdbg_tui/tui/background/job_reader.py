"""Summarises the processes of jobs in a thread of its own, again when they have grown."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import Unread, WorkerSummary
    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.logdir.several import Unlisted
    from tfdbg_tui.tui.session.job import Job

_PAUSE = 2.0  # seconds between two looks at all processes
_SHARE = 8  # of the time, looking again may take at most one part in this many and one
_TOLD_SECONDS = 0.5  # between two messages while processes are summarised for the first time
_TOLD_SHARE = 4


@dataclass
class JobsRead(Message):
    """Processes have been summarised.

    Attributes:
        jobs: The jobs that they are of, the oldest first.
        complete: Whether all have been.
    """

    jobs: tuple[Job, ...]
    complete: bool

    def can_replace(self, message: Message) -> bool:
        """Of several messages that wait, only the newest matters."""
        return isinstance(message, JobsRead)


class JobReader(Worker):
    """Summarises processes.

    Args:
        post: Called from this thread with each message.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        super().__init__("job-reader")
        self._post = post
        self._processes: Sequence[RunFiles] = ()
        self._unlisted: Sequence[Unlisted] = ()
        self._found: dict[RunFiles, tuple[int, WorkerSummary | Unread]] = {}
        self._wanted = threading.Event()
        self._stopped = threading.Event()
        self._next_post = 0.0

    def read(self, processes: Sequence[RunFiles], unlisted: Sequence[Unlisted] = ()) -> None:
        """Summarise these processes from now on, and tell what could not be listed beside them."""
        self._processes, self._unlisted = processes, unlisted
        self._wanted.set()

    def stop(self) -> None:
        """End the thread after the process that it reads."""
        self._stopped.set()
        self._wanted.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        self._wanted.wait()
        while not self._stopped.is_set():
            self._wanted.clear()
            started = time.monotonic()
            self._read()
            cost = time.monotonic() - started
            self._wanted.wait(max(_PAUSE, cost * _SHARE))

    def _read(self) -> None:
        """Summarise what has grown since."""
        from tfdbg_tui.diagnosis import summarized
        from tfdbg_tui.logdir.processes import size_of

        processes, changed = self._processes, False
        for process in processes:
            if self._stopped.is_set():
                return
            size = size_of(process)
            if self._found.get(process, (-1, None))[0] == size:
                continue
            self._found[process] = size, summarized(process)
            changed = True
            self._tell(processes)
        if changed:
            self._tell(processes, complete=True)

    def _tell(self, processes: Sequence[RunFiles], *, complete: bool = False) -> None:
        """Post what is known, not too often before it is complete."""
        started = time.monotonic()
        if complete or started >= self._next_post:
            self._post(JobsRead(self._jobs(processes, complete=complete), complete))
            cost = time.monotonic() - started
            self._next_post = started + max(_TOLD_SECONDS, cost * _TOLD_SHARE)

    def _jobs(self, processes: Sequence[RunFiles], *, complete: bool) -> tuple[Job, ...]:
        from tfdbg_tui.diagnosis import Unread, join
        from tfdbg_tui.tui.session.job import Job

        found = [self._found[process][1] for process in processes if process in self._found]
        unread = (
            *(Unread(path, str(error).removeprefix(f"{path}: ")) for path, error in self._unlisted),
            *(one for one in found if isinstance(one, Unread)),
        )
        report = join(one for one in found if not isinstance(one, Unread))
        files = {(files.directory, _name(files)): files for files in processes}
        return tuple(
            Job(
                job,
                tuple(files[member.logdir, member.name] for member in job.members),
                unread,
                complete,
            )
            for job in report.jobs
        )


def _name(files: RunFiles) -> str:
    """Return the name by which a summary tells a process from others in its directory."""
    return os.path.basename(files.file_sets[0].prefix)
