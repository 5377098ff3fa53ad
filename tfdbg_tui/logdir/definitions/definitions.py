"""What records refer to: source files, stack frames, stacks, graphs and devices.

They are few (thousands, where executions are millions) and small, so they are decoded one by one
and kept; of source files only the place in the file, and the text of a few.  While a program runs
they can lag behind the records that refer to them: every lookup here answers for what is missing,
and answers better once it has arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.graphs import VECTORIZED, Graph, GraphOp, parse_tensor_name
from tfdbg_tui.logdir.definitions.numbering import Numbering
from tfdbg_tui.logdir.definitions.variables import GradientRequest, Variable
from tfdbg_tui.logdir.events import SourceFile, StackFrame
from tfdbg_tui.logdir.files.wall_times import sane_time
from tfdbg_tui.logdir.layers import Layer
from tfdbg_tui.wire import codec, events, expressions, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile

# Of a source file's record only this much is looked at: its path and host name come first.
_SOURCE_HEAD = 8192

# Source files whose text is kept: one line after another is asked for.
_TEXTS = 8
_LONGEST_SOURCE = 1 << 28  # bytes

_DEEPEST = 100  # layers in one another: Python would not let a program call many more

_SOURCE_FILE = events.DebugEvent.tag("source_file")


Stacks = Numbering[tuple[int, bytes]]
"""Every distinct stack trace of a run: file set and serialized CodeLocation of each."""


class Definitions:
    """The definitions that one file set holds.

    Args:
        file_set: Number of the file set in its run.
        stacks: Where stack traces are numbered, for all file sets of the run.
        graphs: Where graphs are kept, for all file sets of the run.
        problems: Where problems are reported.
        host: Name of the host by the names of the files.
    """

    def __init__(
        self,
        file_set: int,
        stacks: Stacks,
        graphs: dict[str, Graph],
        problems: Problems,
        host: str = "",
    ) -> None:
        self.file_set = file_set
        self.host = host
        self.devices: dict[int, str] = {}
        self.frames: dict[str, events.StackFrameWithId] = {}
        self.source_files: list[tuple[str, str, int]] = []  # host, path, offset of the record
        self._files_of_frames: set[int] = set()
        self.functions: dict[str, str] = {}  # function name -> graph id
        self.layers: dict[int, Layer] = {}
        self.fit_batches: list[events.FitBatch] = []
        self.variables: dict[int, Variable] = {}  # by the id of the handle
        self.gradient_requests: list[GradientRequest] = []
        self.gradients_given: dict[int, set[int]] = {}
        self.gradients_passed_on: dict[int, set[int]] = {}
        self.gradients_left: set[int] = set()
        self.read_by_python: set[int] = set()
        self.num_ops = 0
        self._texts: dict[int, SourceFile] = {}  # by offset of the record
        self._stacks = stacks
        self._graphs = graphs
        self._problems = problems

    @property
    def count(self) -> int:
        """How many there are of those that events name: it grows when one arrives."""
        return self.num_ops + len(self.devices) + len(self.source_files) + len(self.layers)

    @property
    def unknown_files(self) -> int:
        """How many source files stack frames are in, and no record names."""
        return sum(not 0 <= index < len(self.source_files) for index in self._files_of_frames)

    def graph_id(self, recorded: str) -> str:
        """Return the id of a graph in the run, by its id in this file set.

        Two processes of a run never have a graph in common, even if their ids should clash.
        """
        return f"{recorded}@{self.file_set}" if self.file_set and recorded else recorded

    def ingest_source_files(self, file: RecordFile) -> None:
        """Read what is new in the .source_files file; of each record only the head is kept."""
        for offset, head in file.heads(_SOURCE_HEAD):
            # Frames refer to files by position: an unreadable one keeps its place.
            host, path = self.host, ""
            try:
                host, path = _host_and_path(head)
                file.check(offset)
            except (OSError, ValueError) as error:
                self._report(file, offset, error)
            self.source_files.append((host, path, offset))
            self.host = host or self.host

    def ingest_stack_frames(self, file: RecordFile, chunk: Chunk) -> None:
        """Take in a part of the .stack_frames file."""

        def add(payload: bytes) -> None:
            event = events.DebugEvent.decode(payload)
            frame = events.StackFrameWithId.decode(event.stack_frame_with_id)
            if frame.file_line_col is not None:
                self.frames[frame.id] = frame
                self._files_of_frames.add(frame.file_line_col.file_index)

        self._ingest(file, chunk, add)

    def ingest_graphs(self, file: RecordFile, chunk: Chunk) -> None:
        """Take in a part of the .graphs file: graphs, ops, layers, variables, devices, batches."""

        def add(payload: bytes) -> None:
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
            elif event.layer:
                self._add_layer(events.Layer.decode(event.layer))
            elif event.fit_batch:
                self.fit_batches.append(events.FitBatch.decode(event.fit_batch))
            elif event.variable:
                self._add_variable(events.Variable.decode(event.variable))
            elif event.gradient_request:
                self._add_request(events.GradientRequest.decode(event.gradient_request))
            elif event.gradients_given:
                self._add_given(events.GradientsGiven.decode(event.gradients_given))
            elif event.read_tensor_id is not None:
                self.read_by_python.add(event.read_tensor_id)

        self._ingest(file, chunk, add)

    def stack(self, number: int) -> tuple[StackFrame, ...]:
        """Return the frames of a stack of this file set, outermost first; see `Stacks`."""
        _, location = self._stacks.values[number]
        try:
            frame_ids = events.CodeLocation.decode(location).stack_frame_ids
        except codec.DecodeError:
            return ()
        return tuple(map(self.frame, frame_ids))

    def frame(self, frame_id: str) -> StackFrame:
        """Return a stack frame; one without a path where it has not been read yet."""
        frame = self.frames.get(frame_id)
        place = frame.file_line_col if frame is not None else None
        if frame is None or place is None:
            return StackFrame(self.host, None, 0, "")
        if not 0 <= place.file_index < len(self.source_files):
            return StackFrame(self.host, None, place.line, place.func)
        host, path, _ = self.source_files[place.file_index]
        return StackFrame(host, path or None, place.line, place.func, expressions.of_frame(frame))

    def read_source(self, file: RecordFile, host: str, path: str) -> SourceFile | None:
        """Return a source file with its text; None where the dump does not name it.

        Args:
            file: The .source_files file.
            host: Name of the host that the file is of.
            path: Path of the file there.
        """
        for known_host, known_path, offset in self.source_files:
            if (known_host, known_path) == (host, path):
                known = self._texts.get(offset)
                return known or self._read_lines(file, offset, host, path)
        return None

    def _read_lines(self, file: RecordFile, offset: int, host: str, path: str) -> SourceFile:
        try:
            payload = file.record(offset)
            if len(payload) > _LONGEST_SOURCE:
                raise codec.DecodeError(f"a source file of {len(payload):,} bytes")
            payload = file.bytes_at(offset + tfrecord.HEADER_SIZE, len(payload))
            event = events.DebugEvent.decode(payload)
            lines = events.SourceFile.decode(event.source_file).lines
        except (OSError, ValueError) as error:
            self._problems.add_record(file.path, offset, error)
            return SourceFile(host, path, (), unreadable=str(error))
        if len(self._texts) >= _TEXTS:
            self._texts.clear()
        source = SourceFile(host, path, tuple(line.rstrip("\r\n") for line in lines))
        self._texts[offset] = source
        return source

    def _ingest(self, file: RecordFile, chunk: Chunk, add: Callable[[bytes], None]) -> None:
        for row, offset in enumerate(chunk.offsets.tolist()):
            try:
                add(chunk.payload(row))
            except ValueError as error:
                self._report(file, offset, error)

    def _report(self, file: RecordFile, offset: int, error: Exception) -> None:
        self._problems.add_record(file.path, offset, error)

    def _add_graph(self, record: events.DebuggedGraph) -> None:
        graph_id = self.graph_id(record.graph_id)
        outer_id = self.graph_id(record.outer_context_id) or None
        graph = self._graphs.get(graph_id)
        if graph is None:
            graph = Graph(graph_id, record.graph_name, outer_id, self.file_set)
            self._graphs[graph_id] = graph
        elif graph.outer_id is None:  # its ops came first
            graph.name, graph.outer_id = record.graph_name or graph.name, outer_id
        outer = self._graphs.get(outer_id) if outer_id else None
        if outer is not None:
            outer.inner_ids[graph_id] = None

    def _add_op(self, record: events.GraphOpCreation, event: events.DebugEvent) -> None:
        graph_id = self.graph_id(record.graph_id)
        graph = self._graphs.get(graph_id)
        if graph is None:
            graph = Graph(graph_id, record.graph_name, None, self.file_set)
            self._graphs[graph_id] = graph
        if record.op_name in graph.ops:
            return
        body = graph.ops.get(record.op_name.rpartition(VECTORIZED)[0])
        graph.add_op(
            GraphOp(
                graph_id=graph_id,
                name=record.op_name,
                op_type=record.op_type,
                inputs=tuple(map(parse_tensor_name, record.input_names)),
                num_outputs=record.num_outputs,
                output_tensor_ids=tuple(record.output_tensor_ids),
                output_dtypes=tuple(record.output_dtypes),
                called_graphs=tuple(map(self.graph_id, record.called_graph_ids)),
                stack_id=body.stack_id if body else self._stack_id(record.code_location),
                host=self.host,
                wall_time=sane_time(event.wall_time),
                collective_keys=tuple(record.collective_keys),
                layer=self.layers.get(record.layer) or (body.layer if body else None),
            )
        )
        self.num_ops += 1

    def _add_layer(self, record: events.Layer) -> None:
        outer = self.layers.get(record.outer)
        if outer is not None and len(outer.parts) >= _DEEPEST:
            outer = None
        self.layers.setdefault(
            record.number,
            Layer(record.name, record.class_name, record.dtype_policy, record.compute_dtype, outer),
        )

    def _add_variable(self, record: events.Variable) -> None:
        if record.graph_id:
            graph = self._graphs.get(self.graph_id(record.graph_id))
            if graph is not None:
                graph.trainable[record.name] = None
            return
        self.variables[record.handle] = Variable(
            handle=record.handle,
            file_set=self.file_set,
            name=record.name,
            layer=self.layers.get(record.layer),
            trainable=bool(record.trainable),
            optimizer=record.optimizer,
            slot_of=record.slot_of,
        )

    def _add_request(self, record: events.GradientRequest) -> None:
        self.gradient_requests.append(
            GradientRequest(
                self.file_set,
                tuple(record.asked),
                tuple(record.unconnected),
                tuple(record.left_out),
                self.graph_id(record.target_graph_id),
                parse_tensor_name(record.target_name) if record.target_name else None,
                record.target_id,
                self._stack_id(record.code_location) if record.code_location else None,
            )
        )

    def _add_given(self, record: events.GradientsGiven) -> None:
        place = self._stack_id(record.code_location)
        makers = self.gradients_given.setdefault(place, set())
        makers.update(map(self._stack_id, record.makers))
        self.gradients_left.update(record.left)
        if record.passed_on:
            passed_on = self.gradients_passed_on.setdefault(place, set())
            passed_on.update(map(self._stack_id, record.passed_on))

    def _stack_id(self, location: bytes) -> int:
        return self._stacks.number((self.file_set, location))

    def _add_signature(self, record: events.GraphSignature) -> None:
        record.graph_id = self.graph_id(record.graph_id)
        record.forward_graph_id = self.graph_id(record.forward_graph_id)
        graph = self._graphs.get(record.graph_id)
        if record.compiled:
            if graph is not None:
                graph.compiled = True
            return
        self.functions[record.function_name] = record.graph_id
        if graph is not None:
            graph.signatures.append(record)


def _host_and_path(payload: bytes) -> tuple[str, str]:
    """Return (host, path) of a source file, given the beginning of its record.

    Raises:
        codec.DecodeError: There is no source file in it.
    """
    for tag, start, end in codec.spans(payload, is_head=True):
        if tag == _SOURCE_FILE:
            return _strings_of_head(payload[start:end])
    raise codec.DecodeError("no source file in it")


def _strings_of_head(head: bytes) -> tuple[str, str]:
    host = path = ""
    try:
        for tag, start, end in codec.spans(head):
            if tag == events.SourceFile.tag("file_path"):
                path = head[start:end].decode("utf-8", "replace")
            elif tag == events.SourceFile.tag("host_name"):
                host = head[start:end].decode("utf-8", "replace")
    except codec.DecodeError:
        pass  # the head ends inside the text
    return host, path
