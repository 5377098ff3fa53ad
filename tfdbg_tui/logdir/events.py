"""What a run hands out: executions, graph executions, tensor summaries, stack frames, sources.

Plain immutable values with names of TensorFlow's own.  A field that the logdir does not carry is
None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.short_repr import short_repr
from tfdbg_tui.wire.events import SESSION_RUN
from tfdbg_tui.wire.modes import mode_name

if TYPE_CHECKING:
    from tfdbg_tui.logdir.layers import Layer
    from tfdbg_tui.wire.expressions import Expression


@dataclass(frozen=True, slots=True, repr=False)
class TensorSummary:
    """What a dump says about the values of one tensor, whatever its tensor debug mode.

    Attributes:
        mode: Number of the `TensorDebugMode` it was recorded in.
        has_inf_or_nan: Whether any element is NaN or infinite; None where the mode does not tell.
        dtype: Name of the element type.
        rank: Number of dimensions.
        size: Number of elements.
        shape: Length of each dimension; None for a dimension the mode drops (SHAPE keeps six).
            In our writer's adaptive mode it is known of tensors that are described in full.
        neg_inf: Number of elements equal to -∞.
        pos_inf: Number of elements equal to +∞.
        nan: Number of elements that are NaN.
        neg: Number of finite elements below zero.
        zero: Number of elements equal to zero; TensorFlow counts denormal numbers here.
        pos: Number of finite elements above zero.
        minimum: Smallest finite element.
        maximum: Largest finite element.
        bad_elements: Indices of the first eight elements that are NaN, or infinite where none is;
            empty where they are not recorded.
    """

    mode: int
    has_inf_or_nan: bool | None = None
    dtype: str | None = None
    rank: int | None = None
    size: int | None = None
    shape: tuple[int | None, ...] | None = None
    neg_inf: int | None = None
    pos_inf: int | None = None
    nan: int | None = None
    neg: int | None = None
    zero: int | None = None
    pos: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    bad_elements: tuple[tuple[int, ...], ...] = ()

    __repr__ = short_repr

    @property
    def bad(self) -> bool:
        """Whether the tensor is known to hold a NaN or an infinity."""
        return bool(self.has_inf_or_nan)

    @property
    def largest(self) -> float | None:
        """The largest magnitude of a finite element, where it is on record."""
        if self.minimum is None or self.maximum is None:
            return None
        return max(abs(self.minimum), abs(self.maximum))

    @property
    def mode_name(self) -> str:
        """TensorFlow's name of the mode."""
        return mode_name(self.mode)


@dataclass(frozen=True, slots=True, repr=False)
class Execution:
    """An op or function executed eagerly from Python.

    Attributes:
        index: Position among the executions of the run.
        wall_time: When it had finished, in seconds since the epoch.
        step: Training step, where the program marked it.
        op_type: Op type, or the function's name (``__inference_...``, ``__forward_...``).
        graph_id: The graph of the executed function, where known.
        input_tensor_ids: Ids of the eager tensors it took.
        output_tensor_ids: Ids of the eager tensors it made.
        num_outputs: Number of outputs.
        mode: Number of the tensor debug mode.
        outputs: Summary of each output by slot; None where there is none.
        output_devices: Device name of each output.
        slots_known: False where the writer left out outputs and their slots are a guess.
        stack_id: Argument of `Run.stack`.
        host: Name of the host it ran on.
        thread: Number of the Python thread.
        serial: Number that graph executions caused by it carry in `execution_serial`.
        error: Text of the exception that it raised.
        inputs: Summary of each input in the order of `input_tensor_ids`, with extremes; None for
            one that is not floating.  Empty where they were not recorded: this project's writer
            does it in its adaptive mode, for an execution with a bad output.
        compared: Of an op that compares, each input that is one number; None for others.  Empty
            where no input is.
        layer: The innermost layer in whose call it ran, where that is recorded.
        called_graphs: Those of the functions that its attributes name, as those of a dataset.
        unreadable: Why its record cannot be read; only what the index knows is there then: no
            tensors and no time.
    """

    index: int
    wall_time: float
    step: int | None
    op_type: str
    graph_id: str | None
    input_tensor_ids: tuple[int, ...]
    output_tensor_ids: tuple[int, ...]
    num_outputs: int
    mode: int
    outputs: tuple[TensorSummary | None, ...]
    output_devices: tuple[str, ...]
    slots_known: bool
    stack_id: int
    host: str
    thread: int | None = None
    serial: int | None = None
    error: str | None = None
    inputs: tuple[TensorSummary | None, ...] = ()
    compared: tuple[float | None, ...] = ()
    layer: Layer | None = None
    called_graphs: tuple[str, ...] = ()
    unreadable: str | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, repr=False)
class GraphExecution:
    """One output of one op computed inside a graph ("graph execution trace").

    Attributes:
        index: Position among the graph executions of the run.
        wall_time: When it was recorded, in seconds since the epoch.
        step: Training step, where the program marked it.
        site_id: Number of its `Site`: the tensor of which this is one computation.
        graph_id: The graph that the op is in.
        op_name: Name of the op in its graph.
        op_type: Type of the op; None until its creation record has been read.
        output_slot: Which output of the op.
        mode: Number of the tensor debug mode.
        summary: What was recorded of its value; None where there is nothing.
        device: Device name.
        host: Name of the host.
        execution_index: The execution that caused it, where the writer recorded it.
        iteration: Iteration of the innermost While loop around the op, where recorded.
        unreadable: Why its record cannot be read; only what the index knows is there then: no
            summary and no time.
    """

    index: int
    wall_time: float
    step: int | None
    site_id: int
    graph_id: str
    op_name: str
    op_type: str | None
    output_slot: int
    mode: int
    summary: TensorSummary | None
    device: str
    host: str
    execution_index: int | None = None
    iteration: int | None = None
    unreadable: str | None = None

    __repr__ = short_repr

    @property
    def tensor_name(self) -> str:
        """The name TensorFlow gives the tensor: ``op_name:slot``."""
        return f"{self.op_name}:{self.output_slot}"


@dataclass(frozen=True, slots=True)
class Site:
    """A tensor of a graph on a device: what graph executions are computations of."""

    file_set: int
    graph_id: str
    op_name: str
    output_slot: int
    mode: int
    device: str

    @property
    def tensor_name(self) -> str:
        """``op_name:slot``."""
        return f"{self.op_name}:{self.output_slot}"


@dataclass(frozen=True, slots=True)
class ExecutionKind:
    """What executions of one op or function have in common; see `Run.layer_of_kind`.

    Of an op, `called_graphs` are those of functions that it is made of, as those of a dataset.
    """

    file_set: int
    op_type: str
    graph_id: str | None
    num_outputs: int
    mode: int
    layer: int = 0
    called_graphs: tuple[str, ...] = ()

    @property
    def is_function(self) -> bool:
        """Whether it is the call of a function rather than a single op."""
        return self.graph_id is not None or self.op_type.startswith(
            ("__inference_", "__forward_", "__backward_")
        )

    @property
    def fetched(self) -> tuple[str, ...]:
        """Names of what a run of a session fetches, as far as its name tells; of others none."""
        if not self.op_type.startswith(SESSION_RUN):
            return ()
        names = self.op_type.removeprefix(SESSION_RUN).rpartition(")")[0]
        return tuple(name for name in names.split(", ") if name)


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A frame of a stack trace.

    Attributes:
        host: Host the program ran on.
        path: Source file; None while the record that names it has not been read.
        line: Line number, from 1.
        function: Name of the function.
        expression: What ran of the line, where that is known.
    """

    host: str
    path: str | None
    line: int
    function: str
    expression: Expression | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class SourceFile:
    """A source file as it was when the program ran.

    Attributes:
        host: Host it lies on.
        path: Its path there.
        lines: Its text; empty where the dump holds only the path.
        unreadable: Why its record cannot be read; there are no lines then.
    """

    host: str
    path: str
    lines: tuple[str, ...]
    unreadable: str | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a logdir, in a sentence for its reader.

    Attributes:
        path: The file or directory concerned.
        message: What is wrong, where, and what was done about it.
        passing: Whether it may go away when the program writes more.
    """

    path: str
    message: str
    passing: bool = False

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that the program ran and that its dump writer says is not on record.

    Attributes:
        kind: One of the constants in `wire.omissions`.
        what: What is not on record, as "the graph loss".
        reason: Why, in one sentence.
        executions: Executions of the same process that were recorded before it.
        traces: Graph executions of the same process that were recorded before it.
        step: Training step, where the program marked it.
        graph_id: The graph that it is about; None where it is about none.
        count: How often it has happened, or how many records were lost.
    """

    kind: str
    what: str
    reason: str
    executions: int
    traces: int
    step: int | None
    graph_id: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of the files has been read, in bytes."""

    bytes_read: int
    bytes_total: int

    @property
    def complete(self) -> bool:
        """Whether everything that was there at the last look has been read."""
        return self.bytes_read >= self.bytes_total


@dataclass(frozen=True, slots=True)
class RunState:
    """What has become of a run's files.

    Whether the program still runs can be told only on its host.

    Attributes:
        deleted: They are gone from their directory; what had been opened can still be read.
        last_written: When any of them was written last, in seconds since the epoch.
        writing: Whether a process still has them open; None where that cannot be told.
        ended: Whether all processes have ended their dump in order, as our writer does; a program
            that has disabled its dump may go on.
        suspended: Whether a process that has them open is stopped, as by Ctrl-Z.
        killed: Whether a process has gone that could not end its dump in order, as our writer does
            unless it is killed or crashes; that of TensorFlow does not tell.
        prompt: Whether they are known to be of this project's writer, which keeps nothing back.
        generation: How often a file of events was read again from its start, because a circular
            buffer had replaced it, or something else was written to it: events of different
            generations have different indices.
        shortened: Whether a file of events is shorter than what was read of it: some of the values
            cannot be read any more.
    """

    deleted: bool = False
    last_written: float | None = None
    writing: bool | None = None
    ended: bool = False
    suspended: bool = False
    killed: bool = False
    prompt: bool = False
    generation: int = 0
    shortened: bool = False
