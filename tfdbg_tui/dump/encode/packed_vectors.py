"""The value vector of one tensor, as the bytes of a record."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.dump.encode.summaries import HealthCounts

_CURT = struct.Struct("<2d")
_CONCISE = struct.Struct("<5d")
_FULL = struct.Struct("<11d")
_SHAPE = struct.Struct("<10d")


def padded_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the six dimensions of a SHAPE vector: the last six, zeros where there are fewer."""
    return shape[-6:] + (0,) * (6 - len(shape))


def curt_vector(tensor_id: int, *, bad: bool) -> bytes:
    """Return a CURT_HEALTH value vector: 2 little-endian doubles."""
    return _CURT.pack(tensor_id, bad)


def concise_vector(tensor_id: int, counts: HealthCounts) -> bytes:
    """Return a CONCISE_HEALTH value vector: 5 little-endian doubles."""
    return _CONCISE.pack(tensor_id, counts.size, counts.neg_inf, counts.pos_inf, counts.nan)


def full_vector(tensor_id: int, dtype: int, rank: int, counts: HealthCounts) -> bytes:
    """Return a FULL_HEALTH value vector: 11 little-endian doubles.

    Args:
        tensor_id: Id of the tensor.
        dtype: Its DataType number.
        rank: Number of its dimensions.
        counts: Its elements, by kind.
    """
    c = counts
    return _FULL.pack(
        tensor_id, -1, dtype, rank, c.size, c.neg_inf, c.pos_inf, c.nan, c.neg, c.zero, c.pos
    )


def shape_vector(tensor_id: int, dtype: int, shape: tuple[int, ...], size: int) -> bytes:
    """Return a SHAPE value vector: 10 little-endian doubles.

    Args:
        tensor_id: Id of the tensor.
        dtype: Its DataType number.
        shape: Length of each dimension, of which the last six are told.
        size: Number of its elements.
    """
    return _SHAPE.pack(tensor_id, dtype, len(shape), size, *padded_shape(shape))
