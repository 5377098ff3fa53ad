"""Reads the six files of one process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.definitions import Definitions
from tfdbg_tui.logdir.files.record_file import RecordFile
from tfdbg_tui.logdir.files.repeating_file import RepeatingFile
from tfdbg_tui.logdir.files.writer_process import WriterProcess
from tfdbg_tui.logdir.index.execution_log import ExecutionLog
from tfdbg_tui.logdir.index.traces import TraceLog
from tfdbg_tui.logdir.metadata_log import MetadataLog
from tfdbg_tui.storage import storage_of
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir.definitions.shared import Shared
    from tfdbg_tui.logdir.index.record_log import RecordLog
    from tfdbg_tui.wire.filesets import FileSet

_DEFINITIONS_CHUNK = 1 << 17

_WITHOUT = {
    filesets.METADATA: "the run's id and TensorFlow's version are unknown",
    filesets.SOURCE_FILES: "source files are unknown",
    filesets.STACK_FRAMES: "stack traces are unknown",
    filesets.GRAPHS: "graphs and the types of their ops are unknown",
    filesets.EXECUTION: "there are no executions",
    filesets.GRAPH_EXECUTION_TRACES: "there are no graph executions",
}


class FileSetReader:
    """Reads the files of one file set as they grow.

    Attributes:
        files: The six files by suffix.
        definitions: What has been read of sources, frames and graphs.
        executions: Index of the executions.
        traces: Index of the graph executions.
        metadata: What the writer says is not on record.
        process: Who writes them.
        restarts: How often a file of events was read again from its start.

    Args:
        number: Number of the file set in its run.
        file_set: Names its files.
        shared: What all file sets of the run number together.
        vectorised: Whether many records are read at once, rather than one by one.
    """

    def __init__(
        self, number: int, file_set: FileSet, shared: Shared, *, vectorised: bool = True
    ) -> None:
        self._file_set = file_set
        self._shared = shared
        self._vectorised = vectorised
        self._storage = storage_of(file_set.prefix)
        self.restarts = 0
        self.process = WriterProcess(file_set)
        self.files = {suffix: self._file(suffix) for suffix in filesets.SUFFIXES}
        self.metadata = MetadataLog(self.files[filesets.METADATA], shared.problems)
        host = ".".join(os.path.basename(file_set.prefix).split(".")[2:])
        self.definitions = Definitions(
            number, shared.stacks, shared.graphs, shared.problems, host=host
        )
        self.executions = self._execution_log()
        self.traces = self._trace_log()

    def look(self, *, patient: bool) -> None:
        """Note what has happened to the files since the last look; see `RecordFile.look`."""
        for file in self.files.values():
            file.look(patient=patient)
        self.metadata.read()
        self._start_again(patient=patient)

    def read_definitions(self) -> Iterator[None]:
        """Read all definitions there are, a little more each time the iterator is advanced."""
        files = self.files
        self.definitions.ingest_source_files(files[filesets.SOURCE_FILES])
        for suffix, ingest in (
            (filesets.STACK_FRAMES, self.definitions.ingest_stack_frames),
            (filesets.GRAPHS, self.definitions.ingest_graphs),
        ):
            while (
                chunk := files[suffix].read(self._shared.buffer, _DEFINITIONS_CHUNK)
            ) is not None:
                ingest(files[suffix], chunk)
                yield

    def read_events(self, limit: int) -> bool:
        """Read one chunk of graph executions and one of executions; return if there was any."""
        found = False
        log: RecordLog
        for log in (self.traces, self.executions):
            chunk = log.file.read(self._shared.buffer, limit)
            if chunk is not None:
                log.ingest(chunk)
                found = True
        return found

    def report(self) -> None:
        """Report what is wrong with the files as a whole."""
        there = any(file.is_open for file in self.files.values())
        for suffix, file in self.files.items():
            if there and not file.is_open and not self._storage.exists(file.path):
                message = f"is missing; {_WITHOUT[suffix]}"
                self._shared.problems.add(file.path, message, key="missing")
            else:
                self._shared.problems.discard(file.path, "missing")
            if suffix != filesets.METADATA:
                file.report_tail()
                self._report_size(file, self.metadata.file_sizes.get(suffix, 0))
        self._report_no_executions()

    def _report_size(self, file: RecordFile, written: int) -> None:
        """Report a file that is shorter than the writer has left it, as when it is copied."""
        if file.is_open and file.size < written:
            message = f"holds {file.size:,} of the {written:,} bytes that were written to it"
            self._shared.problems.add(file.path, message, key="short")
        else:
            self._shared.problems.discard(file.path, "short")

    def _report_no_executions(self) -> None:
        """Report that there are none although functions ran: calling one is an execution.

        Only in sessions of TensorFlow 1 nothing else runs than a graph, which has no name.  Of
        ours the sizes tell.
        """
        file, sizes = self.files[filesets.EXECUTION], self.metadata.file_sizes
        if file.is_open and not file.size and not sizes and self._only_functions_ran():
            message = f"is empty; {_WITHOUT[filesets.EXECUTION]}"
            self._shared.problems.add(file.path, message, key="empty", passing=True)
        else:
            self._shared.problems.discard(file.path, "empty")

    def _only_functions_ran(self) -> bool:
        """Whether functions ran, and the outermost graph did not: it is described in any case."""
        graphs = self._shared.graphs
        found = (graphs.get(site.graph_id) for site in self._shared.sites.values)
        mine = self.definitions.file_set
        names = {graph.name for graph in found if graph and graph.file_set == mine}
        described = {graph.name for graph in graphs.values() if graph.file_set == mine}
        return bool(names) and "" in described - names

    def close(self) -> None:
        """Close the files."""
        for file in self.files.values():
            file.close()

    def _start_again(self, *, patient: bool) -> None:
        """Read a file of events from its start if it is not the file it was.

        A dump writer with a circular buffer replaces the file by one with its last events.  What
        has only become shorter tells nothing new, so what was read of it stays.
        """
        for suffix in (filesets.EXECUTION, filesets.GRAPH_EXECUTION_TRACES):
            file = self.files[suffix]
            if file.fate in ("truncated", "rewritten"):
                self._report_shorter(file)
            if file.fate not in ("rewritten", "replaced"):
                continue
            self.files[suffix] = self._file(suffix)
            self.files[suffix].look(patient=patient)
            self.restarts += 1
            if suffix == filesets.EXECUTION:
                self.executions = self._execution_log()
            else:
                self.traces = self._trace_log()

    def _report_shorter(self, file: RecordFile) -> None:
        """Report a file that is, or was, shorter than what was read of it."""
        shorter = f"became shorter than the {file.position:,} bytes read of it"
        if file.fate == "truncated":
            rest = "what was read stays on screen, without the values that were there"
            message = f"{shorter}, by {file.position - file.size:,}; {rest}"
        else:
            message = f"{shorter}; it is read again from its start"
        self._shared.problems.add(file.path, message, key="shorter")

    def _file(self, suffix: str) -> RecordFile:
        is_repeating = suffix == filesets.GRAPH_EXECUTION_TRACES
        make = RepeatingFile if is_repeating else RecordFile
        return make(self._file_set.path(suffix), self._shared.problems)

    def _execution_log(self) -> ExecutionLog:
        return ExecutionLog(
            self.files[filesets.EXECUTION],
            self.definitions,
            self._shared.kinds,
            self._shared.stacks,
            self._shared.problems,
            vectorised=self._vectorised,
        )

    def _trace_log(self) -> TraceLog:
        return TraceLog(
            self.files[filesets.GRAPH_EXECUTION_TRACES],
            self.definitions,
            self._shared.sites,
            self._shared.problems,
            vectorised=self._vectorised,
        )
