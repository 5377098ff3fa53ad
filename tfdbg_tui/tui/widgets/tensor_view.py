"""A part of a tensor laid out as a table: which element stands in which row and column."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_PART = re.compile(r"(-?\d*)(?::(-?\d*)(?::(-?\d*))?)?")
_BINS = 16


@dataclass(frozen=True)
class TensorView:
    """A part of a tensor, and the element that is looked at.

    Its last two dimensions are rows and columns; those before say which table it is.  A vector is
    wrapped, so that each row holds as many elements as there is room for.

    Attributes:
        elements: The part.
        indices: For each dimension of the whole tensor, the indices that the part has of it; a
            single one, as an int, where the part has no such dimension.
        wrap: How many elements of a vector stand in a row.
        position: Which element is looked at, counted in order of the part.
    """

    elements: npt.NDArray[Any]
    indices: tuple[range | int, ...]
    wrap: int = 1
    position: int = 0

    @classmethod
    def of(cls, tensor: npt.NDArray[Any]) -> TensorView:
        """Return the view of a whole tensor."""
        return cls(tensor, tuple(map(range, tensor.shape)))

    def part(self, text: str) -> TensorView:
        """Return the part of a whole tensor that numpy's slices select, as in ``0, ..., 3:8``.

        Raises:
            ValueError: They are none, or the tensor has no such part; the message says why.
        """
        asked = [word.strip() for word in text.strip().strip("[]").split(",")]
        given = len(asked) - ("..." in asked)
        if given > self.elements.ndim:
            raise ValueError(f"{given} slices, but the tensor has {self.elements.ndim} axes")
        if "..." in asked:  # all the axes that are not told
            at = asked.index("...")
            asked[at : at + 1] = [":"] * (self.elements.ndim - given)
        slices = [
            _slice(word, size) for word, size in zip(asked, self.elements.shape, strict=False)
        ]
        slices += [slice(None)] * (self.elements.ndim - len(slices))
        kept = tuple(
            range(size)[chosen] for size, chosen in zip(self.elements.shape, slices, strict=True)
        )
        return TensorView(self.elements[tuple(slices)], kept, self.wrap)

    # ---- The table

    @property
    def columns(self) -> int:
        """Number of columns; one, where there are no elements."""
        if self.elements.ndim < 2:
            return max(1, min(self.wrap, self.elements.size))
        return max(1, int(self.elements.shape[-1]))

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        if self.elements.ndim < 2:
            return math.ceil(self.elements.size / self.columns)
        return int(self.elements.shape[-2]) if self.elements.size else 0

    @property
    def tables(self) -> int:
        """Number of tables: of combinations of the dimensions before the last two."""
        return math.prod(self.elements.shape[:-2])

    @property
    def place(self) -> tuple[int, int, int]:
        """Table, row and column of the element that is looked at."""
        table, rest = divmod(self.position, max(1, self.rows * self.columns))
        return (table, *divmod(rest, self.columns))

    def at(self, row: int, column: int) -> Any:
        """Return an element of the table that is looked at; None beyond the end of a vector."""
        position = (self.place[0] * self.rows + row) * self.columns + column
        return self._flat[position] if position < self.elements.size else None

    def index(self, position: int) -> tuple[int, ...]:
        """Return the index, in the whole tensor, of an element of the part."""
        inside = iter(np.unravel_index(position, self.elements.shape))
        return tuple(
            axis if isinstance(axis, int) else axis[int(next(inside))] for axis in self.indices
        )

    def moved(self, rows: int = 0, columns: int = 0, tables: int = 0) -> TensorView:
        """Return the view of another element, not beyond the edges of the table or the part.

        Args:
            rows: How many rows down.
            columns: How many columns to the right.
            tables: How many tables on.
        """
        table, row, column = self.place
        table = min(max(0, table + tables), self.tables - 1)
        row = min(max(0, row + rows), self.rows - 1)
        column = min(max(0, column + columns), self.columns - 1)
        position = (table * self.rows + row) * self.columns + column
        return replace(self, position=max(0, min(position, self.elements.size - 1)))

    # ---- NaN and infinity

    @cached_property
    def bad(self) -> npt.NDArray[np.int64]:
        """Positions of the elements that are NaN or infinite, ascending."""
        if not np.issubdtype(self.elements.dtype, np.inexact):
            return np.zeros(0, np.int64)
        return np.flatnonzero(~np.isfinite(self._flat))

    def at_first_bad(self) -> TensorView:
        """Return the view of the first bad element, or this one where there is none."""
        return replace(self, position=int(self.bad[0])) if len(self.bad) else self

    def to_bad(self, step: int) -> TensorView:
        """Return the view of the next bad element, or with -1 the one before; around the end."""
        if not len(self.bad):
            return self
        if step > 0:
            found = int(np.searchsorted(self.bad, self.position, "right"))
        else:
            found = int(np.searchsorted(self.bad, self.position, "left")) - 1
        return replace(self, position=int(self.bad[found % len(self.bad)]))

    def histogram(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return how many finite elements there are in ranges of equal width, and their edges.

        All are in one where too few numbers lie between the smallest and the largest.
        """
        if self.elements.dtype.kind not in "biuf":
            return np.zeros(0, np.int64), np.zeros(0)
        numbers = self._flat.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            return np.zeros(0, np.int64), np.zeros(0)
        scale = 0.25  # float64's whole range is wider than float64 holds
        low, high = finite.min(), finite.max()
        edges = np.linspace(low * scale, high * scale, _BINS + 1) / scale
        edges[0], edges[-1] = low, high
        if (edges[:-1] >= edges[1:]).any():
            edges = np.array([low, high])
        return np.histogram(finite, edges)

    @cached_property
    def _flat(self) -> npt.NDArray[Any]:
        return self.elements.reshape(-1)


def _slice(text: str, size: int) -> int | slice:
    """Return what one of numpy's slices selects of a dimension of some size."""
    match = _PART.fullmatch(text)
    if match is None or not text:
        raise ValueError(f"{text or 'nothing'} is no index and no slice: 3, 2:8, :, ::2, ...")
    if ":" not in text:
        index = int(text) + (size if text.startswith("-") else 0)
        if not 0 <= index < size:
            raise ValueError(f"index {text} is out of range: the axis has {size:,} elements")
        return index
    start, stop, step = (int(part) if part else None for part in match.groups())
    if step == 0:
        raise ValueError("a slice goes on by 1 or more, or backwards by -1 or less")
    return slice(start, stop, step)
