"""How large the numbers of each layer were in each step, forward and in gradients, and where bad.

Magnitudes come from the index; of the alerts only numbers that say in which step they are are read
from records, thousands at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.heat_rows import FORWARD, HeatRow, HeatRows
from tfdbg_tui.diagnosis.roots.alert_sites import alerts_of
from tfdbg_tui.logdir.index.output_place import OutputPlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats

    Flags = npt.NDArray[np.bool_]

SIDES = ("forward", "gradient")
"""What is told of each row; the sides of cells are numbers of these."""

_MOST = 0.75
"""Such a share of what is measured of eager code in other steps has to be, for a cell."""

_READ = 1 << 16  # records of alerts that are read together


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Some tensors, or the one that stands for all of a row, side and column; arrays of shape [n].

    Attributes:
        rows: The row of each.
        sides: Number of that among `SIDES`.
        columns: Where it is: the place of its step among all, or a bin of these.
        steps: The place of its step among all.
        largest: Its largest magnitude; NaN for what is bad, if that is not on record.
        bad: Whether it holds NaN or ∞.
        events: Index of its event: of an execution, what is below zero.
        slots: Which output it is.
    """

    rows: Int64Array
    sides: Int64Array
    columns: Int64Array
    steps: Int64Array
    largest: Floats
    bad: Flags
    events: Int64Array
    slots: Int64Array

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, which: npt.NDArray[Any]) -> Cells:
        """Return some of them."""
        return Cells(*(getattr(self, field.name)[which] for field in fields(self)))

    def event(self, number: int) -> TensorEvent:
        """Return a tensor."""
        index, slot = int(self.events[number]), int(self.slots[number])
        if index < 0:
            return TensorEvent("execution", -1 - index, slot)
        return TensorEvent("graph_execution", index, slot)

    def in_bins(self, bins: int, columns: int) -> Cells:
        """Return one of each row, side and bin: several columns in order are a bin.

        Args:
            bins: How many bins there are.
            columns: How many columns; not fewer.
        """
        return replace(self, columns=self.columns * bins // columns).merged()

    def merged(self) -> Cells:
        """Return one of each row, side and column: the first bad one, else the largest.

        They have to be in order of time, but for those of other columns.
        """
        count = len(self)
        if not count:
            return self
        size = np.where(self.bad, np.inf, self.largest)
        keys = (self.columns << 1 | self.sides) * (int(self.rows.max()) + 1) + self.rows
        order = np.argsort(keys)
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        group = np.repeat(np.arange(len(starts)), np.diff(starts, append=count))
        is_largest = size[order] == np.maximum.reduceat(size[order], starts)[group]
        firsts = np.minimum.reduceat(np.where(is_largest, order, count), starts)
        return self.some(firsts)


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """The rows that have numbers on record, and these.

    Attributes:
        rows: Layers in the order of the model, each with its variables, then functions.
        steps: The steps, ascending; empty where there are none, and one column holds all.
        cells: Of each row, side and step the tensor that is bad, or the largest one.  What is
            within a layer counts for it too.
        bad_outside: How many bad tensors are in no step, as far as is recorded, and not in cells.
        left_out: Whether some steps of eager rows have no cell, as too little of them is measured.
    """

    rows: tuple[HeatRow, ...]
    steps: Int64Array
    cells: Cells
    bad_outside: int
    left_out: bool

    def without_variables(self) -> Heat:
        """Return the same with layers and functions alone."""
        kept = np.array([row.variable is None for row in self.rows], bool)
        cells = self.cells.some(kept[self.cells.rows])
        cells.rows[:] = (np.cumsum(kept) - 1)[cells.rows]
        rows = tuple(row for row in self.rows if row.variable is None)
        return replace(self, rows=rows, cells=cells)

    def step_of(self, cells: Cells, number: int) -> int | None:
        """Return the step of one of some cells; None where there are no steps."""
        return int(self.steps[cells.steps[number]]) if len(self.steps) else None

    @property
    def num_sides(self) -> int:
        """How many sides any row has: there may be no gradients."""
        return int(self.cells.sides.max(initial=FORWARD)) + 1

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return max(1, len(self.steps))


def heat_of(run: Run, harmless: Sequence[AlertSite] = ()) -> Heat:
    """Return how large the numbers of each layer of a run were, and where they were bad.

    Args:
        run: The run.
        harmless: Places of alerts that are left out, as masks are bad in every step.
    """
    table = _Table(run)
    graph, eager = run.graph_executions.magnitudes(), run.executions.magnitudes()
    graph = graph.some(~table.rows.are_constants_or_counts(graph.places))
    parts = [
        table.of_sites(graph.rows, graph.places, graph.executions, graph.largest),
        table.of_places(eager.rows, eager.places, eager.largest),
        *_alerts(run, table, harmless),
    ]
    cells = _joined([part.merged() for part in parts]).merged()
    return table.heat(_within_layers(cells, table.rows.outer_rows()).merged())


def _alerts(run: Run, table: _Table, harmless: Sequence[AlertSite]) -> Iterator[Cells]:
    traces, executions = run.graph_executions, run.executions
    rows = np.delete(traces.alert_rows[:], alerts_of(run, "graph_execution", harmless))
    for start in range(0, len(rows), _READ):
        some = rows[start : start + _READ]
        caused = np.nan_to_num(traces.numbers(some)["execution"], nan=-1.0).astype(np.int64)
        yield table.of_sites(some, traces.site_ids.take(some), caused, None)
    left_out = alerts_of(run, "execution", harmless)
    rows, slots = (
        np.delete(column[:], left_out) for column in (executions.alert_rows, executions.alert_slots)
    )
    kinds, stacks = executions.kinds.take(rows), executions.stack_ids.take(rows)
    places = OutputPlace(kinds, stacks, slots).number
    yield table.of_places(rows, places, None)


class _Table:
    """Makes cells of tensors."""

    def __init__(self, run: Run) -> None:
        self._executions = run.executions
        self._steps = run.executions.steps
        self._bad_outside = 0
        self._left_out = False
        self.rows = HeatRows(run)

    def of_sites(
        self, rows: Int64Array, sites: Int64Array, executions: Int64Array, largest: Floats | None
    ) -> Cells:
        """Return cells of graph executions.

        Args:
            rows: Index of each; shape [n], as all.
            sites: Number of its site.
            executions: Index of the execution that caused it; -1 where that is not known.
            largest: Its largest magnitude; None where all are bad.
        """
        steps = np.full(len(rows), -1)
        known = executions >= 0
        steps[known] = self._steps.numbers_of(executions[known])
        row, side, slot = self.rows.of_sites(sites)
        return self._cells(row, side, steps, largest, rows, slot)

    def of_places(self, rows: Int64Array, places: Int64Array, largest: Floats | None) -> Cells:
        """Return cells of outputs of executions; see `of_sites`, and `OutputPlace`."""
        row, side = self.rows.of_places(rows, places)
        place = OutputPlace.of(places)
        steps, slots = self._steps.numbers_of(rows), place.slot
        if largest is None or not len(self._steps):
            return self._cells(row, side, steps, largest, -1 - rows, slots)
        alike = place._replace(kind=self._first_of_op_type(place.kind)).number
        whole = _measured_as_usual(row << 1 | side, steps, alike)
        self._left_out |= bool((steps[~whole] >= 0).any())
        some = row[whole], side[whole], steps[whole], largest[whole]
        return self._cells(*some, -1 - rows[whole], slots[whole])

    def _first_of_op_type(self, kinds: Int64Array) -> Int64Array:
        """Return for each kind of executions one of the same op: bad ones are in another mode."""
        numbers, which = np.unique(kinds, return_inverse=True)
        first: dict[str, int] = {}
        found = [
            first.setdefault(self._executions.distinct_kinds[number].op_type, number)
            for number in numbers.tolist()
        ]
        return np.array(found, np.int64)[which]

    def _cells(
        self,
        rows: Int64Array,
        sides: Int64Array,
        steps: Int64Array,
        largest: Floats | None,
        events: Int64Array,
        slots: Int64Array,
    ) -> Cells:
        bad = np.full(len(rows), largest is None)
        numbers = np.full(len(rows), np.nan) if largest is None else largest
        columns = np.searchsorted(self._steps.numbers, steps)
        found = Cells(rows, sides, columns, columns, numbers, bad, events, slots)
        if not len(self._steps):
            return found
        self._bad_outside += int(np.count_nonzero(bad & (steps < 0)))
        return found if (steps >= 0).all() else found.some(steps >= 0)

    def heat(self, cells: Cells) -> Heat:
        """Return the rows that have cells, numbered anew."""
        numbers, which = np.unique(cells.rows, return_inverse=True)
        cells.rows[:] = which.reshape(-1)
        names = self.rows.rows
        rows = tuple(names[n] for n in numbers.tolist())
        return Heat(rows, self._steps.numbers, cells, self._bad_outside, self._left_out)


def _measured_as_usual(strips: Int64Array, steps: Int64Array, places: Int64Array) -> Flags:
    """Return which eager tensors are of steps in which most of their strip is measured.

    Of a line that is executed several times in a step other steps are measured than of the rest:
    what stood for these steps would be another tensor than for the steps beside them.

    Args:
        strips: The row and side of each tensor; shape [n], as all.
        steps: Its step.
        places: The number of its `OutputPlace`.
    """
    kept = np.zeros(len(strips), bool)
    for strip in np.unique(strips).tolist():
        mine = np.flatnonzero((strips == strip) & (steps >= 0))
        if not mine.size:
            continue
        found = np.unique(np.stack([steps[mine], places[mine]]), axis=1)
        numbers, counts = np.unique(found[0], return_counts=True)
        usual = _usual(counts)
        of_usual = np.isin(found[0], numbers[counts == usual])
        of_strip = np.isin(found[1], found[1][of_usual])
        in_step = np.bincount(np.searchsorted(numbers, found[0]), of_strip)
        whole = numbers[in_step >= _MOST * usual]
        kept[mine] = np.isin(steps[mine], whole)
    return kept


def _usual(counts: Int64Array) -> int:
    """Return how many tensors are measured in many steps: few in some, or many in one, are not.

    Args:
        counts: How many are measured in each step.
    """
    times = np.bincount(counts)
    several = np.where(times > 1, times, 0) if (times > 1).any() else times
    return int(np.argmax(several * np.arange(len(times))))


def _within_layers(cells: Cells, outer_rows: dict[int, list[int]]) -> Cells:
    """Return cells with those of inner layers among those of the layers around them."""
    parts = [cells]
    for number in np.unique(cells.rows).tolist():
        mine = np.flatnonzero(cells.rows == number)
        for outer in outer_rows.get(number, ()):
            copy = cells.some(mine)
            copy.rows[:] = outer
            parts.append(copy)
    return _joined(parts)


def _joined(parts: list[Cells]) -> Cells:
    """Return cells together, in order of time; executions after graphs, which they have run."""
    found = Cells(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Cells))
    )
    return found.some(np.lexsort((np.abs(found.events), found.events < 0)))
