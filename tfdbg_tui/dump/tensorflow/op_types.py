"""Types of eager ops: TensorFlow has them in str, and on its slower paths in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def in_both(names: Iterable[str]) -> frozenset[str | bytes]:
    """Return types of ops in str and in bytes, so that none has to be decoded to be looked up."""
    known = tuple(names)
    return frozenset((*known, *map(str.encode, known)))


def text(op_type: str | bytes) -> str:
    """Return the type of an op in str."""
    return op_type.decode() if isinstance(op_type, bytes) else op_type
