"""The protocol-buffer wire format, by hand: https://protobuf.dev/programming-guides/encoding/.

Small enough to own, and it spares the reader a protobuf runtime that would have to agree with
the one the user's TensorFlow pins.
"""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VARINT = 0
FIXED64 = 1
BYTES = 2
FIXED32 = 5

_CONTINUED = 0x80
"""From this value on, a byte of a varint is followed by another."""

_ONE_BYTE = [bytes([value]) for value in range(_CONTINUED)]
_DOUBLE = struct.Struct("<d")
_FIXED32 = struct.Struct("<I")
_FIXED64 = struct.Struct("<Q")
_PIECE = 4096


class DecodeError(ValueError):
    """Bytes that are not a well-formed protocol-buffer message."""


def read_varint(data: bytes, pos: int) -> tuple[int, int]:
    """Return the unsigned varint at `pos` and the position after it.

    Raises:
        DecodeError: The varint is cut off or longer than 10 bytes.
    """
    result = shift = 0
    try:
        while True:
            byte = data[pos]
            pos += 1
            result |= (byte & 0x7F) << shift
            if byte < _CONTINUED:
                return result & 0xFFFFFFFFFFFFFFFF, pos
            shift += 7
            if shift > 63:
                raise DecodeError("varint longer than 10 bytes")
    except IndexError:
        raise DecodeError("message cut off inside a varint") from None


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield ``(field number, wire type, value)`` of each field of a serialized message.

    Varints and fixed-width values come as unsigned integers, length-delimited ones as bytes.

    Raises:
        DecodeError: The message is malformed.
    """
    pos, size = 0, len(data)
    while pos < size:
        tag = data[pos]
        pos += 1
        if tag >= _CONTINUED:
            tag, pos = read_varint(data, pos - 1)
        number, wire_type = tag >> 3, tag & 7
        value: int | bytes
        if wire_type == VARINT:
            value, pos = read_varint(data, pos)
        elif wire_type == BYTES:
            length = data[pos] if pos < size else _CONTINUED
            if length < _CONTINUED:
                pos += 1
            else:
                length, pos = read_varint(data, pos)
            value = data[pos : pos + length]
            pos += length
        elif wire_type == FIXED64:
            value = int.from_bytes(data[pos : pos + 8], "little")
            pos += 8
        elif wire_type == FIXED32:
            value = int.from_bytes(data[pos : pos + 4], "little")
            pos += 4
        else:
            raise DecodeError(f"unknown wire type {wire_type}")
        if number == 0 or pos > size:
            raise DecodeError("message cut off or malformed")
        yield number, wire_type, value


def spans(data: bytes, *, is_head: bool = False) -> Iterator[tuple[int, int, int]]:
    """Yield ``(tag, start, end)`` of the value of each field of a serialized message.

    Args:
        data: The message.
        is_head: Whether it is the beginning of one, so that the last field may end behind it.

    Raises:
        DecodeError: The message is malformed.
    """
    pos, size = 0, len(data)
    while pos < size:
        tag, pos = read_varint(data, pos)
        start = pos
        wire_type = tag & 7
        if wire_type == VARINT:
            _, pos = read_varint(data, pos)
        elif wire_type == BYTES:
            length, start = read_varint(data, pos)
            pos = start + length
        elif wire_type == FIXED64:
            pos += 8
        elif wire_type == FIXED32:
            pos += 4
        else:
            raise DecodeError(f"unknown wire type {wire_type}")
        if tag < 8 or (pos > size and not is_head):
            raise DecodeError("message cut off or malformed")
        yield tag, start, pos


def signed(value: int) -> int:
    """Return a varint's value as the signed 64-bit integer that int32/int64 fields mean."""
    return value - (1 << 64) if value >= 1 << 63 else value


def to_double(bits: int) -> float:
    """Return the double whose bits a fixed64 field holds."""
    value: float = _DOUBLE.unpack(_FIXED64.pack(bits))[0]
    return value


def unpack_varints(data: bytes) -> list[int]:
    """Return the values of a packed repeated varint field, as signed integers."""
    values = []
    pos = 0
    while pos < len(data):
        value, pos = read_varint(data, pos)
        values.append(signed(value))
    return values


def unpack_doubles(data: bytes) -> list[float]:
    """Return the values of a packed repeated double field.

    Raises:
        DecodeError: The last one is cut off.
    """
    values: list[float] = []
    for pos in range(0, len(data), _PIECE):  # What stays in its file is bytes only in pieces.
        piece = data[pos : pos + _PIECE]
        if len(piece) % _DOUBLE.size:
            raise DecodeError("packed doubles cut off")
        values += [value for (value,) in _DOUBLE.iter_unpack(piece)]
    return values


def double_bytes(value: float) -> bytes:
    """Return the eight bytes of a double."""
    return _DOUBLE.pack(value)


def varint(value: int) -> bytes:
    """Return `value` (any signed or unsigned 64-bit integer) as a varint."""
    if 0 <= value < len(_ONE_BYTE):
        return _ONE_BYTE[value]
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@functools.cache
def tag(number: int, wire_type: int) -> bytes:
    """Return the tag that precedes a field's value."""
    return varint(number << 3 | wire_type)


def varint_field(number: int, value: int) -> bytes:
    """Return an int32/int64/bool/enum field."""
    return tag(number, VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a bytes, string or message field."""
    return tag(number, BYTES) + varint(len(value)) + value


def double_field(number: int, value: float) -> bytes:
    """Return a double field."""
    return tag(number, FIXED64) + _DOUBLE.pack(value)


def fixed64_field(number: int, value: int) -> bytes:
    """Return a fixed64 field."""
    return tag(number, FIXED64) + _FIXED64.pack(value)


def fixed32_field(number: int, value: int) -> bytes:
    """Return a fixed32 field."""
    return tag(number, FIXED32) + _FIXED32.pack(value)


def packed_varints_field(number: int, values: Iterable[int]) -> bytes:
    """Return a packed repeated varint field."""
    return bytes_field(number, b"".join([varint(value) for value in values]))
