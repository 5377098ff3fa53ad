"""Reading a run, at once or as it grows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions import Definitions, Stacks
from tfdbg_tui.logdir.discovery import LogdirError, RunFiles, list_runs
from tfdbg_tui.logdir.events import ExecutionKind, Problem, Progress, Site
from tfdbg_tui.logdir.executions import ExecutionLog, Executions
from tfdbg_tui.logdir.recordfile import RecordFile
from tfdbg_tui.logdir.run import Run
from tfdbg_tui.logdir.traces import GraphExecutions, TraceLog
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from tfdbg_tui.logdir.graphs import Graph


class RunReader:
    """Reads the files of a run and publishes snapshots of it.

    `poll` may be called from one thread only; the snapshots it returns, from any.
    """

    def __init__(self, files: RunFiles) -> None:
        self.files = files
        self._problems: list[Problem] = []
        self._stacks = Stacks()
        self._graphs: dict[str, Graph] = {}
        self._sites: dict[Site, int] = {}
        self._kinds: dict[ExecutionKind, int] = {}
        prefix = files.file_sets[0]
        self._files = {suffix: RecordFile(prefix.path(suffix)) for suffix in filesets.SUFFIXES}
        self._definitions = Definitions(0, self._stacks, self._graphs, self._problems)
        self._executions = ExecutionLog(0, self._kinds, self._stacks, self._problems)
        self._traces = TraceLog(0, self._sites, self._problems)

    def poll(self) -> Run:
        """Read a share of what is new and return the run as far as it is known."""
        for file in self._files.values():
            file.look()
        self._definitions.ingest_source_files(self._files[filesets.SOURCE_FILES])
        self._definitions.ingest_stack_frames(self._files[filesets.STACK_FRAMES])
        self._definitions.ingest_graphs(self._files[filesets.GRAPHS])
        for log, suffix in (
            (self._traces, filesets.GRAPH_EXECUTION_TRACES),
            (self._executions, filesets.EXECUTION),
        ):
            chunk = self._files[suffix].read()
            if chunk is not None:
                log.ingest(self._files[suffix], chunk)
        return self._snapshot()

    def read_all(self) -> Run:
        """Read everything that is there now."""
        run = self.poll()
        position = -1
        while not run.progress.complete and run.progress.bytes_read > position:
            position = run.progress.bytes_read
            run = self.poll()
        return run

    def close(self) -> None:
        """Close the files; records of snapshots cannot be read any more."""
        for file in self._files.values():
            file.close()

    def _snapshot(self) -> Run:
        data = [f for suffix, f in self._files.items() if suffix != filesets.METADATA]
        problems = [*self._problems, *(p for file in data for p in file.problems)]
        return Run(
            files=self.files,
            executions=Executions(
                self._files[filesets.EXECUTION],
                self._executions,
                list(self._kinds),
                self._definitions,
            ),
            graph_executions=GraphExecutions(
                self._files[filesets.GRAPH_EXECUTION_TRACES],
                self._traces,
                list(self._sites),
                self._graphs,
                self._definitions,
                self._executions.serials,
            ),
            graphs=self._graphs,
            problems=tuple(problems),
            progress=Progress(sum(f.position for f in data), sum(f.size for f in data)),
            site_numbers=self._sites,
            _definitions=(self._definitions,),
            _source_files=(self._files[filesets.SOURCE_FILES],),
            _stacks=self._stacks,
        )


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
    runs = list_runs(logdir)
    chosen = [files for files in runs if run is None or files.label == run]
    if not chosen:
        known = ", ".join(files.label for files in runs)
        raise LogdirError(f"{os.fspath(logdir)}: no run {run!r}; it holds {known}")
    return RunReader(chosen[-1]).read_all()
