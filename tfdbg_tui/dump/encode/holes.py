"""Fills bytes into records that are encoded already, and keeps their checksums right.

CRC32C is linear over GF(2): the checksum of the filled record is that of the record with zeros,
exclusive-or one table entry for each byte filled in, which depends on the byte and on its distance
from the end only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import crc32c

UInt8Array = npt.NDArray[np.uint8]
UInt32Array = npt.NDArray[np.uint32]


class Holes:
    """Bytes to be filled into each of some records, which are zero so far.

    Args:
        places: Where they are, ``[records, bytes]``.
        ends: Where the checksummed part of each record ends.
    """

    def __init__(self, places: list[list[int]], ends: npt.NDArray[np.int64]) -> None:
        self.places = np.array(places, np.int64)
        # Records of the same length have the same layout, so most share a row.
        distances, layouts = np.unique(ends[:, None] - self.places - 1, axis=0, return_inverse=True)
        self._layouts = layouts.reshape(-1)
        self._distances = distances
        self._tables = crc32c.followed_by_zeros(int(distances.max(initial=0)))

    def filled(
        self, blob: UInt8Array, crcs: UInt32Array, numbers: npt.NDArray[np.float64]
    ) -> tuple[UInt8Array, UInt32Array]:
        """Return records with numbers in the holes, and the CRC32C of each.

        Args:
            blob: The records, ``[..., bytes]``.
            crcs: The CRC32C of each.
            numbers: Those of each, ``[..., records, numbers]``.
        """
        *executions, records, _ = numbers.shape
        data = np.ascontiguousarray(numbers, "<f8").view(np.uint8).reshape(*executions, records, -1)
        filled = np.empty((*executions, blob.shape[-1]), np.uint8)
        filled[:] = blob
        filled[..., self.places] = data
        return filled, crcs ^ self._crc_changes_each(data)

    def crc_changes(self, data: UInt8Array) -> UInt32Array:
        """Return what the same bytes in each record do to its CRC32C.

        Args:
            data: ``[..., bytes]``.

        Returns:
            ``[..., records]``.
        """
        # A zero byte's table entry is zero, so the zeros that were there cancel out.
        changes = np.bitwise_xor.reduce(self._tables[self._distances, data[..., None, :]], axis=-1)
        return np.asarray(changes[..., self._layouts], np.uint32)

    def _crc_changes_each(self, data: UInt8Array) -> UInt32Array:
        """Return what bytes do to the CRC32C of each record.

        Args:
            data: ``[..., records, bytes]``.
        """
        distances = self._distances[self._layouts]
        return np.asarray(np.bitwise_xor.reduce(self._tables[distances, data], axis=-1), np.uint32)


def with_checksums(
    blobs: UInt8Array, crcs: UInt32Array, places: npt.NDArray[np.int64]
) -> UInt8Array:
    """Return records with their checksums filled in.

    Args:
        blobs: The records, ``[..., bytes]``; they are changed.
        crcs: The CRC32C of each, ``[..., records]``.
        places: Where the checksum of each stands, ``[records, 4]``.
    """
    masked = crc32c.masked(crcs).astype("<u4")
    blobs[..., places] = masked[..., None].view(np.uint8)
    return blobs
