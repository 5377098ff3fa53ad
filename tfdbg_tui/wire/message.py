"""Protocol-buffer messages declared as dataclasses: each field says its number and its type.

A message decodes and encodes itself by that declaration::

    @dataclass(slots=True)
    class DebuggedDevice(Message):
        device_name: str = pb(1, FieldType.STRING)
        device_id: int = pb(2, FieldType.INT)

Fields that are not declared are skipped; those at their default are not written, as in proto3.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from tfdbg_tui.wire import codec

if TYPE_CHECKING:
    from collections.abc import Callable


class FieldType(enum.Enum):
    """What a field holds, and so how it is laid out."""

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


def pb(number: int, field_type: FieldType, *, message: type[Message] | None = None) -> Any:
    """Declare a field of a message.

    Args:
        number: Its number in the .proto, or from 1000 on in our own extensions.
        field_type: What it holds.
        message: The class of what it holds, for `FieldType.MESSAGE`.
    """
    metadata = {"number": number, "field_type": field_type, "message": message}
    if _LAYOUTS[field_type].is_list:
        return field(default_factory=list, metadata=metadata)
    return field(default=_LAYOUTS[field_type].default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How what a field holds is written and read.

    Attributes:
        wire_type: The wire type that it is written with.
        default: What is not written.
        encode: Serializes a field of a number and a value.
        decoders: Return the value, by the wire types that are read; of a list, more elements.
    """

    wire_type: int
    default: Any
    encode: Callable[[int, Any], bytes]
    decoders: dict[int, Callable[[Any], Any]]

    @property
    def is_list(self) -> bool:
        """Whether a field may be there several times, for the elements of a list."""
        return isinstance(self.default, list)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    number: int
    layout: _Layout
    is_list: bool
    decoders: dict[int, Callable[[Any], Any]]


class Message:
    """A protocol-buffer message whose fields are those of a dataclass."""

    __slots__ = ()

    @classmethod
    def tag(cls, name: str) -> int:
        """Return the tag that precedes a field's value: its number and its wire type.

        The field is one that this package writes so; TensorFlow's writer packs lists as well.
        """
        spec = _named(cls, name)
        return spec.number << 3 | spec.layout.wire_type

    @classmethod
    def field(cls, name: str, value: Any) -> bytes:
        """Return a field by itself, serialized, also where it has its default value."""
        spec = _named(cls, name)
        return spec.layout.encode(spec.number, value)

    @classmethod
    def numbers(cls) -> list[int]:
        """Return the numbers of all fields."""
        return list(_fields_by_number(cls))

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
            if spec is None:
                continue
            decode = spec.decoders.get(wire_type)
            if decode is None:
                raise codec.DecodeError(f"field {spec.name} has wire type {wire_type}")
            if spec.is_list:
                getattr(message, spec.name).extend(decode(value))
            else:
                setattr(message, spec.name, decode(value))
        return message

    def encode(self) -> bytes:
        """Return the serialized message; fields at their default are left out."""
        parts = []
        for spec in _fields_by_number(type(self)).values():
            value = getattr(self, spec.name)
            if value != spec.layout.default:
                parts.append(spec.layout.encode(spec.number, value))
        return b"".join(parts)


_tables: dict[type[Message], dict[int, _Field]] = {}
_by_name: dict[tuple[type[Message], str], _Field] = {}


def _fields_by_number(cls: type[Message]) -> dict[int, _Field]:
    table = _tables.get(cls)
    if table is None:
        specs = (_spec(**f.metadata, name=f.name) for f in dataclasses.fields(cast("Any", cls)))
        table = {spec.number: spec for spec in sorted(specs, key=lambda spec: spec.number)}
        _tables[cls] = table
    return table


def _named(cls: type[Message], name: str) -> _Field:
    spec = _by_name.get((cls, name))
    if spec is None:
        _by_name.update({(cls, spec.name): spec for spec in _fields_by_number(cls).values()})
        spec = _by_name[cls, name]
    return spec


def _spec(name: str, number: int, field_type: FieldType, message: type[Message] | None) -> _Field:
    layout = _LAYOUTS[field_type]
    decoders: dict[int, Callable[[Any], Any]] = layout.decoders
    if message is not None:
        decoders = {codec.BYTES: message.decode}
    return _Field(name, number, layout, layout.is_list, decoders)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _as_it_is(value: Any) -> Any:
    return value


def _encode_text(number: int, value: str) -> bytes:
    return codec.bytes_field(number, value.encode("utf-8", "replace"))


def _each(encode: Callable[[int, Any], bytes]) -> Callable[[int, list[Any]], bytes]:
    """Return what serializes each element of a list as a field."""
    return lambda number, values: b"".join([encode(number, value) for value in values])


def _encode_doubles(number: int, values: list[float]) -> bytes:
    return codec.bytes_field(number, b"".join(codec.double_bytes(v) for v in values))


def _encode_message(number: int, value: Message) -> bytes:
    return codec.bytes_field(number, value.encode())


_VARINT, _BYTES, _FIXED64, _FIXED32 = codec.VARINT, codec.BYTES, codec.FIXED64, codec.FIXED32
_LAYOUTS: dict[FieldType, _Layout] = {
    FieldType.INT: _Layout(_VARINT, 0, codec.varint_field, {_VARINT: codec.signed}),
    FieldType.OPTIONAL_INT: _Layout(_VARINT, None, codec.varint_field, {_VARINT: codec.signed}),
    FieldType.STRING: _Layout(_BYTES, "", _encode_text, {_BYTES: _text}),
    FieldType.BYTES: _Layout(_BYTES, b"", codec.bytes_field, {_BYTES: _as_it_is}),
    FieldType.DOUBLE: _Layout(_FIXED64, 0.0, codec.double_field, {_FIXED64: codec.to_double}),
    # Extensions of hot records tell "absent" from zero.
    FieldType.FIXED64: _Layout(_FIXED64, None, codec.fixed64_field, {_FIXED64: _as_it_is}),
    FieldType.FIXED32: _Layout(_FIXED32, None, codec.fixed32_field, {_FIXED32: _as_it_is}),
    FieldType.MESSAGE: _Layout(_BYTES, None, _encode_message, {}),  # decoded by its class
    FieldType.INTS: _Layout(
        _BYTES,
        [],
        codec.packed_varints_field,
        {_BYTES: codec.unpack_varints, _VARINT: lambda value: [codec.signed(value)]},
    ),
    FieldType.STRINGS: _Layout(
        _BYTES, [], _each(_encode_text), {_BYTES: lambda data: [_text(data)]}
    ),
    FieldType.BYTES_LIST: _Layout(
        _BYTES, [], _each(codec.bytes_field), {_BYTES: lambda data: [data]}
    ),
    FieldType.DOUBLES: _Layout(
        _BYTES,
        [],
        _encode_doubles,
        {_BYTES: codec.unpack_doubles, _FIXED64: lambda value: [codec.to_double(value)]},
    ),
}
