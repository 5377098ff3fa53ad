"""CRC32C (Castagnoli), the checksum of TFRecord framing.

Polynomial 0x1EDC6F41 reflected (0x82F63B78), RFC 3720 section B.4.  The mask is TensorFlow's
(tensorflow/core/lib/hash/crc32c.h): checksums that are themselves stored next to checksummed
data would otherwise produce degenerate CRCs.
"""

from __future__ import annotations

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8


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
