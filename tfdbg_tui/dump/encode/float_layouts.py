"""Floating numbers as their bits, by which numpy compares many of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True)
class FloatLayout:
    """The bits of a floating type, as an unsigned integer of the same width.

    Attributes:
        unsigned: The type of that integer.
        infinity: The bits of +∞.
        smallest_counted: Magnitudes below it count as zero; see `summaries`.
    """

    unsigned: type
    infinity: int
    smallest_counted: int

    @cached_property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (8 * np.dtype(self.unsigned).itemsize - 1)

    @cached_property
    def magnitude(self) -> Any:
        """The mask of all bits but the sign."""
        return self.unsigned(self.sign - 1)


LAYOUTS = {
    "float16": FloatLayout(np.uint16, 0x7C00, 1),
    "bfloat16": FloatLayout(np.uint16, 0x7F80, 0x0080),
    "float32": FloatLayout(np.uint32, 0x7F800000, 0x00800000),
    "float64": FloatLayout(np.uint64, 0x7FF0000000000000, 0x0010000000000000),
}


def layout_of(dtype: Any) -> FloatLayout | None:
    """Return the layout of a type of numpy's; None where it has none here."""
    name: str = dtype.type.__name__  # that of the dtype itself takes longer than a small tensor
    return LAYOUTS.get(name)


def chunks(flat: Any, size: int) -> Iterator[Any]:
    """Return a vector in parts.

    Args:
        flat: The vector.
        size: How many elements a part has.
    """
    return (flat[start : start + size] for start in range(0, flat.size, size))
