"""Reading a run, at once or as it grows."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.references import DanglingReferences
from tfdbg_tui.logdir.definitions.shared import Shared
from tfdbg_tui.logdir.discovery import LogdirError, RunFiles, list_runs, new_file_sets
from tfdbg_tui.logdir.events import Progress, RunState
from tfdbg_tui.logdir.file_set_reader import FileSetReader
from tfdbg_tui.logdir.files.record_file import CHUNK_BYTES
from tfdbg_tui.logdir.index.executions import Executions
from tfdbg_tui.logdir.index.merge import Merge
from tfdbg_tui.logdir.index.traces import GraphExecutions
from tfdbg_tui.logdir.run import Run
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.index.merge import EventLog

_FIRST_BYTES = 1 << 18
"""How much of each file of events the first poll reads, so that there is soon something to see."""

_POLL_SECONDS = 0.1
_ASK_SECONDS = 1.0  # between two looks whether the writers live


class RunReader:
    """Reads the files of a run and publishes snapshots of it.

    `poll` may be called from one thread only; the snapshots it returns, from any.

    Args:
        files: The run.
        vectorised: Whether to read many records at once.  Without, each record goes through the
            scalar decoder: some 100 times slower, with the same result.
        chunk_bytes: How much of a file is in memory at once; larger records are read in pieces.

    Attributes:
        files: The run, with the file sets that have appeared since.
    """

    def __init__(
        self,
        files: RunFiles,
        *,
        vectorised: bool = True,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self.files = files
        self._vectorised = vectorised
        self._shared = Shared(chunk_bytes)
        self._chunk_bytes = chunk_bytes
        self._sets = [
            FileSetReader(number, file_set, self._shared, vectorised=vectorised)
            for number, file_set in enumerate(files.file_sets)
        ]
        self._strangers: set[str] = set()
        self._dangling = DanglingReferences(self._shared, files.directory)
        self._execution_merge: Merge | None = None
        self._trace_merge: Merge | None = None
        self._merged: tuple[object, ...] = ()
        self._limit = min(_FIRST_BYTES, chunk_bytes)
        self._storage = storage_of(files.directory)
        self._looked_at = float("-inf")
        self._asked_at = float("-inf")
        self._writing: bool | None = None
        self._ended = False
        self._suspended = False
        self._killed = False
        metadata = files.file_sets[0].path(filesets.METADATA)
        if files.run_id is None and self._storage.exists(metadata):
            self._shared.problems.add(
                metadata,
                "holds no readable record; the run's id and TensorFlow's version are unknown",
            )

    def poll(self) -> Run:
        """Read for about a tenth of a second and return the run as far as it is known.

        Definitions (sources, stack frames, graphs) are read before the events that use them;
        executions and graph executions in turns.  The first poll takes only a little of each.
        """
        if time.monotonic() - self._looked_at >= self._storage.poll_seconds:
            self._look(patient=True)
        self._read(time.monotonic() + _POLL_SECONDS)
        return self._snapshot()

    def read_all(self) -> Run:
        """Read everything that is there now.

        A connection that is lost is waited for, half a minute at most.
        """
        self._look(patient=False)
        while not self._exhausted() or self._add_file_sets(patient=False) or self._looks_again():
            self._read(time.monotonic() + 10 * _POLL_SECONDS)
        return self._snapshot()

    def close(self) -> None:
        """Close the files; records of snapshots cannot be read any more."""
        for reader in self._sets:
            reader.close()

    def _look(self, *, patient: bool) -> None:
        self._storage.refresh()
        self._ask_processes()  # first: of who has ended, nothing is written after the look
        for reader in self._sets:
            reader.look(patient=patient)
        if self._exhausted():
            self._add_file_sets(patient=patient)
        self._looked_at = time.monotonic()

    def _looks_again(self) -> bool:
        """Look again where the connection to the files was lost; return whether that was done."""
        if not self._storage.wait_for_connection():
            return False
        self._look(patient=False)
        return True

    def _add_file_sets(self, *, patient: bool) -> bool:
        """Take in the files of processes that have joined the run; return if there are any."""
        if self.files.alone or self.files.run_id is None:
            return False
        added = new_file_sets(self.files, self._strangers)
        if not added:
            return False
        self.files = self.files.with_file_sets(added)
        for file_set in added:
            number = len(self._sets)
            reader = FileSetReader(number, file_set, self._shared, vectorised=self._vectorised)
            reader.look(patient=patient)
            self._sets.append(reader)
        return True

    def _read(self, deadline: float) -> None:
        for reader in self._sets:
            for _ in reader.read_definitions():
                if time.monotonic() > deadline:
                    return
        limit, self._limit = self._limit, self._chunk_bytes
        while sum(reader.read_events(limit) for reader in self._sets):
            if limit < self._chunk_bytes or time.monotonic() > deadline:
                return

    def _event_files(self) -> list[RecordFile]:
        return [
            file
            for reader in self._sets
            for suffix, file in reader.files.items()
            if suffix != filesets.METADATA
        ]

    def _exhausted(self) -> bool:
        return all(file.exhausted for file in self._event_files())

    def _snapshot(self) -> Run:
        if self._exhausted():
            for reader in self._sets:
                reader.report()
            self._dangling.report([reader.definitions for reader in self._sets])
        self._merge()
        shared = self._shared
        executions = Executions(
            [reader.executions for reader in self._sets],
            shared.kinds,
            shared.graphs,
            shared.stacks,
            self._execution_merge,
        )
        return Run(
            files=self.files,
            executions=executions,
            graph_executions=GraphExecutions(
                [reader.traces for reader in self._sets],
                shared.sites,
                shared.graphs,
                executions,
                self._trace_merge,
            ),
            graphs=shared.graphs,
            progress=self._progress(),
            site_numbers=shared.sites.numbers,
            state=self._state(),
            omissions=tuple(o for reader in self._sets for o in reader.metadata.omissions),
            _definitions=tuple(reader.definitions for reader in self._sets),
            _source_files=tuple(reader.files[filesets.SOURCE_FILES] for reader in self._sets),
            _stacks=shared.stacks,
            _problems=shared.problems,
        )

    def _merge(self) -> None:
        """Bring the events of several file sets into one order."""
        if len(self._sets) == 1:
            return
        executions: Sequence[EventLog] = [reader.executions for reader in self._sets]
        traces: Sequence[EventLog] = [reader.traces for reader in self._sets]
        logs = (*executions, *traces)
        started_again = any(a is not b for a, b in zip(self._merged, logs, strict=False))
        if self._execution_merge is None or len(self._merged) != len(logs) or started_again:
            self._execution_merge = Merge(len(self._sets), num_columns=3)
            self._trace_merge = Merge(len(self._sets), num_columns=1)
            self._merged = logs
        assert self._trace_merge is not None
        self._execution_merge.take_in(executions)
        self._trace_merge.take_in(traces)

    def _progress(self) -> Progress:
        files = self._event_files()
        done = sum(file.size if file.exhausted else file.position for file in files)
        return Progress(done, sum(file.size for file in files))

    def _state(self) -> RunState:
        files = [file for reader in self._sets for file in reader.files.values()]
        fates = {file.fate for file in files if file.is_open}
        written = [file.modified for file in files if file.modified is not None]
        return RunState(
            deleted=bool(fates) and fates <= {"deleted"},
            last_written=max(written, default=None),
            writing=self._writing,
            ended=self._ended,
            suspended=self._suspended,
            killed=self._killed,
            prompt=all(reader.process.is_ours for reader in self._sets),
            generation=sum(reader.restarts for reader in self._sets),
            shortened="truncated" in fates,
        )

    def _ask_processes(self) -> None:
        """Ask, once a second, whether any writer is at work."""
        now = time.monotonic()
        if now - self._asked_at < _ASK_SECONDS:
            return
        self._asked_at = now
        answers = {reader.process.writing() for reader in self._sets}
        self._writing = True if True in answers else None if None in answers else False
        self._ended = all(reader.process.has_ended_in_order() for reader in self._sets)
        self._suspended = any(reader.process.suspended() for reader in self._sets)
        self._killed = any(reader.process.killed() for reader in self._sets)


def open_run(logdir: str | os.PathLike[str], run: str | None = None) -> Run:
    """Read a run whole.

    Args:
        logdir: Directory that holds tfdbg2 files, or directories that do.
        run: Run id, where the logdir holds several; the newest by default.

    Returns:
        The run; `Run.problems` tells what could not be read of it.

    Raises:
        LogdirError: There is no such run; the message says what to do.
    """
    return RunReader(choose_run(logdir, run)).read_all()


def choose_run(logdir: str | os.PathLike[str], run: str | None = None) -> RunFiles:
    """Return the files of a run.

    Args:
        logdir: Directory that holds tfdbg2 files, or directories that do.
        run: Run id, where the logdir holds several; the newest by default.

    Raises:
        LogdirError: There is no such run; the message says what to do.
    """
    runs = list_runs(logdir)
    chosen = [files for files in runs if run is None or files.label == run]
    if not chosen:
        known = ", ".join(files.label for files in runs)
        raise LogdirError(f"{os.fspath(logdir)}: no run {run!r}; it holds {known}")
    return chosen[-1]
