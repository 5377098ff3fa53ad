"""CRC32C (Castagnoli), the checksum of TFRecord framing.

Polynomial 0x1EDC6F41 reflected (0x82F63B78), RFC 3720 section B.4.  The mask is TensorFlow's
(tensorflow/core/lib/hash/crc32c.h): checksums that are themselves stored next to checksummed
data would otherwise produce degenerate CRCs.

A CRC that starts from zero is linear: the CRC of a message is the exclusive or of those of its
bytes, each followed by as many zeros as bytes follow it.  Long messages are therefore summed in
rows, and the lengths and payloads of many records are checked, with a few numpy look-ups.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ROW = 256
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
    if len(data) >= _SHORT:
        return _crc32c_of_rows(data)
    table = TABLE
    crc = 0xFFFFFFFF
    for byte in bytes(data):
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def mask(crc: int) -> int:
    """Return TensorFlow's masked form of a CRC: rotated right by 15 bits plus a constant."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: bytes | bytearray | memoryview) -> int:
    """Return the masked CRC32C of `data`, as TFRecord files store it."""
    return mask(crc32c(data))


def masked_crc32c_of_lengths(lengths: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Return the masked CRC32C of each length as the 8 bytes that begin its record.

    Args:
        lengths: Any shape, ``<u8``.
    """
    tables = _followed_by_zeros()
    crc = np.full(lengths.shape, crc32c(bytes(8)), np.uint32)
    for place in range(8):
        byte = (lengths >> np.uint64(8 * place)) & np.uint64(0xFF)
        if place and not byte.any():
            continue  # nearly always: records are short
        crc ^= tables[7 - place][byte.astype(np.intp)]
    return _masked(crc)


def masked_crc32c_of_each(
    data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Return the masked CRC32C of each of many messages, of a few hundred bytes at most.

    They are summed together, row by row from the front; the last row ends with the message.

    Args:
        data: What the messages lie in.
        starts: Where each begins, shape [n].
        ends: Where each ends, shape [n].
    """
    columns = np.arange(_ROW)
    tables = _followed_by_zeros()[::-1].reshape(-1)
    padded = np.concatenate((np.zeros(_ROW, np.uint8), data[: ends.max(initial=0)]))
    windows = np.lib.stride_tricks.sliding_window_view(padded, _ROW)
    crcs = np.full(len(starts), 0xFFFFFFFF, np.uint32)
    for behind in range(int((ends - starts - 1).max(initial=-1)) // _ROW, -1, -1):
        left = ends - starts - behind * _ROW
        rows = np.flatnonzero(left > 0)
        sizes = np.minimum(left[rows], _ROW)
        part = windows[ends[rows] - behind * _ROW]
        part[columns < (_ROW - sizes)[:, None]] = 0  # what stands before the message
        before = np.where(
            left[rows] > _ROW, _past_a_row(crcs[rows]), _ones_followed_by_zeros()[sizes]
        )
        crcs[rows] = before ^ np.bitwise_xor.reduce(tables[columns * 256 + part], axis=1)
    return _masked(~crcs)


def _past_a_row(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return what becomes of CRCs in `_ROW` bytes that are zero."""
    tables = _followed_by_zeros()[::-1]
    parts = [tables[byte][crcs >> np.uint32(8 * byte) & np.uint32(0xFF)] for byte in range(4)]
    moved: npt.NDArray[np.uint32] = np.bitwise_xor.reduce(parts)
    return moved


def _masked(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    masked: npt.NDArray[np.uint32] = rotated + np.uint32(_MASK_DELTA)
    return masked


@functools.cache
def _ones_followed_by_zeros() -> npt.NDArray[np.uint32]:
    """Return what becomes of a CRC of all ones in 0 to `_ROW` bytes that are zero."""
    crcs = [0xFFFFFFFF]
    for _ in range(_ROW):
        crcs.append(TABLE[crcs[-1] & 0xFF] ^ crcs[-1] >> 8)
    return np.array(crcs, np.uint32)


@functools.cache
def _followed_by_zeros() -> npt.NDArray[np.uint32]:
    """Return, for k zero bytes and each byte, the linear CRC of the byte followed by them.

    Shape [_ROW, 256].
    """
    table = np.array(TABLE, np.uint32)
    rows = np.empty((_ROW, 256), np.uint32)
    rows[0] = table
    for k in range(1, len(rows)):
        rows[k] = table[rows[k - 1] & 0xFF] ^ (rows[k - 1] >> np.uint32(8))
    return rows


@functools.cache
def _row_tables() -> tuple[npt.NDArray[Any], tuple[list[int], ...]]:
    """Return (index of each byte's table in a row, tables that move a CRC past a row).

    A CRC acts on what follows like a message's bytes do: it is exclusive-ored into the first four.
    """
    rows = _followed_by_zeros()
    places = (np.arange(_ROW - 1, -1, -1) * 256).astype(np.intp)
    return places, tuple(rows[_ROW - 1 - k].tolist() for k in range(4))


def _crc32c_of_rows(data: bytes | bytearray | memoryview) -> int:
    places, (move0, move1, move2, move3) = _row_tables()
    count = -(-len(data) // _ROW)
    # Zeros in front do not change a linear CRC; starting from ones inverts the first four bytes.
    padded = np.zeros(count * _ROW, np.uint8)
    padded[padded.size - len(data) :] = np.frombuffer(data, np.uint8)
    padded[padded.size - len(data) :][:4] ^= 0xFF
    flat = _followed_by_zeros().reshape(-1)
    crc = 0
    for first in range(0, count, 1 << 12):  # a megabyte at a time keeps the temporaries small
        part = padded[first * _ROW : (first + (1 << 12)) * _ROW].reshape(-1, _ROW)
        for row in np.bitwise_xor.reduce(flat[part + places], axis=1).tolist():
            crc = (
                row
                ^ move0[crc & 0xFF]
                ^ move1[crc >> 8 & 0xFF]
                ^ move2[crc >> 16 & 0xFF]
                ^ move3[crc >> 24]
            )
    return crc ^ 0xFFFFFFFF
