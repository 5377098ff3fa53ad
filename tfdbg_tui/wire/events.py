"""The messages of a tfdbg2 logdir: one table of every field, TensorFlow's and ours.

Source: tensorflow/core/protobuf/debug_event.proto, graph_debug_info.proto and
tensorflow/core/framework/tensor.proto.  Field numbers below 1000 are TensorFlow's.  Those from
1000 on are this project's extensions: facts TensorFlow does not record, in places that protobuf
readers which do not know them skip.  Extensions of hot records have a fixed width, so that all
records of one graph tensor keep one layout.

Fields that the format may hold and nobody writes (see the .proto) are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from tfdbg_tui.wire import codec
from tfdbg_tui.wire.message import FieldType, Message, pb

SESSION_RUN = "Session.run("
"""What the names of the executions begin with that are runs of sessions."""

_FLOAT64 = 2  # DataType


@dataclass(slots=True)
class DebugMetadata(Message):
    """What wrote a file set: the first record of the metadata file, TensorFlow's only one.

    Ours adds one whenever the dump is ended in order, or goes on: the last one counts.
    """

    tensorflow_version: str = pb(1, FieldType.STRING)
    file_version: str = pb(2, FieldType.STRING)
    tfdbg_run_id: str = pb(3, FieldType.STRING)
    # Extension: 1 where the dump has been ended in order; who is killed leaves none.
    ended: int = pb(1000, FieldType.INT)
    # Extension: what was left out on purpose.  The size of the circular buffer, 0 for none; the
    # filter of op types; 1 where there is one of dtypes.
    circular_buffer_size: int = pb(1001, FieldType.INT)
    op_regex: str = pb(1002, FieldType.STRING)
    filters_dtypes: int = pb(1003, FieldType.INT)
    # Extension: one training step in so many is recorded.
    every: int = pb(1004, FieldType.INT)
    # Extension: the tensor debug mode by the name that the user gave, such as ADAPTIVE.
    # TensorFlow's writer leaves none, which tells its files from ours.
    mode_name: str = pb(1005, FieldType.STRING)
    # Extension: the place of the process in a cluster, as TF_CONFIG tells it: type and number of
    # its task, the number of tasks of that type, and what tells the cluster from others.
    task_type: str = pb(1006, FieldType.STRING)
    task_index: int = pb(1007, FieldType.INT)
    num_tasks: int = pb(1008, FieldType.INT)
    cluster: str = pb(1009, FieldType.STRING)
    # Extension: the training steps that are recorded, as "1000..1010"; "" for all.
    steps: str = pb(1010, FieldType.STRING)
    # Extension: the layers, functions and lines that are recorded, as the user gave them; "" for
    # all.
    layers: str = pb(1011, FieldType.STRING)
    functions: str = pb(1012, FieldType.STRING)
    lines: str = pb(1013, FieldType.STRING)
    # Extension: where the dump has ended, how many bytes the other five files hold, in the order of
    # `filesets.SUFFIXES`; none with a circular buffer, which replaces files.
    file_sizes: list[int] = pb(1014, FieldType.INTS)


@dataclass(slots=True)
class Omission(Message):
    """Extension: something that ran and is not on record; in the metadata file.

    Whoever says of a run that it is clean looks at these first.
    """

    # One of the constants in `omissions`.
    kind: str = pb(1, FieldType.STRING)
    # What is not on record, in the program's words: "the graph loss", "the op Foo in loss".
    what: str = pb(2, FieldType.STRING)
    # Why, in one sentence.
    reason: str = pb(3, FieldType.STRING)
    # Executions and traces of the same file set that were recorded before it.
    executions: int = pb(4, FieldType.INT)
    traces: int = pb(5, FieldType.INT)
    # Id of the graph that it is about, where it is about one.
    graph_id: str = pb(6, FieldType.STRING)
    # How often it has happened, or how many records were lost; the last record of a kind, what,
    # reason and graph counts.
    count: int = pb(7, FieldType.INT)


@dataclass(slots=True)
class SourceFile(Message):
    """The text of a source file at the moment its first frame was seen."""

    file_path: str = pb(1, FieldType.STRING)
    host_name: str = pb(2, FieldType.STRING)
    lines: list[str] = pb(3, FieldType.STRINGS)


@dataclass(slots=True)
class FileLineCol(Message):
    """A place in a source file."""

    # Position of the file in the .source_files file of the same file set.
    file_index: int = pb(1, FieldType.INT)
    line: int = pb(2, FieldType.INT)
    # Where the expression begins that ran, in bytes of UTF-8 from 1; 0 where that is not known, as
    # in all dumps of TensorFlow's writer.
    col: int = pb(3, FieldType.INT)
    func: str = pb(4, FieldType.STRING)


@dataclass(slots=True)
class StackFrameWithId(Message):
    """One distinct (file, line, function), and expression of the line where that is known."""

    id: str = pb(1, FieldType.STRING)
    file_line_col: FileLineCol | None = pb(2, FieldType.MESSAGE, message=FileLineCol)
    # Extension: the last line of the expression that begins in `FileLineCol.col`, and its last byte
    # there, from 1.
    end_line: int = pb(1000, FieldType.INT)
    end_col: int = pb(1001, FieldType.INT)


@dataclass(slots=True)
class CodeLocation(Message):
    """A stack trace by reference."""

    host_name: str = pb(1, FieldType.STRING)
    # Outermost frame first.
    stack_frame_ids: list[str] = pb(2, FieldType.STRINGS)


@dataclass(slots=True)
class GraphOpCreation(Message):
    """The creation of an op in a graph."""

    op_type: str = pb(1, FieldType.STRING)
    op_name: str = pb(2, FieldType.STRING)
    graph_name: str = pb(3, FieldType.STRING)
    graph_id: str = pb(4, FieldType.STRING)
    # "op_name:slot" of each data input, in order.
    input_names: list[str] = pb(6, FieldType.STRINGS)
    num_outputs: int = pb(7, FieldType.INT)
    # Serialized CodeLocation, kept as bytes: equal bytes are one stack.
    code_location: bytes = pb(8, FieldType.BYTES)
    output_tensor_ids: list[int] = pb(9, FieldType.INTS)
    # Extension: graphs that the op calls, in the order of its attributes: the function of a
    # (Stateful)PartitionedCall; then/else of an If; condition/body of a While.
    called_graph_ids: list[str] = pb(1000, FieldType.STRINGS)
    # Extension: DataType number of each output.
    output_dtypes: list[int] = pb(1001, FieldType.INTS)
    # Extension: of a collective op, group and instance key, where the graph holds them.
    collective_keys: list[int] = pb(1002, FieldType.INTS)
    # Extension: number of the `Layer` in whose call it was created; 0 for none.
    layer: int = pb(1003, FieldType.INT)


@dataclass(slots=True)
class DebuggedGraph(Message):
    """A graph (FuncGraph or v1 Graph); comes before its ops and after its outer graph."""

    graph_id: str = pb(1, FieldType.STRING)
    graph_name: str = pb(2, FieldType.STRING)
    outer_context_id: str = pb(6, FieldType.STRING)


@dataclass(slots=True)
class DebuggedDevice(Message):
    """A device and the number that executions name it by."""

    device_name: str = pb(1, FieldType.STRING)
    device_id: int = pb(2, FieldType.INT)


@dataclass(slots=True)
class GraphSignature(Message):
    """Extension: what is known of a function graph only once it is finished.

    Several may exist for one graph (one trace can back several functions).
    """

    graph_id: str = pb(1, FieldType.STRING)
    # Name the runtime calls the function by: Execution.op_type when it is called eagerly.
    function_name: str = pb(2, FieldType.STRING)
    # "op_name:slot" of each argument, captured ones last, in the order of the call's inputs.
    input_names: list[str] = pb(3, FieldType.STRINGS)
    # "op_name:slot" of the tensor behind each output, in the order of the call's outputs.
    output_names: list[str] = pb(4, FieldType.STRINGS)
    # "op_name:slot" in the outer graph, or "" for an eager tensor, of each captured tensor:
    # those are the last inputs.
    captured_names: list[str] = pb(5, FieldType.STRINGS)
    # Eager tensor id of each captured tensor; -1 where it is not eager.
    captured_tensor_ids: list[int] = pb(6, FieldType.INTS)
    # Graph of the forward function, for a backward function.
    forward_graph_id: str = pb(7, FieldType.STRING)
    # 1: nothing but that XLA compiles the graph, which is recorded when its call has ended.
    compiled: int = pb(8, FieldType.INT)


BUILDS = " (builds "
"""Stands behind the function's name in the frame of a line that put a layer into a model."""


@dataclass(slots=True)
class Layer(Message):
    """Extension: a Keras layer or model, or a `tf.Module`, as it is called; before its ops."""

    # From 1, in the file set.
    number: int = pb(1, FieldType.INT)
    # Number of the layer in whose call it is called; 0 for none.
    outer: int = pb(2, FieldType.INT)
    name: str = pb(3, FieldType.STRING)
    class_name: str = pb(4, FieldType.STRING)
    # Name of the dtype policy, and the type that it computes in; "" for modules.
    dtype_policy: str = pb(5, FieldType.STRING)
    compute_dtype: str = pb(6, FieldType.STRING)


@dataclass(slots=True)
class Variable(Message):
    """Extension: a variable of a layer or an optimizer, or one whose gradient is asked for.

    The last record of a handle counts.
    """

    # Eager tensor id of its handle: what executions and captures name it by.
    handle: int = pb(1, FieldType.INT)
    name: str = pb(2, FieldType.STRING)
    # Number of the innermost `Layer` that has it; 0 for none.
    layer: int = pb(3, FieldType.INT)
    # 1 where the program lets it be trained.
    trainable: int = pb(4, FieldType.INT)
    # Of what an optimizer keeps of a variable: its name, and the handle of that variable.
    optimizer: str = pb(5, FieldType.STRING)
    slot_of: int = pb(6, FieldType.INT)
    # Of a variable of a session, the graph that it is in: it has no handle, and the name is that
    # of its op.
    graph_id: str = pb(7, FieldType.STRING)


@dataclass(slots=True)
class GradientRequest(Message):
    """Extension: what a tape was asked for; a record for each place and each other answer."""

    code_location: bytes = pb(1, FieldType.BYTES)
    # Handles of the variables whose gradients are asked for, and of those the ones that have none.
    asked: list[int] = pb(2, FieldType.INTS)
    unconnected: list[int] = pb(3, FieldType.INTS)
    # Those that the tape has seen read, which may be trained, and are not asked for.
    left_out: list[int] = pb(4, FieldType.INTS)
    # What is differentiated: graph and "op_name:slot", or of an eager tensor its id.
    target_graph_id: str = pb(5, FieldType.STRING)
    target_name: str = pb(6, FieldType.STRING)
    target_id: int = pb(7, FieldType.INT)


@dataclass(slots=True)
class GradientsGiven(Message):
    """Extension: which eager ops made what a tape gave; a record for what is new at a place."""

    code_location: bytes = pb(1, FieldType.BYTES)
    # Code locations of the ops.
    makers: list[bytes] = pb(2, FieldType.BYTES_LIST)
    # Those of them whose tensors other gradient ops took, too.
    passed_on: list[bytes] = pb(3, FieldType.BYTES_LIST)
    # Numbers of the bad tensors that these ops' lines made, but the tape neither gave nor used.
    left: list[int] = pb(4, FieldType.INTS)


@dataclass(slots=True)
class FitBatch(Message):
    """Extension: where a training step is in Keras' `fit`; each step after it goes on from there.

    A record is written where that is not so, as at the beginning of an epoch.
    """

    step: int = pb(1, FieldType.INT)
    # Both counted from 1; 0 for a step outside of `fit`.
    epoch: int = pb(2, FieldType.INT)
    batch: int = pb(3, FieldType.INT)
    # How many batches each step is; 0 in files of older writers, which do not tell.
    together: int = pb(4, FieldType.INT)


@dataclass(slots=True)
class Execution(Message):
    """An op or function executed eagerly.  Written after it returned."""

    op_type: str = pb(1, FieldType.STRING)
    num_outputs: int = pb(2, FieldType.INT)
    graph_id: str = pb(3, FieldType.STRING)
    input_tensor_ids: list[int] = pb(4, FieldType.INTS)
    output_tensor_ids: list[int] = pb(5, FieldType.INTS)
    tensor_debug_mode: int = pb(6, FieldType.INT)
    # Serialized TensorProtos: a value vector or the tensor itself; empty where the mode does
    # not summarise the output's type.  TensorFlow leaves resources and filtered outputs out
    # altogether, so slots can shift; this project's writer never does.
    tensor_protos: list[bytes] = pb(7, FieldType.BYTES_LIST)
    code_location: bytes = pb(8, FieldType.BYTES)
    output_tensor_device_ids: list[int] = pb(9, FieldType.INTS)
    # Extension: number of the execution in its file set, from 1; traces refer to it.
    serial: int | None = pb(1000, FieldType.FIXED64)
    # Extension: number of the Python thread, from 0 in order of first appearance.
    thread: int | None = pb(1001, FieldType.FIXED32)
    # Extension: text of the exception that the execution ended with.
    error: str = pb(1002, FieldType.STRING)
    # Extension: smallest and largest finite element of each output; NaN where unknown.
    minima: list[float] = pb(1003, FieldType.DOUBLES)
    maxima: list[float] = pb(1004, FieldType.DOUBLES)
    # Extension: the same of each input, where an output is bad: serialized TensorProtos of
    # FULL_HEALTH vectors (empty for inputs that are not floating), and their extremes.
    input_tensor_protos: list[bytes] = pb(1005, FieldType.BYTES_LIST)
    input_minima: list[float] = pb(1006, FieldType.DOUBLES)
    input_maxima: list[float] = pb(1007, FieldType.DOUBLES)
    # Extension: number of the `Layer` in whose call it ran.
    layer: int | None = pb(1008, FieldType.FIXED32)
    # Extension: the shape of each output and input, and where its first bad elements are; so many
    # numbers of each, see `bad_elements`.
    bad_elements: list[float] = pb(1009, FieldType.DOUBLES)
    input_bad_elements: list[float] = pb(1010, FieldType.DOUBLES)
    # Extension: of an op that compares, each input that is one number; NaN for others.
    compared: list[float] = pb(1011, FieldType.DOUBLES)
    # Extension: graphs of the functions that an op's attributes name, as those of a dataset.
    called_graph_ids: list[str] = pb(1012, FieldType.STRINGS)
    # Extension: DataType of each output whose extremes are told; 0 for others.
    measured_types: list[int] = pb(1013, FieldType.INTS)


@dataclass(slots=True)
class GraphExecutionTrace(Message):
    """One output of one op, computed inside a graph."""

    tfdbg_context_id: str = pb(1, FieldType.STRING)
    op_name: str = pb(2, FieldType.STRING)
    output_slot: int = pb(3, FieldType.INT)
    tensor_debug_mode: int = pb(4, FieldType.INT)
    tensor_proto: bytes = pb(5, FieldType.BYTES)
    device_name: str = pb(6, FieldType.STRING)
    # Extension: `serial` of the execution that caused it, in the same file set.
    execution_serial: int | None = pb(1000, FieldType.FIXED64)
    # Extension: iteration of the innermost While loop around the op, from 0.
    iteration: int | None = pb(1001, FieldType.FIXED32)
    # Extension: smallest and largest finite element, as the bits of a double.
    minimum_bits: int | None = pb(1002, FieldType.FIXED64)
    maximum_bits: int | None = pb(1003, FieldType.FIXED64)
    # Extension: the shape, and where the first bad elements are; see `bad_elements`.
    bad_elements: list[float] = pb(1004, FieldType.DOUBLES)


@dataclass(slots=True)
class DebugEvent(Message):
    """The payload of every record: a time and one of the messages, still serialized."""

    wall_time: float = pb(1, FieldType.DOUBLE)
    # Training step; standard field that TensorFlow never writes.  None where it is unknown.
    step: int | None = pb(2, FieldType.OPTIONAL_INT)
    debug_metadata: bytes = pb(3, FieldType.BYTES)
    source_file: bytes = pb(4, FieldType.BYTES)
    stack_frame_with_id: bytes = pb(6, FieldType.BYTES)
    graph_op_creation: bytes = pb(7, FieldType.BYTES)
    debugged_graph: bytes = pb(8, FieldType.BYTES)
    execution: bytes = pb(9, FieldType.BYTES)
    graph_execution_trace: bytes = pb(10, FieldType.BYTES)
    debugged_device: bytes = pb(12, FieldType.BYTES)
    # Extension: only in the .graphs file.
    graph_signature: bytes = pb(1000, FieldType.BYTES)
    # Extension: only in the .metadata file.
    omission: bytes = pb(1001, FieldType.BYTES)
    # Extension: only in the .graphs file.
    layer: bytes = pb(1002, FieldType.BYTES)
    # Extension: only in the .graphs file.
    fit_batch: bytes = pb(1003, FieldType.BYTES)
    # Extensions: only in the .graphs file.
    variable: bytes = pb(1004, FieldType.BYTES)
    gradient_request: bytes = pb(1005, FieldType.BYTES)
    gradients_given: bytes = pb(1006, FieldType.BYTES)
    # Extensions: only in the .graph_execution_traces file, behind all else: a serialized
    # `Repetitions`, and what marks that there is one; see `repetitions`.
    repetitions: bytes = pb(1007, FieldType.BYTES)
    repetitions_mark: int | None = pb(1008, FieldType.FIXED64)
    # Extension: only in the .graphs file.  Number of an eager tensor with NaN or ∞, of at most a
    # thousand elements, that Python has read.
    read_tensor_id: int | None = pb(1009, FieldType.OPTIONAL_INT)


@dataclass(slots=True)
class Repetitions(Message):
    """Extension: executions of groups of tensors, like earlier ones; before the record it is in."""

    # Of each group of records that is repeated: how many bytes before the record that this is in
    # it begins, and how many bytes it has.
    distances: list[int] = pb(1, FieldType.INTS)
    sizes: list[int] = pb(2, FieldType.INTS)
    # What caused the executions: time, step (-1 for none), and `execution_serial`.
    wall_times: list[float] = pb(3, FieldType.DOUBLES)
    steps: list[int] = pb(4, FieldType.INTS)
    serials: list[int] = pb(5, FieldType.INTS)
    # Of each execution, in order: which group of records is repeated, which of the causes it has,
    # and the iteration; packed fixed32, `[executions, 3]`.
    executions: bytes = pb(6, FieldType.BYTES)


@dataclass(slots=True)
class TensorShape(Message):
    """The dimensions of a TensorProto, each a serialized ``Dim {1: int64 size}``."""

    dims: list[bytes] = pb(2, FieldType.BYTES_LIST)

    def sizes(self) -> tuple[int, ...]:
        """Return the length of each dimension."""
        return tuple(Dim.decode(dim).size for dim in self.dims)


@dataclass(slots=True)
class Dim(Message):
    """One dimension of a shape."""

    size: int = pb(1, FieldType.INT)


@dataclass(slots=True)
class TensorProto(Message):
    """A tensor: raw little-endian content, or typed values (TensorFlow's choice for scalars)."""

    dtype: int = pb(1, FieldType.INT)
    tensor_shape: TensorShape | None = pb(2, FieldType.MESSAGE, message=TensorShape)
    tensor_content: bytes = pb(4, FieldType.BYTES)
    # Packed fixed32 floats.
    float_val: bytes = pb(5, FieldType.BYTES)
    double_val: list[float] = pb(6, FieldType.DOUBLES)
    int_val: list[int] = pb(7, FieldType.INTS)
    string_val: list[bytes] = pb(8, FieldType.BYTES_LIST)
    # Packed fixed32 floats: real, imaginary, ...
    scomplex_val: bytes = pb(9, FieldType.BYTES)
    int64_val: list[int] = pb(10, FieldType.INTS)
    bool_val: list[int] = pb(11, FieldType.INTS)
    dcomplex_val: list[float] = pb(12, FieldType.DOUBLES)
    # Bits of float16, bfloat16 and float8 values.
    half_val: list[int] = pb(13, FieldType.INTS)
    uint32_val: list[int] = pb(16, FieldType.INTS)
    uint64_val: list[int] = pb(17, FieldType.INTS)


def value_vector_head(length: int) -> bytes:
    """Return the TensorProto of a vector of `length` doubles up to the content itself."""
    shape = TensorShape([Dim(length).encode()])
    content = codec.varint(TensorProto.tag("tensor_content")) + codec.varint(8 * length)
    return TensorProto(_FLOAT64, shape).encode() + content
