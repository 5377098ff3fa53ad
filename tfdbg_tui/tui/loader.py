"""Reads a logdir in a thread of its own and posts what it has read, a few times a second."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir import Run, RunFiles
    from tfdbg_tui.tui.snapshot import Snapshot

_WHILE_READING = 0.25  # seconds between snapshots while there is more to read
_SHARE = 4  # of the time, making snapshots may take at most one part in this many and one
_SHORTEST_WAIT = 0.5
_LONGEST_WAIT = 5.0  # of a run that does not grow any more


class Loaded(Message):
    """More of the run has been read."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Of several snapshots that wait to be shown, only the newest matters."""
        return isinstance(message, Loaded)


class Waiting(Message):
    """There is nothing to show yet; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RunsFound(Message):
    """The logdir holds several runs, and one has to be chosen."""

    def __init__(self, runs: list[RunFiles]) -> None:
        super().__init__()
        self.runs = runs


class Loader(threading.Thread):
    """Finds the runs of a logdir and reads the chosen one for as long as it grows.

    Args:
        logdir: The directory.
        run: Label of the run to read; None to have one chosen where there are several.
        post: Called from this thread with each message.
    """

    def __init__(self, logdir: str, run: str | None, post: Callable[[Message], object]) -> None:
        super().__init__(name="tfdbg-tui-loader", daemon=True)
        self._logdir = logdir
        self._run = run
        self._post = post
        self._stopped = threading.Event()
        self._chosen = threading.Event()

    def choose(self, label: str) -> None:
        """Read the run with this label, in answer to `RunsFound`."""
        self._run = label
        self._chosen.set()

    def stop(self) -> None:
        """End the thread soon."""
        self._stopped.set()
        self._chosen.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        try:
            self._work()
        except Exception as error:  # whatever it is, the user gets a sentence, not a traceback
            self._post(Waiting(f"{self._logdir}: cannot be read: {error}"))

    def _work(self) -> None:
        files = self._find()
        while files is None and not self._stopped.wait(_SHORTEST_WAIT):
            files = self._find()
        if files is not None:
            self._read(files)

    def _find(self) -> RunFiles | None:
        from tfdbg_tui.logdir import LogdirError, list_runs

        try:
            runs = list_runs(self._logdir)
        except LogdirError as error:
            self._post(Waiting(str(error)))
            return None
        if self._run is None and len(runs) > 1:
            self._post(RunsFound(runs))
            self._chosen.wait()
        if self._run is None:
            return runs[0] if len(runs) == 1 else None
        known = ", ".join(files.label for files in runs)
        self._post(Waiting(f"{self._logdir}: no run {self._run!r} yet; it holds {known}"))
        return next((files for files in runs if files.label == self._run), None)

    def _read(self, files: RunFiles) -> None:
        from tfdbg_tui.logdir import RunReader
        from tfdbg_tui.tui.snapshot import Snapshot

        reader = RunReader(files)
        snapshot: Snapshot | None = None
        posted: tuple[int, ...] | None = None
        position, next_post, wait = -1, 0.0, _SHORTEST_WAIT
        while not self._stopped.is_set():
            run = reader.poll()
            idle = run.progress.complete or run.progress.bytes_read == position
            position = run.progress.bytes_read
            started = time.monotonic()
            if (idle or started >= next_post) and _state(run) != posted:
                posted = _state(run)
                snapshot = Snapshot(run, snapshot)
                self._post(Loaded(snapshot))
                cost = time.monotonic() - started
                next_post = started + max(_WHILE_READING, cost * _SHARE)
                wait = _SHORTEST_WAIT
            if idle:
                self._stopped.wait(wait)
                wait = min(wait * 1.5, _LONGEST_WAIT)


def _state(run: Run) -> tuple[int, ...]:
    """Return numbers that change whenever a run has grown in any way that shows."""
    return (
        run.progress.bytes_read,
        run.progress.bytes_total,
        len(run.executions),
        len(run.graph_executions),
        len(run.problems),
    )
