"""The cells of a heat, in as many as there is room for: what is where, and how one moves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Heat, TensorEvent


class GridPlace(NamedTuple):
    """A place in the grid.

    Attributes:
        row: Which row.
        side: Number of that among `SIDES`.
        bin: Which cell of the strip.
    """

    row: int
    side: int
    bin: int


class HeatCell(NamedTuple):
    """What is at a place.

    Attributes:
        event: The tensor that is bad, or else the largest one.
        is_bad: Whether it holds NaN or ∞.
        largest: The largest magnitude of a finite element; NaN where it is not on record.
        step: Its step; None where there are no steps.
    """

    event: TensorEvent
    is_bad: bool
    largest: float
    step: int | None


class HeatGrid:
    """Rows of two strips of cells; one strip where there are no gradients.

    Args:
        heat: What is shown.
        room: How many cells there are for all strips of a row.

    Attributes:
        heat: What is shown.
        sides: How many strips there are.
        bins: How many cells a strip has; each stands for one step or several.
        range: From where to where the scale goes; what is beyond is drawn as its end.
        largest: The largest magnitude of each row and side in all steps; NaN where none is known.
    """

    def __init__(self, heat: Heat, room: int) -> None:
        self.heat = heat
        self.sides = heat.num_sides
        self.bins = max(1, min(heat.num_columns, room // self.sides))
        self._cells = heat.cells.in_bins(self.bins, heat.num_columns)
        self._numbers = np.full((len(heat.rows), self.sides, self.bins), -1)
        at = self._cells.rows, self._cells.sides, self._cells.columns
        self._numbers[at] = np.arange(len(self._cells))
        self.range = self._range()
        self.largest = np.full((len(heat.rows), self.sides), np.nan)
        np.fmax.at(self.largest, (heat.cells.rows, heat.cells.sides), heat.cells.largest)

    def _range(self) -> tuple[float, float]:
        """Return the smallest and the largest magnitude of layers, or, without any, of all rows."""
        cells = self.heat.cells
        is_layer = np.array([row.layer is not None for row in self.heat.rows])
        rows = is_layer[cells.rows] if is_layer.any() else np.ones(len(cells), bool)
        known = cells.largest[rows & (cells.largest > 0)]
        return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)

    @property
    def has_zero(self) -> bool:
        """Whether any cell stands for numbers that are all 0."""
        return bool((self._cells.largest == 0).any())

    def cell(self, place: GridPlace) -> HeatCell | None:
        """Return what is at a place; None where nothing is on record."""
        number = int(self._numbers[place])
        if number < 0:
            return None
        cells = self._cells
        return HeatCell(
            cells.event(number),
            bool(cells.bad[number]),
            float(cells.largest[number]),
            self.heat.step_of(cells, number),
        )

    def largest_in_same_step(self, place: GridPlace, side: int) -> float | None:
        """Return the largest magnitude on a side of a row, in the step that a place's cell is of.

        Args:
            place: A place; where it stands for several steps, its cell is of one of them.
            side: Number of the side.

        Returns:
            The magnitude; None where it is bad, or not on record.
        """
        number = int(self._numbers[place])
        if number < 0:
            return None
        cells, step = self.heat.cells, self._cells.steps[number]
        is_it = (cells.rows == place.row) & (cells.sides == side) & (cells.steps == step)
        found = np.flatnonzero(is_it & ~cells.bad)
        return float(cells.largest[found[0]]) if found.size else None

    def nearest_cell(self, place: GridPlace) -> HeatCell | None:
        """Return what is at a place, or else nearest to it in its strip; None in an empty one."""
        known = np.flatnonzero(self._numbers[place.row, place.side] >= 0)
        if not known.size:
            return None
        nearest = int(known[np.abs(known - place.bin).argmin()])
        return self.cell(place._replace(bin=nearest))

    def step_at(self, place: GridPlace) -> int | None:
        """Return the step that a place stands for, the first of several; None without steps."""
        cell = self.cell(place)
        if cell is not None or not len(self.heat.steps):
            return cell.step if cell else None
        return int(self.heat.steps[self._first_column(place.bin)])

    def steps_at(self, place: GridPlace) -> tuple[int, int] | None:
        """Return the first and the last step that a place stands for; None without steps."""
        if not len(self.heat.steps):
            return None
        end = self._first_column(place.bin + 1)
        return int(self.heat.steps[self._first_column(place.bin)]), int(self.heat.steps[end - 1])

    def _first_column(self, number: int) -> int:
        """Return the first of the columns that a bin stands for."""
        return -(-number * self.heat.num_columns // self.bins)

    def bin_of(self, step: int) -> int:
        """Return the bin that a step is in, or, where it is not there, the next one."""
        column = int(np.searchsorted(self.heat.steps, step))
        return column * self.bins // self.heat.num_columns

    def level(self, largest: float, levels: int) -> int:
        """Return the level of a magnitude, from 0, on the logarithmic scale."""
        low, high = self.range
        if largest <= low:
            return 0
        if largest >= high:
            return levels - 1
        share = math.log(largest / low) / math.log(high / low)
        return min(levels - 1, int(share * levels))

    def within(self, place: tuple[int, int, int]) -> GridPlace:
        """Return the nearest place that there is."""
        most = np.array(self._numbers.shape) - 1
        return GridPlace(*np.clip(place, 0, np.maximum(most, 0)).tolist())

    def moved(self, place: GridPlace, rows: int, bins: int) -> GridPlace:
        """Return another place; behind the last cell of a strip is the first one of the next.

        Args:
            place: Where one is.
            rows: How many rows further down.
            bins: How many cells further to the right.
        """
        last = self.sides * self.bins - 1
        at = min(max(0, place.side * self.bins + place.bin + bins), last)
        return self.within((place.row + rows, *divmod(at, self.bins)))

    def next_bad(self, place: GridPlace, direction: int) -> GridPlace:
        """Return the next bad place in order of time, or the one before; the same at the end."""
        bad = sorted(self._bad(), key=_in_time)
        here = _in_time(place)
        if direction > 0:
            return next((other for other in bad if _in_time(other) > here), place)
        return next((other for other in reversed(bad) if _in_time(other) < here), place)

    def first_bad(self) -> GridPlace | None:
        """Return where the tensor is that was bad first, in the innermost layer.

        Executions come last in their step: they take what graphs have made.
        """
        cells = self._cells
        bad = np.flatnonzero(cells.bad)
        if not bad.size:
            return None
        depths = np.array([row.depth for row in self.heat.rows])[cells.rows[bad]]
        events, columns = cells.events[bad], cells.columns[bad]
        first = bad[np.lexsort((-depths, np.abs(events), events < 0, columns))[0]]
        return self._place(int(first))

    def _bad(self) -> list[GridPlace]:
        return [self._place(number) for number in np.flatnonzero(self._cells.bad).tolist()]

    def _place(self, number: int) -> GridPlace:
        cells = self._cells
        return GridPlace(*(int(axis[number]) for axis in (cells.rows, cells.sides, cells.columns)))


def _in_time(place: GridPlace) -> tuple[int, int, int]:
    return place.bin, place.side, place.row
