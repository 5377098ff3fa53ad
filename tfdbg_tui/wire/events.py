"""The messages of a tfdbg2 logdir: one table of every field, TensorFlow's and ours.

Source: tensorflow/core/protobuf/debug_event.proto, graph_debug_info.proto and
tensorflow/core/framework/tensor.proto.  Field numbers below 1000 are TensorFlow's.  Those from
1000 on are this project's extensions: facts TensorFlow does not record, in places that protobuf
readers which do not know them skip.  Extensions of hot records have a fixed width, so that all
records of one graph tensor keep one layout.

Every class below decodes and encodes itself by the field numbers in its own definition.  Fields
that the format may hold and nobody writes (see the .proto) are left out; unknown ones are skipped.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field
from typing import Any, Self, cast

from tfdbg_tui.wire import codec


class _Kind(enum.Enum):
    INT = enum.auto()
    OPTIONAL_INT = enum.auto()
    STRING = enum.auto()
    BYTES = enum.auto()
    DOUBLE = enum.auto()
    FIXED64 = enum.auto()
    FIXED32 = enum.auto()
    MESSAGE = enum.auto()
    INTS = enum.auto()
    STRINGS = enum.auto()
    BYTES_LIST = enum.auto()
    DOUBLES = enum.auto()


_DEFAULTS: dict[_Kind, Any] = {
    _Kind.INT: 0,
    _Kind.OPTIONAL_INT: None,
    _Kind.STRING: "",
    _Kind.BYTES: b"",
    _Kind.DOUBLE: 0.0,
    # Extensions of hot records tell "absent" from zero.
    _Kind.FIXED64: None,
    _Kind.FIXED32: None,
    _Kind.MESSAGE: None,
}

_WIRE_TYPES = {
    _Kind.INT: codec.VARINT,
    _Kind.OPTIONAL_INT: codec.VARINT,
    _Kind.DOUBLE: codec.FIXED64,
    _Kind.FIXED64: codec.FIXED64,
    _Kind.FIXED32: codec.FIXED32,
}


def _pb(number: int, kind: _Kind, *, message: type[Message] | None = None) -> Any:
    """Declare a field: its number and how its value is laid out."""
    metadata = {"number": number, "kind": kind, "message": message}
    if kind in _DEFAULTS:
        return field(default=_DEFAULTS[kind], metadata=metadata)
    return field(default_factory=list, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    number: int
    kind: _Kind
    message: type[Message] | None


class Message:
    """A protocol-buffer message whose fields are those of a dataclass."""

    __slots__ = ()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Return the message in `data`.

        Raises:
            codec.DecodeError: The bytes are malformed, or a known field has another wire type.
        """
        table = _fields_by_number(cls)
        message = cls()
        for number, wire_type, value in codec.fields(data):
            spec = table.get(number)
            if spec is not None:
                _store(message, spec, wire_type, value)
        return message

    def encode(self) -> bytes:
        """Return the serialized message; fields at their default are left out."""
        parts = []
        for spec in _fields_by_number(type(self)).values():
            value = getattr(self, spec.name)
            if value != _DEFAULTS.get(spec.kind, []):
                parts.append(_encode(spec, value))
        return b"".join(parts)


_tables: dict[type[Message], dict[int, _Field]] = {}


def _fields_by_number(cls: type[Message]) -> dict[int, _Field]:
    table = _tables.get(cls)
    if table is None:
        specs = (
            _Field(f.name, f.metadata["number"], f.metadata["kind"], f.metadata["message"])
            for f in dataclasses.fields(cast("Any", cls))
        )
        table = {spec.number: spec for spec in sorted(specs, key=lambda spec: spec.number)}
        _tables[cls] = table
    return table


def _store(message: Message, spec: _Field, wire_type: int, value: int | bytes) -> None:
    kind = spec.kind
    if kind is _Kind.INTS and wire_type == codec.VARINT:
        getattr(message, spec.name).append(codec.signed(cast("int", value)))
        return
    if kind is _Kind.DOUBLES and wire_type == codec.FIXED64:
        getattr(message, spec.name).append(codec.to_double(cast("int", value)))
        return
    if wire_type != _WIRE_TYPES.get(kind, codec.BYTES):
        raise codec.DecodeError(f"field {spec.name} has wire type {wire_type}")
    if isinstance(value, int):
        decoded: Any = value
        if wire_type == codec.VARINT:
            decoded = codec.signed(value)
        elif kind is _Kind.DOUBLE:
            decoded = codec.to_double(value)
        setattr(message, spec.name, decoded)
    elif kind is _Kind.BYTES:
        setattr(message, spec.name, value)
    elif kind is _Kind.STRING:
        setattr(message, spec.name, value.decode("utf-8", "replace"))
    elif kind is _Kind.STRINGS:
        getattr(message, spec.name).append(value.decode("utf-8", "replace"))
    elif kind is _Kind.BYTES_LIST:
        getattr(message, spec.name).append(value)
    elif kind is _Kind.INTS:
        getattr(message, spec.name).extend(codec.unpack_varints(value))
    elif kind is _Kind.DOUBLES:
        getattr(message, spec.name).extend(_unpack_doubles(value))
    else:
        assert spec.message is not None
        setattr(message, spec.name, spec.message.decode(value))


def _unpack_doubles(data: bytes) -> list[float]:
    if len(data) % 8:
        raise codec.DecodeError("packed doubles cut off")
    return [
        codec.to_double(int.from_bytes(data[pos : pos + 8], "little"))
        for pos in range(0, len(data), 8)
    ]


def _encode(spec: _Field, value: Any) -> bytes:
    number, kind = spec.number, spec.kind
    if kind in (_Kind.INT, _Kind.OPTIONAL_INT):
        return codec.varint_field(number, value)
    if kind is _Kind.STRING:
        return codec.bytes_field(number, value.encode("utf-8", "replace"))
    if kind is _Kind.BYTES:
        return codec.bytes_field(number, value)
    if kind is _Kind.DOUBLE:
        return codec.double_field(number, value)
    if kind is _Kind.FIXED64:
        return codec.fixed64_field(number, value)
    if kind is _Kind.FIXED32:
        return codec.fixed32_field(number, value)
    if kind is _Kind.INTS:
        return codec.packed_varints_field(number, value)
    if kind is _Kind.STRINGS:
        return b"".join(codec.bytes_field(number, v.encode("utf-8", "replace")) for v in value)
    if kind is _Kind.BYTES_LIST:
        return b"".join(codec.bytes_field(number, v) for v in value)
    if kind is _Kind.DOUBLES:
        return codec.bytes_field(number, b"".join(codec.double_bytes(v) for v in value))
    return codec.bytes_field(number, value.encode())


@dataclass(slots=True)
class DebugMetadata(Message):
    """What wrote a file set; the only record of the metadata file."""

    tensorflow_version: str = _pb(1, _Kind.STRING)
    file_version: str = _pb(2, _Kind.STRING)
    tfdbg_run_id: str = _pb(3, _Kind.STRING)


@dataclass(slots=True)
class SourceFile(Message):
    """The text of a source file at the moment its first frame was seen."""

    file_path: str = _pb(1, _Kind.STRING)
    host_name: str = _pb(2, _Kind.STRING)
    lines: list[str] = _pb(3, _Kind.STRINGS)


@dataclass(slots=True)
class FileLineCol(Message):
    """A place in a source file."""

    # Position of the file in the .source_files file of the same file set.
    file_index: int = _pb(1, _Kind.INT)
    line: int = _pb(2, _Kind.INT)
    func: str = _pb(4, _Kind.STRING)


@dataclass(slots=True)
class StackFrameWithId(Message):
    """One distinct (file, line, function)."""

    id: str = _pb(1, _Kind.STRING)
    file_line_col: FileLineCol | None = _pb(2, _Kind.MESSAGE, message=FileLineCol)


@dataclass(slots=True)
class CodeLocation(Message):
    """A stack trace by reference."""

    host_name: str = _pb(1, _Kind.STRING)
    # Outermost frame first.
    stack_frame_ids: list[str] = _pb(2, _Kind.STRINGS)


@dataclass(slots=True)
class GraphOpCreation(Message):
    """The creation of an op in a graph."""

    op_type: str = _pb(1, _Kind.STRING)
    op_name: str = _pb(2, _Kind.STRING)
    graph_name: str = _pb(3, _Kind.STRING)
    graph_id: str = _pb(4, _Kind.STRING)
    # "op_name:slot" of each data input, in order.
    input_names: list[str] = _pb(6, _Kind.STRINGS)
    num_outputs: int = _pb(7, _Kind.INT)
    # Serialized CodeLocation, kept as bytes: equal bytes are one stack.
    code_location: bytes = _pb(8, _Kind.BYTES)
    output_tensor_ids: list[int] = _pb(9, _Kind.INTS)
    # Extension: graphs that the op calls, in the order of its attributes: the function of a
    # (Stateful)PartitionedCall; then/else of an If; condition/body of a While.
    called_graph_ids: list[str] = _pb(1000, _Kind.STRINGS)
    # Extension: DataType number of each output.
    output_dtypes: list[int] = _pb(1001, _Kind.INTS)


@dataclass(slots=True)
class DebuggedGraph(Message):
    """A graph (FuncGraph or v1 Graph); comes before its ops and after its outer graph."""

    graph_id: str = _pb(1, _Kind.STRING)
    graph_name: str = _pb(2, _Kind.STRING)
    outer_context_id: str = _pb(6, _Kind.STRING)


@dataclass(slots=True)
class DebuggedDevice(Message):
    """A device and the number that executions name it by."""

    device_name: str = _pb(1, _Kind.STRING)
    device_id: int = _pb(2, _Kind.INT)


@dataclass(slots=True)
class GraphSignature(Message):
    """Extension: what is known of a function graph only once it is finished.

    Several may exist for one graph (one trace can back several functions).
    """

    graph_id: str = _pb(1, _Kind.STRING)
    # Name the runtime calls the function by: Execution.op_type when it is called eagerly.
    function_name: str = _pb(2, _Kind.STRING)
    # "op_name:slot" of each argument, captured ones last, in the order of the call's inputs.
    input_names: list[str] = _pb(3, _Kind.STRINGS)
    # "op_name:slot" of the tensor behind each output, in the order of the call's outputs.
    output_names: list[str] = _pb(4, _Kind.STRINGS)
    # "op_name:slot" in the outer graph, or "" for an eager tensor, of each captured tensor:
    # those are the last inputs.
    captured_names: list[str] = _pb(5, _Kind.STRINGS)
    # Eager tensor id of each captured tensor; -1 where it is not eager.
    captured_tensor_ids: list[int] = _pb(6, _Kind.INTS)
    # Graph of the forward function, for a backward function.
    forward_graph_id: str = _pb(7, _Kind.STRING)


@dataclass(slots=True)
class Execution(Message):
    """An op or function executed eagerly.  Written after it returned."""

    op_type: str = _pb(1, _Kind.STRING)
    num_outputs: int = _pb(2, _Kind.INT)
    graph_id: str = _pb(3, _Kind.STRING)
    input_tensor_ids: list[int] = _pb(4, _Kind.INTS)
    output_tensor_ids: list[int] = _pb(5, _Kind.INTS)
    tensor_debug_mode: int = _pb(6, _Kind.INT)
    # Serialized TensorProtos: a value vector or the tensor itself; empty where the mode does
    # not summarise the output's type.  TensorFlow leaves resources and filtered outputs out
    # altogether, so slots can shift; this project's writer never does.
    tensor_protos: list[bytes] = _pb(7, _Kind.BYTES_LIST)
    code_location: bytes = _pb(8, _Kind.BYTES)
    output_tensor_device_ids: list[int] = _pb(9, _Kind.INTS)
    # Extension: number of the execution in its file set, from 1; traces refer to it.
    serial: int | None = _pb(1000, _Kind.FIXED64)
    # Extension: number of the Python thread, from 0 in order of first appearance.
    thread: int | None = _pb(1001, _Kind.FIXED32)
    # Extension: text of the exception that the execution ended with.
    error: str = _pb(1002, _Kind.STRING)
    # Extension: smallest and largest finite element of each output; NaN where unknown.
    minima: list[float] = _pb(1003, _Kind.DOUBLES)
    maxima: list[float] = _pb(1004, _Kind.DOUBLES)
    # Extension: the same of each input, where an output is bad: serialized TensorProtos of
    # FULL_HEALTH vectors (empty for inputs that are not floating), and their extremes.
    input_tensor_protos: list[bytes] = _pb(1005, _Kind.BYTES_LIST)
    input_minima: list[float] = _pb(1006, _Kind.DOUBLES)
    input_maxima: list[float] = _pb(1007, _Kind.DOUBLES)


@dataclass(slots=True)
class GraphExecutionTrace(Message):
    """One output of one op, computed inside a graph."""

    tfdbg_context_id: str = _pb(1, _Kind.STRING)
    op_name: str = _pb(2, _Kind.STRING)
    output_slot: int = _pb(3, _Kind.INT)
    tensor_debug_mode: int = _pb(4, _Kind.INT)
    tensor_proto: bytes = _pb(5, _Kind.BYTES)
    device_name: str = _pb(6, _Kind.STRING)
    # Extension: `serial` of the execution that caused it, in the same file set.
    execution_serial: int | None = _pb(1000, _Kind.FIXED64)
    # Extension: iteration of the innermost While loop around the op, from 0.
    iteration: int | None = _pb(1001, _Kind.FIXED32)
    # Extension: smallest and largest finite element, as the bits of a double.
    minimum_bits: int | None = _pb(1002, _Kind.FIXED64)
    maximum_bits: int | None = _pb(1003, _Kind.FIXED64)


@dataclass(slots=True)
class DebugEvent(Message):
    """The payload of every record: a time and one of the messages, still serialized."""

    wall_time: float = _pb(1, _Kind.DOUBLE)
    # Training step; standard field that TensorFlow never writes.  None where it is unknown.
    step: int | None = _pb(2, _Kind.OPTIONAL_INT)
    debug_metadata: bytes = _pb(3, _Kind.BYTES)
    source_file: bytes = _pb(4, _Kind.BYTES)
    stack_frame_with_id: bytes = _pb(6, _Kind.BYTES)
    graph_op_creation: bytes = _pb(7, _Kind.BYTES)
    debugged_graph: bytes = _pb(8, _Kind.BYTES)
    execution: bytes = _pb(9, _Kind.BYTES)
    graph_execution_trace: bytes = _pb(10, _Kind.BYTES)
    debugged_device: bytes = _pb(12, _Kind.BYTES)
    # Extension: only in the .graphs file.
    graph_signature: bytes = _pb(1000, _Kind.BYTES)


@dataclass(slots=True)
class TensorShape(Message):
    """The dimensions of a TensorProto, each a serialized ``Dim {1: int64 size}``."""

    dims: list[bytes] = _pb(2, _Kind.BYTES_LIST)

    def sizes(self) -> tuple[int, ...]:
        """Return the length of each dimension."""
        return tuple(Dim.decode(dim).size for dim in self.dims)


@dataclass(slots=True)
class Dim(Message):
    """One dimension of a shape."""

    size: int = _pb(1, _Kind.INT)


@dataclass(slots=True)
class TensorProto(Message):
    """A tensor: raw little-endian content, or typed values (TensorFlow's choice for scalars)."""

    dtype: int = _pb(1, _Kind.INT)
    tensor_shape: TensorShape | None = _pb(2, _Kind.MESSAGE, message=TensorShape)
    tensor_content: bytes = _pb(4, _Kind.BYTES)
    # Packed fixed32 floats.
    float_val: bytes = _pb(5, _Kind.BYTES)
    double_val: list[float] = _pb(6, _Kind.DOUBLES)
    int_val: list[int] = _pb(7, _Kind.INTS)
    string_val: list[bytes] = _pb(8, _Kind.BYTES_LIST)
    # Packed fixed32 floats: real, imaginary, ...
    scomplex_val: bytes = _pb(9, _Kind.BYTES)
    int64_val: list[int] = _pb(10, _Kind.INTS)
    bool_val: list[int] = _pb(11, _Kind.INTS)
    dcomplex_val: list[float] = _pb(12, _Kind.DOUBLES)
    # Bits of float16, bfloat16 and float8 values.
    half_val: list[int] = _pb(13, _Kind.INTS)
    uint32_val: list[int] = _pb(16, _Kind.INTS)
    uint64_val: list[int] = _pb(17, _Kind.INTS)
