"""What records refer to: source files, stack frames, stacks, graphs and devices.

They are few (thousands, where executions are millions) and small, so they are decoded one by one
and kept; of source files only the place in the file is kept.  While a program runs they can lag
behind the records that refer to them: every lookup here answers for what is missing, and answers
better once it has arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.logdir.events import Problem, SourceFile, StackFrame
from tfdbg_tui.logdir.graphs import Graph, GraphOp, parse_tensor_name
from tfdbg_tui.wire import codec, events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.recordfile import Chunk, RecordFile

# Of a source file's record only this much is looked at: its path and host name come first.
_SOURCE_HEAD = 8192


class Stacks:
    """Every distinct stack trace of a run, by number.

    Attributes:
        locations: File set and serialized CodeLocation of each.
    """

    def __init__(self) -> None:
        self.locations: list[tuple[int, bytes]] = []
        self._numbers: dict[tuple[int, bytes], int] = {}

    def number(self, file_set: int, code_location: bytes) -> int:
        """Return the number of the stack that a serialized CodeLocation describes."""
        key = (file_set, code_location)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.locations)
            self.locations.append(key)
        return number


class Definitions:
    """The definitions that one file set holds.

    Args:
        file_set: Number of the file set in its run.
        stacks: Where stack traces are numbered, for all file sets of the run.
        graphs: Where graphs are kept, for all file sets of the run.
        problems: Where problems are reported.
    """

    def __init__(
        self, file_set: int, stacks: Stacks, graphs: dict[str, Graph], problems: list[Problem]
    ) -> None:
        self.host = ""
        self.devices: dict[int, str] = {}
        self.frames: dict[str, events.FileLineCol] = {}
        self.source_files: list[tuple[str, str, int]] = []  # host, path, offset of the record
        self.functions: dict[str, str] = {}  # function name -> graph id
        self.num_ops = 0
        self._file_set = file_set
        self._stacks = stacks
        self._graphs = graphs
        self._problems = problems

    def ingest_source_files(self, file: RecordFile) -> None:
        """Read what is new in the .source_files file."""

        def add(payload: bytes, offset: int) -> None:
            host, path = _source_file_head(payload)
            self.source_files.append((host, path, offset))
            self.host = self.host or host

        self._ingest(file, add)

    def ingest_stack_frames(self, file: RecordFile) -> None:
        """Read what is new in the .stack_frames file."""

        def add(payload: bytes, _offset: int) -> None:
            event = events.DebugEvent.decode(payload)
            frame = events.StackFrameWithId.decode(event.stack_frame_with_id)
            if frame.file_line_col is not None:
                self.frames[frame.id] = frame.file_line_col

        self._ingest(file, add)

    def ingest_graphs(self, file: RecordFile) -> None:
        """Read what is new in the .graphs file: graphs, ops, devices."""

        def add(payload: bytes, _offset: int) -> None:
            event = events.DebugEvent.decode(payload)
            if event.graph_op_creation:
                self._add_op(events.GraphOpCreation.decode(event.graph_op_creation), event)
            elif event.debugged_graph:
                self._add_graph(events.DebuggedGraph.decode(event.debugged_graph))
            elif event.debugged_device:
                device = events.DebuggedDevice.decode(event.debugged_device)
                self.devices[device.device_id] = device.device_name
            elif event.graph_signature:
                self._add_signature(events.GraphSignature.decode(event.graph_signature))

        self._ingest(file, add)

    def frame(self, frame_id: str) -> StackFrame:
        """Return a stack frame; one without a path where it has not been read yet."""
        place = self.frames.get(frame_id)
        if place is None:
            return StackFrame(self.host, None, 0, "")
        if not 0 <= place.file_index < len(self.source_files):
            return StackFrame(self.host, None, place.line, place.func)
        host, path, _ = self.source_files[place.file_index]
        return StackFrame(host, path, place.line, place.func)

    def read_source(self, file: RecordFile, host: str, path: str) -> SourceFile | None:
        """Return a source file with its text; None where the dump does not name it.

        Raises:
            OSError: The file cannot be read any more.
            ValueError: The record is damaged.
        """
        for known_host, known_path, offset in self.source_files:
            if (known_host, known_path) == (host, path):
                event = events.DebugEvent.decode(file.record(offset))
                lines = events.SourceFile.decode(event.source_file).lines
                return SourceFile(host, path, tuple(line.rstrip("\r\n") for line in lines))
        return None

    def _ingest(self, file: RecordFile, add: Callable[[bytes, int], None]) -> None:
        while (chunk := file.read()) is not None:
            for payload, offset in _payloads(chunk):
                try:
                    add(payload, offset)
                except codec.DecodeError as error:
                    self._problems.append(
                        Problem(
                            file.path,
                            f"{file.path}: record at byte {offset:,} is not readable ({error}); "
                            "it is skipped",
                        )
                    )

    def _add_graph(self, record: events.DebuggedGraph) -> None:
        outer_id = record.outer_context_id or None
        graph = self._graphs.get(record.graph_id)
        if graph is None:
            graph = Graph(record.graph_id, record.graph_name, outer_id, self._file_set)
            self._graphs[record.graph_id] = graph
        elif not graph.name:  # its ops came first
            graph.name, graph.outer_id = record.graph_name, outer_id
        outer = self._graphs.get(outer_id) if outer_id else None
        if outer is not None and record.graph_id not in outer.inner_ids:
            outer.inner_ids.append(record.graph_id)

    def _add_op(self, record: events.GraphOpCreation, event: events.DebugEvent) -> None:
        graph = self._graphs.get(record.graph_id)
        if graph is None:
            graph = Graph(record.graph_id, record.graph_name, None, self._file_set)
            self._graphs[record.graph_id] = graph
        if record.op_name in graph.ops:
            return
        graph.add_op(
            GraphOp(
                graph_id=record.graph_id,
                name=record.op_name,
                op_type=record.op_type,
                inputs=tuple(map(parse_tensor_name, record.input_names)),
                num_outputs=record.num_outputs,
                output_tensor_ids=tuple(record.output_tensor_ids),
                output_dtypes=tuple(record.output_dtypes),
                called_graphs=tuple(record.called_graph_ids),
                stack_id=self._stacks.number(self._file_set, record.code_location),
                host=self.host,
                wall_time=event.wall_time,
            )
        )
        self.num_ops += 1

    def _add_signature(self, record: events.GraphSignature) -> None:
        self.functions[record.function_name] = record.graph_id
        graph = self._graphs.get(record.graph_id)
        if graph is not None:
            graph.signatures.append(record)


def _payloads(chunk: Chunk) -> list[tuple[bytes, int]]:
    return [
        (chunk.data[start + tfrecord.HEADER_SIZE : end - tfrecord.FOOTER_SIZE], chunk.base + start)
        for start, end in zip(chunk.offsets, chunk.ends, strict=True)
    ]


def _source_file_head(payload: bytes) -> tuple[str, str]:
    """Return (host, path) of a source file's record without decoding its text."""
    for number, _, value in codec.fields(payload):
        if number == 4 and isinstance(value, bytes):
            return _host_and_path(value[:_SOURCE_HEAD])
    raise codec.DecodeError("no source file in it")


def _host_and_path(head: bytes) -> tuple[str, str]:
    host = path = ""
    try:
        for number, _, value in codec.fields(head):
            if number > 2 or not isinstance(value, bytes):
                break
            if number == 1:
                path = value.decode("utf-8", "replace")
            else:
                host = value.decode("utf-8", "replace")
    except codec.DecodeError:
        pass  # the head ends inside the text
    return host, path
