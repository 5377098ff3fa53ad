"""TFRecord framing: how records follow each other in a tfdbg2 file.

A record is ``u64 length | u32 masked CRC32C of the length | payload | u32 masked CRC32C of the
payload``, little-endian, without compression (tensorflow/core/lib/io/record_writer.h).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tfdbg_tui.wire.crc32c import masked_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER_SIZE = 12
FOOTER_SIZE = 4
FRAME_SIZE = HEADER_SIZE + FOOTER_SIZE

WRONG_CHECKSUM = "the payload does not match its checksum"

_LENGTH = struct.Struct("<Q")
_HEADER = struct.Struct("<QI")
_CRC = struct.Struct("<I")


class CorruptRecordError(ValueError):
    """A record whose frame contradicts its checksum.

    Attributes:
        offset: Byte offset of the record in the buffer it was read from.
    """

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(f"corrupt record at byte {offset:,}: {what}")
        self.offset = offset


def frame(payload: bytes) -> bytes:
    """Return `payload` as one TFRecord."""
    header = _LENGTH.pack(len(payload))
    return b"".join(
        (header, _CRC.pack(masked_crc32c(header)), payload, _CRC.pack(masked_crc32c(payload)))
    )


def record_end(buffer: bytes | bytearray | memoryview, offset: int) -> int | None:
    """Return where the record at `offset` ends, or None where it is torn.

    A torn record is one of which the writer has flushed only a part; more bytes may still come.

    Raises:
        CorruptRecordError: The length does not match its checksum, so nothing after `offset`
            can be located by walking.
    """
    if len(buffer) - offset < HEADER_SIZE:
        return None
    length, crc = _HEADER.unpack_from(buffer, offset)
    if crc != masked_crc32c(buffer[offset : offset + 8]):
        raise CorruptRecordError(offset, "the length does not match its checksum")
    end: int = offset + FRAME_SIZE + length
    return end if end <= len(buffer) else None


def verify(buffer: bytes | bytearray | memoryview, offset: int, end: int) -> None:
    """Check the payload of a record against its checksum.

    Args:
        buffer: The bytes of a file.
        offset: Where the record begins.
        end: Where the next one does.

    Raises:
        CorruptRecordError: The payload does not match.
    """
    (crc,) = _CRC.unpack_from(buffer, end - FOOTER_SIZE)
    if crc != masked_crc32c(buffer[offset + HEADER_SIZE : end - FOOTER_SIZE]):
        raise CorruptRecordError(offset, WRONG_CHECKSUM)


def records(buffer: bytes, start: int = 0, *, check: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield ``(offset, payload)`` of every whole record from `start`; stop at a torn one.

    Args:
        buffer: The bytes of a file, or of its beginning.
        start: Offset of the first record.
        check: Whether to verify each payload's checksum too (slow: about 50 ns a byte).

    Raises:
        CorruptRecordError: See `record_end` and `verify`.
    """
    offset = start
    while (end := record_end(buffer, offset)) is not None:
        if check:
            verify(buffer, offset, end)
        yield offset, buffer[offset + HEADER_SIZE : end - FOOTER_SIZE]
        offset = end
