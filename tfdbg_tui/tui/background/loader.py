"""Reads a run in a thread of its own and posts what it has read, a few times a second."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.logdir.several import common_path, list_runs_of
from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.logdir import LogdirError, Run, RunFiles
    from tfdbg_tui.logdir.several import Unlisted
    from tfdbg_tui.tui.session.snapshot import Snapshot

FAST, SLOW = 0.2, 0.5  # seconds between two snapshots at least
_SHARE = 4  # of the time, making snapshots may take at most one part in this many and one
_CPU_SHARE = 3  # of a processor, following may take at most one part in this many
_LONGEST_INTERVAL = 1.0  # between two snapshots, that this can ask for
_SHORTEST_WAIT = 0.1
_LONGEST_WAIT = 1.0  # between two looks at a run that does not grow any more
_RUNS_SECONDS = 2.0  # between two looks for other runs
_RUNS_SHARE = 200  # of a processor, that may take at most one part in this many
_RUNS_WAIT_SHARE = 4  # of the time, that may wait for a server at most one part in this many
_WAIT_SECONDS = 2.0  # with a run whose first record is not written yet


@dataclass
class Loaded(Message):
    """More of the run has been read."""

    snapshot: Snapshot

    def can_replace(self, message: Message) -> bool:
        """Of several snapshots that wait to be shown, only the newest matters."""
        return isinstance(message, Loaded)


@dataclass
class Waiting(Message):
    """There is nothing to show yet; `reason` says why."""

    reason: str


@dataclass
class RunsFound(Message):
    """The logdir holds several runs, and one has to be chosen."""

    runs: list[RunFiles]


@dataclass
class NewRun(Message):
    """Another run has begun since this one was opened."""

    files: RunFiles


@dataclass
class ProcessesFound(Message):
    """The logdirs hold processes of a cluster.

    Attributes:
        processes: The processes.
        unlisted: Logdirs that could not be listed, and why.
    """

    processes: list[RunFiles]
    unlisted: list[Unlisted]


class Loader(Worker):
    """Finds the runs of some logdirs and reads the chosen one for as long as it grows.

    Args:
        logdirs: The directories.
        run: Label of the run to read; None to have one chosen where there are several.
        post: Called from this thread with each message.
        newest: Whether the newest run is read, rather than one chosen, where there are several.
        interval: Seconds between two snapshots at least.
        ready: Asked from this thread whether the snapshot before has been drawn.
    """

    def __init__(
        self,
        logdirs: Sequence[str],
        run: str | None,
        post: Callable[[Message], object],
        *,
        newest: bool = False,
        interval: float = FAST,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__("loader")
        self._logdirs = logdirs
        self._name = common_path(logdirs)
        self._run = run
        self._post = post
        self._newest = newest
        self._interval = interval
        self._ready = ready
        self._stopped = threading.Event()
        self._chosen = threading.Event()
        self._chosen_run: RunFiles | None = None
        self._processes: list[RunFiles] = []
        self._known: set[tuple[str, str]] = set()
        self._next_runs = 0.0
        self._first_seen = 0.0

    def choose(self, files: RunFiles) -> None:
        """Read another run from now on."""
        self._chosen_run = files
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
            self._post(Waiting(f"{self._name}: cannot be read: {error}"))

    def _work(self) -> None:
        while not self._stopped.is_set():
            self._chosen.clear()
            files = self._find()
            if files is None:
                self._stopped.wait(self._interval)
            else:
                self._read(files)

    def _find(self) -> RunFiles | None:
        """Return the run to read; None where there is none yet."""
        if self._chosen_run is None:
            runs, unlisted = list_runs_of(self._logdirs)
            if not runs:
                self._post(Waiting(self._nothing_here(unlisted[0][1])))
                return None
            self._known = {files.identity for files in runs}
            self._tell_of_processes(runs, unlisted)
            self._chosen_run = self._pick(self._processes or runs)
        if self._chosen_run is not None:
            self._known.add(self._chosen_run.identity)
        return self._chosen_run

    def _tell_of_processes(self, runs: list[RunFiles], unlisted: list[Unlisted]) -> None:
        """Tell which processes there are, where they are of a cluster, and others than before."""
        from tfdbg_tui.logdir.processes import are_of_a_cluster, processes_of

        processes = processes_of(runs) if are_of_a_cluster(runs) else []
        if processes != self._processes:
            self._processes = processes
            self._post(ProcessesFound(processes, unlisted))

    def _nothing_here(self, error: LogdirError) -> str:
        """Say what to do about a directory that holds no run."""
        from tfdbg_tui.logdir import EmptyLogdirError

        if self._newest:
            return f"Waiting for a program to record into {self._name}"
        if not isinstance(error, EmptyLogdirError):
            return str(error)
        return (
            f"{self._name} holds no tfdbg_events files yet.\n"
            "What a program records there shows up here.\n\n"
            f"tfdbg-tui run --logdir {self._name} SCRIPT\nrecords a program\n\n"
            f"tfdbg-tui {self._name} --follow\nstays at its newest event\n\n"
            "tfdbg-tui demo\nopens a recorded example"
        )

    def _pick(self, runs: list[RunFiles]) -> RunFiles | None:
        """Return the run to open, or have the user choose: None until then."""
        if self._run is not None:
            return self._labelled(runs)
        from tfdbg_tui.logdir.processes import are_of_one_cluster

        job = self._job_of(runs[-1])
        if len(job) == len(runs) or are_of_one_cluster(runs) or self._newest:
            return self._begun(job[0])
        self._post(RunsFound(runs))
        self._chosen.wait()
        return self._chosen_run

    def _labelled(self, runs: list[RunFiles]) -> RunFiles | None:
        found = next((files for files in runs if files.label == self._run), None)
        if found is None:
            known = ", ".join(files.label for files in runs)
            self._post(Waiting(f"{self._name}: no run {self._run!r} yet; it holds {known}"))
        return found

    def _job_of(self, files: RunFiles) -> list[RunFiles]:
        """Return the processes of the job that a run may be of, by their tasks; or the run."""
        from tfdbg_tui.logdir.processes import colleagues

        newest_first = reversed(self._processes)
        return colleagues(files, [other for other in newest_first if other != files])

    def _begun(self, files: RunFiles) -> RunFiles | None:
        """Return a run, unless its writer has made its files and may soon write into them."""
        if files.run_id is None and self._newest:
            self._first_seen = self._first_seen or time.monotonic()
            if time.monotonic() - self._first_seen < _WAIT_SECONDS:
                return None
        return files

    def _read(self, files: RunFiles) -> None:
        """Read a run until another one is chosen."""
        from tfdbg_tui.logdir import RunReader
        from tfdbg_tui.tui.session.snapshot import Snapshot

        reader = RunReader(files)
        snapshot: Snapshot | None = None
        posted: tuple[object, ...] | None = None
        position, next_post, wait = -1, 0.0, _SHORTEST_WAIT
        pace = _Pace()
        while not self._chosen.is_set():
            run = reader.poll()
            idle = run.progress.complete or run.progress.bytes_read == position
            position = run.progress.bytes_read
            started = time.monotonic()
            state = _state(run)
            has_grown = state != posted
            due = started >= next_post and (snapshot is None or self._ready())
            if run.progress.complete:
                due = due and pace.allows()
            if due and has_grown and _is_presentable(run, snapshot):
                posted = state
                pace.begin()
                snapshot = Snapshot(run, snapshot)
                self._post(Loaded(snapshot))
                cost = time.monotonic() - started
                next_post = started + max(self._interval, cost * _SHARE)
            if idle:
                self._look_for_runs(reader.files)
                wait = _SHORTEST_WAIT if has_grown else min(wait * 1.2, _LONGEST_WAIT)
                self._chosen.wait(wait)

    def _look_for_runs(self, files: RunFiles) -> None:
        """Tell, now and then, of a run that has begun; of a process that has joined its job."""
        started, computed = time.monotonic(), time.thread_time()
        if started < self._next_runs:
            return
        runs, unlisted = list_runs_of(self._logdirs)
        self._tell_of_processes(runs, unlisted)
        taken, cost = time.monotonic() - started, time.thread_time() - computed
        pauses = _RUNS_SECONDS, cost * _RUNS_SHARE, taken * _RUNS_WAIT_SHARE
        self._next_runs = started + max(pauses)
        mine = {file_set for process in self._job_of(files) for file_set in process.file_sets}
        for found in runs:
            if found.run_id is None or found.identity in self._known:
                continue
            self._known.add(found.identity)
            if files.run_id is None and set(files.file_sets) <= set(found.file_sets):
                self.choose(found)  # its first record has come: now it has a name
            elif not mine & set(found.file_sets):
                self._post(NewRun(found))


class _Pace:
    """Leaves most of a processor to others while a run is followed, above all to its program.

    What drawing a snapshot has cost is known when the next one is due, however it was drawn.
    """

    def __init__(self) -> None:
        self._began, self._used = float("-inf"), 0.0

    def begin(self) -> None:
        """Begin with a snapshot."""
        self._began, self._used = time.monotonic(), time.process_time()

    def allows(self) -> bool:
        """Whether it is time for the next one."""
        cost = time.process_time() - self._used
        return time.monotonic() - self._began >= min(cost * _CPU_SHARE, _LONGEST_INTERVAL)


def _is_presentable(run: Run, before: Snapshot | None) -> bool:
    """Whether a run is to be shown: what a circular buffer has rewritten, only when all is read."""
    if before is None or run.state.generation == before.run.state.generation:
        return True
    return run.progress.complete


def _state(run: Run) -> tuple[object, ...]:
    """Return what changes whenever a run has grown, or fared, visibly."""
    return (
        run.progress.bytes_read,
        run.progress.bytes_total,
        len(run.executions),
        len(run.graph_executions),
        len(run.problems),
        run.omissions,
        run.state.writing,
        run.state.suspended,
        run.state.killed,
        run.state.deleted,
        run.state.generation,
        run.state.shortened,
    )
