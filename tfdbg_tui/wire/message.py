"""Protocol-buffer messages declared as dataclasses: each field says its number and its kind.

A message decodes and encodes itself by that declaration::

    @dataclass(slots=True)
    class DebuggedDevice(Message):
        device_name: str = pb(1, Kind.STRING)
        device_id: int = pb(2, Kind.INT)

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


class Kind(enum.Enum):
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


_DEFAULTS: dict[Kind, Any] = {
    Kind.INT: 0,
    Kind.OPTIONAL_INT: None,
    Kind.STRING: "",
    Kind.BYTES: b"",
    Kind.DOUBLE: 0.0,
    # Extensions of hot records tell "absent" from zero.
    Kind.FIXED64: None,
    Kind.FIXED32: None,
    Kind.MESSAGE: None,
}

_WIRE_TYPES = {
    Kind.INT: codec.VARINT,
    Kind.OPTIONAL_INT: codec.VARINT,
    Kind.DOUBLE: codec.FIXED64,
    Kind.FIXED64: codec.FIXED64,
    Kind.FIXED32: codec.FIXED32,
}


def pb(number: int, kind: Kind, *, message: type[Message] | None = None) -> Any:
    """Declare a field of a message.

    Args:
        number: Its number in the .proto, or from 1000 on in our own extensions.
        kind: What it holds.
        message: The class of what it holds, for `Kind.MESSAGE`.
    """
    metadata = {"number": number, "kind": kind, "message": message}
    if kind in _DEFAULTS:
        return field(default=_DEFAULTS[kind], metadata=metadata)
    return field(default_factory=list, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    number: int
    kind: Kind
    message: type[Message] | None
    default: Any
    encode: Callable[[int, Any], bytes]


class Message:
    """A protocol-buffer message whose fields are those of a dataclass."""

    __slots__ = ()

    @classmethod
    def tag(cls, name: str) -> int:
        """Return the tag that precedes a field's value: its number and its wire type.

        The field is one that this package writes so; TensorFlow's writer packs lists as well.
        """
        spec = _named(cls, name)
        return spec.number << 3 | _WIRE_TYPES.get(spec.kind, codec.BYTES)

    @classmethod
    def field(cls, name: str, value: Any) -> bytes:
        """Return a field by itself, serialized, also where it has its default value."""
        spec = _named(cls, name)
        return spec.encode(spec.number, value)

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
            if spec is not None:
                _store(message, spec, wire_type, value)
        return message

    def encode(self) -> bytes:
        """Return the serialized message; fields at their default are left out."""
        parts = []
        for spec in _fields_by_number(type(self)).values():
            value = getattr(self, spec.name)
            if value != spec.default:
                parts.append(spec.encode(spec.number, value))
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


def _spec(name: str, number: int, kind: Kind, message: type[Message] | None) -> _Field:
    return _Field(name, number, kind, message, _DEFAULTS.get(kind, []), _ENCODERS[kind])


def _store(message: Message, spec: _Field, wire_type: int, value: int | bytes) -> None:
    kind = spec.kind
    if kind is Kind.INTS and wire_type == codec.VARINT:
        getattr(message, spec.name).append(codec.signed(cast("int", value)))
        return
    if kind is Kind.DOUBLES and wire_type == codec.FIXED64:
        getattr(message, spec.name).append(codec.to_double(cast("int", value)))
        return
    if wire_type != _WIRE_TYPES.get(kind, codec.BYTES):
        raise codec.DecodeError(f"field {spec.name} has wire type {wire_type}")
    if isinstance(value, int):
        decoded: Any = value
        if wire_type == codec.VARINT:
            decoded = codec.signed(value)
        elif kind is Kind.DOUBLE:
            decoded = codec.to_double(value)
        setattr(message, spec.name, decoded)
    elif kind is Kind.BYTES:
        setattr(message, spec.name, value)
    elif kind is Kind.STRING:
        setattr(message, spec.name, value.decode("utf-8", "replace"))
    elif kind is Kind.STRINGS:
        getattr(message, spec.name).append(value.decode("utf-8", "replace"))
    elif kind is Kind.BYTES_LIST:
        getattr(message, spec.name).append(value)
    elif kind is Kind.INTS:
        getattr(message, spec.name).extend(codec.unpack_varints(value))
    elif kind is Kind.DOUBLES:
        getattr(message, spec.name).extend(codec.unpack_doubles(value))
    else:
        assert spec.message is not None
        setattr(message, spec.name, spec.message.decode(value))


def _strings(number: int, values: list[str]) -> bytes:
    return b"".join([codec.bytes_field(number, v.encode("utf-8", "replace")) for v in values])


_ENCODERS: dict[Kind, Callable[[int, Any], bytes]] = {
    Kind.INT: codec.varint_field,
    Kind.OPTIONAL_INT: codec.varint_field,
    Kind.STRING: lambda number, value: codec.bytes_field(number, value.encode("utf-8", "replace")),
    Kind.BYTES: codec.bytes_field,
    Kind.DOUBLE: codec.double_field,
    Kind.FIXED64: codec.fixed64_field,
    Kind.FIXED32: codec.fixed32_field,
    Kind.INTS: codec.packed_varints_field,
    Kind.STRINGS: _strings,
    Kind.BYTES_LIST: lambda number, values: b"".join(codec.bytes_field(number, v) for v in values),
    Kind.DOUBLES: lambda number, values: codec.bytes_field(
        number, b"".join(codec.double_bytes(v) for v in values)
    ),
    Kind.MESSAGE: lambda number, value: codec.bytes_field(number, value.encode()),
}
"""Serialize a field of a number and a value of each kind."""
