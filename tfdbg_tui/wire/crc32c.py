"""CRC32C (Castagnoli), the checksum of TFRecord framing.

Polynomial 0x1EDC6F41 reflected (0x82F63B78), RFC 3720 section B.4.  The mask is TensorFlow's
(tensorflow/core/lib/hash/crc32c.h): checksums that are themselves stored next to checksummed
data would otherwise produce degenerate CRCs.

A CRC that starts from zero is linear: the CRC of a message is the exclusive or of those of its
bytes, each followed by as many zeros as bytes follow it.  Long messages are therefore summed in
rows, and the lengths of many records are checked, with a few numpy look-ups.  And what
is added to a message changes nothing if the polynomial divides it: `_FOLD`, times whatever is at
the front of the message, makes that zero.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ROW = 256
_FOLD = (6777, 484, 100, 0)
"""In bytes, the terms of a multiple of the polynomial that has few: with y = x**8, it divides
y**6777 + y**484 + y**100 + 1.  So it does if all are doubled, as squaring does that."""
LEAVES_ONES = bytes.fromhex("54641f64")
"""A message whose `remainder` is all ones: what other CRCs start from."""
_LARGEST_FOLD = 5  # doublings: what is moved at once, 200 kB, stays in a processor's cache
_SHORT = 192  # below it, one step a byte is faster than setting up numpy


def _make_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


TABLE = _make_table()


def crc32c(data: bytes | bytearray | memoryview) -> int:
    """Return the CRC32C of `data` as an unsigned 32-bit integer."""
    return crc32c_of_pieces((data,))


def crc32c_of_pieces(pieces: Iterable[bytes | bytearray | memoryview]) -> int:
    """Return the CRC32C of data that comes in pieces."""
    crc = 0xFFFFFFFF
    for piece in pieces:
        crc = _continued(crc, piece)
    return crc ^ 0xFFFFFFFF


def mask(crc: int) -> int:
    """Return TensorFlow's masked form of a CRC: rotated right by 15 bits plus a constant."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the masked form of some CRCs; see `mask`."""
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    added: npt.NDArray[np.uint32] = rotated + np.uint32(_MASK_DELTA)
    return added


def unmasked(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the CRCs that some masked ones are of."""
    rotated = crcs - np.uint32(_MASK_DELTA)
    plain: npt.NDArray[np.uint32] = (rotated >> np.uint32(17)) | (rotated << np.uint32(15))
    return plain


def masked_crc32c(data: bytes | bytearray | memoryview) -> int:
    """Return the masked CRC32C of `data`, as TFRecord files store it."""
    return mask(crc32c(data))


def masked_crc32c_of_lengths(lengths: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Return the masked CRC32C of each length as the 8 bytes that begin its record.

    Args:
        lengths: Any shape, ``<u8``.
    """
    tables = followed_by_zeros(7)
    crc = np.full(lengths.shape, crc32c(bytes(8)), np.uint32)
    for place in range(8):
        byte = (lengths >> np.uint64(8 * place)) & np.uint64(0xFF)
        if place and not byte.any():
            continue  # nearly always: records are short
        crc ^= tables[7 - place][byte.astype(np.intp)]
    return masked(crc)


def followed_by_zeros(most: int) -> npt.NDArray[np.uint32]:
    """Return the linear CRC of each byte, followed by each number of zero bytes.

    Args:
        most: The largest number of zero bytes that is asked for.

    Returns:
        By the number of zero bytes and the byte: shape [most + 1 or more, 256].
    """
    return _followed_by_zeros(-(-(most + 1) // _ROW) * _ROW)


@functools.cache
def _followed_by_zeros(count: int) -> npt.NDArray[np.uint32]:
    table = np.array(TABLE, np.uint32)
    rows = np.empty((count, 256), np.uint32)
    rows[0] = table
    for k in range(1, count):
        rows[k] = table[rows[k - 1] & 0xFF] ^ (rows[k - 1] >> np.uint32(8))
    return rows


@functools.cache
def _row_tables() -> tuple[npt.NDArray[Any], tuple[list[int], ...]]:
    """Return (index of each byte's table in a row, tables that move a CRC past a row).

    A CRC acts on what follows like a message's bytes do: it is exclusive-ored into the first four.
    """
    rows = followed_by_zeros(_ROW - 1)
    places = (np.arange(_ROW - 1, -1, -1) * 256).astype(np.intp)
    return places, tuple(rows[_ROW - 1 - k].tolist() for k in range(4))


def remainder(message: npt.NDArray[np.uint8]) -> int:
    """Return the CRC of a message that starts from zero and is not inverted at the end.

    It is 0 of what has all its checksums where they belong.

    Args:
        message: Any number of bytes, which are overwritten.
    """
    places, (move0, move1, move2, move3) = _row_tables()
    left = _folded(message)
    count = -(-len(left) // _ROW)
    padded = np.zeros(count * _ROW, np.uint8)  # zeros in front do not change it
    padded[padded.size - len(left) :] = left
    flat = followed_by_zeros(_ROW - 1).reshape(-1)
    crc = 0
    for row in np.bitwise_xor.reduce(flat[padded.reshape(-1, _ROW) + places], axis=1).tolist():
        crc = (
            row
            ^ move0[crc & 0xFF]
            ^ move1[crc >> 8 & 0xFF]
            ^ move2[crc >> 16 & 0xFF]
            ^ move3[crc >> 24]
        )
    return crc


def _folded(message: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a few thousand bytes with the same `remainder` as a message, which is overwritten.

    What is at the front goes, exclusive-ored into what is `_FOLD` further behind.
    """
    front = 0
    for power in (1 << shift for shift in range(_LARGEST_FOLD, -1, -1)):
        degree, *others = (power * degree for degree in _FOLD)
        moves = [degree - other for other in others]
        while (excess := len(message) - front - degree) > 0:
            size = min(excess, *moves)
            head = message[front : front + size]
            for move in moves:
                message[front + move : front + move + size] ^= head
            front += size
    return message[front:]


def _continued(crc: int, data: bytes | bytearray | memoryview) -> int:
    """Return what a CRC becomes, before it is inverted at the end, by more data."""
    if len(data) >= _SHORT:
        message = np.frombuffer(data, np.uint8).copy()
        message[:4] ^= np.frombuffer(crc.to_bytes(4, "little"), np.uint8)
        return remainder(message)
    table = TABLE
    for byte in bytes(data):
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc
