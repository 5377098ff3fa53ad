"""The rows of Layers: a strip of cells forward, one for gradients, and what the row is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from tfdbg_tui.diagnosis import (
    SIDES,
    TensorEvent,
    batch_text,
    breadcrumb,
    computed_in_step,
    counts_text,
    output_of,
)
from tfdbg_tui.logdir.text import counted
from tfdbg_tui.tui.screens.heat_grid import GridPlace, HeatGrid
from tfdbg_tui.tui.widgets.cells import in_lines
from tfdbg_tui.tui.widgets.names import least_width, shortened
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow, VirtualList
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from tfdbg_tui.diagnosis import Heat, HeatRow
    from tfdbg_tui.logdir import Layer, Run
    from tfdbg_tui.tui.screens.heat_grid import HeatCell
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_OF_VARIABLE = "weight", "update"
"""What the sides of a variable are."""
_STYLES = ("number", "number", "good", "good", "match", "match", "key", "key")
"""Of the levels from low to high, so that a colour stands for two or three of them."""
_ZERO = "0", "strong"
"""What stands for numbers that are all 0, as of what is dead; no level is as low."""
_WIDEST = 4  # cells of a step
_NAME = 16, 40  # cells of a name: at least, at most
_GAP = 2  # cells between columns
_LARGEST = 12  # cells of a number, below its title
_CLASS = 30  # cells of the class of a layer and its type, at most
_TALL = 10  # lines: with less there is no room for explanations

_NOTHING = "Neither magnitudes nor bad tensors are on record"
_HAS_BOTH = "; ADAPTIVE records both"


class HeatStrips(VirtualList):
    """A row for each layer and function, with a strip of cells forward and one for gradients.

    Args:
        charset: The characters to draw with.
    """

    def __init__(self, charset: Charset) -> None:
        super().__init__(charset, id="layers")
        self._snapshot: Snapshot | None = None
        self._whole: Heat | None = None
        self._heat: Heat | None = None
        self._with_variables = False
        self._grid: HeatGrid | None = None
        self._class_width = 0
        self._place = GridPlace(0, 0, 0)

    def load(self, snapshot: Snapshot, heat: Heat, focused: TensorEvent | None = None) -> None:
        """Show a run as it is now.

        Args:
            snapshot: The run.
            heat: What is known of it.
            focused: Whose layer and step are looked at first, where no cell is bad.
        """
        is_first = self._heat is None
        self._snapshot, self._whole = snapshot, heat
        self._fill()
        self.forget_rows()
        if is_first and self._grid is not None:
            self._place = self._grid.first_bad() or self._place_of(focused) or self._place

    def _place_of(self, event: TensorEvent | None) -> GridPlace | None:
        """Return the cell of a tensor's layer and step; None where they are not on record."""
        snapshot, grid = self._snapshot, self._grid
        if snapshot is None or grid is None or event is None:
            return None
        layer, step = snapshot.layer(event), snapshot.step(event)
        rows = [number for number, row in enumerate(grid.heat.rows) if row.layer == layer]
        if layer is None or step is None or not rows:
            return None
        places = [grid.within((rows[0], side, grid.bin_of(step))) for side in range(grid.sides)]
        cells = map(grid.cell, places)
        its = (place for place, cell in zip(places, cells, strict=True) if _is_of(cell, event))
        return next(its, places[0])

    @property
    def _is_read(self) -> bool:
        """Whether what is on record has been looked at, as far as it was there."""
        return self._snapshot is not None and self._snapshot.run.progress.complete

    @property
    def counts(self) -> str:
        """How many rows and steps there are."""
        if self._heat is None or (self._grid is None and not self._is_read):
            return f"reading{self.charset.ellipsis}"
        rows, steps = len(self._heat.rows), len(self._heat.steps)
        reading = "" if self._is_read else f", reading{self.charset.ellipsis}"
        return f"{counted(rows, 'row')}, {counted(steps, 'step')}{reading}"

    def idle_keys(self) -> Mapping[str, str]:
        """Return the keys that do nothing with what is shown, and why."""
        if self._grid is None or self._whole is None:
            return dict.fromkeys(("Enter", "V", "v", "n", "Tab"), "there is nothing to go to")
        known_variables = any(row.variable is not None for row in self._whole.rows)
        idle = {
            "v": "" if known_variables else "no variables are on record",
            "n": "" if self._grid.first_bad() else "nothing here is NaN or ∞",
            "Tab": "no gradients are on record" if self._grid.sides == 1 else "",
        }
        return {key: why for key, why in idle.items() if why}

    def toggle_variables(self) -> None:
        """Show a row for each variable, or none; stay on the layer."""
        before = self._grid.heat.rows[self._place.row] if self._grid else None
        self._with_variables = not self._with_variables
        self._fill()
        self.forget_rows()
        if self._grid is not None and before in self._grid.heat.rows:
            self._place = self._place._replace(row=self._grid.heat.rows.index(before))

    @property
    def output(self) -> TensorEvent | None:
        """What the layer has made in the step that is looked at; of other rows what is there."""
        snapshot, grid = self._snapshot, self._grid
        row = grid.heat.rows[self._place.row] if grid else None
        if grid is None or row is None or row.layer is None or row.variable or not snapshot:
            return self.event
        output, step = self._output_of(snapshot.run, grid, row.layer), grid.step_at(self._place)
        if output is None or step is None:
            return output
        return computed_in_step(snapshot.dataflow, output, step)

    def _output_of(self, run: Run, grid: HeatGrid, layer: Layer) -> TensorEvent | None:
        """Return the output of a layer in the graph of what is looked at, or else in any."""
        cell = grid.nearest_cell(self._place)
        if cell is None or cell.event.kind == "execution":
            return output_of(run, layer)
        graph_id = run.graph_executions.site(cell.event.index).graph_id
        return output_of(run, layer, graph_id) or output_of(run, layer)

    @property
    def event(self) -> TensorEvent | None:
        """The tensor that is looked at."""
        cell = self._grid.cell(self._place) if self._grid else None
        return cell.event if cell else None

    def move(self, rows: int, bins: int) -> None:
        """Look at another row, or at another cell of the row."""
        if self._grid is not None:
            self._place = self._grid.moved(self._place, rows, bins)

    def click(self, row: int, column: int) -> bool:
        """Look at what is drawn at a place, or, beside the cells, at the same cell of another row.

        Args:
            row: The row.
            column: How many characters from its left end.

        Returns:
            Whether it has been looked at before.
        """
        if self._grid is None:
            return False
        before, strip = self._place, self._grid.bins * self._cell_width
        side, beside = divmod(column - self._name_width, _GAP + strip)
        self._place = before._replace(row=row)
        if 0 <= side < self._grid.sides and beside >= _GAP:
            self._place = GridPlace(row, side, (beside - _GAP) // self._cell_width)
        return self._place == before

    def other_side(self) -> None:
        """Look at the gradients, or at forward again."""
        if self._grid is not None:
            side = (self._place.side + 1) % self._grid.sides
            self._place = self._place._replace(side=side)

    def to_bad(self, direction: int) -> bool:
        """Look at the next bad cell in order of time, or at the one before; return if there is."""
        before = self._place
        if self._grid is not None:
            self._place = self._grid.next_bad(before, direction)
        return self._place != before

    def _fill(self) -> None:
        """Make cells of the heat, as many as there is room for; stay in the step."""
        step = self._grid.step_at(self._place) if self._grid else None
        self._grid = None
        whole = self._whole
        self._heat = whole.without_variables() if whole and not self._with_variables else whole
        if self._heat is not None and self._heat.rows and self.line_width:
            self._grid = HeatGrid(self._heat, self.line_width - self._name_width - 2 * _GAP)
            if step is not None:
                self._place = self._place._replace(bin=self._grid.bin_of(step))
            self._place = self._grid.within(self._place)
            self._class_width = min(_CLASS, max(len(_class_of(row)) for row in self._heat.rows))

    @property
    def _name_width(self) -> int:
        """How wide the column of names is: where strips have more cells than steps it gets some."""
        if self._heat is None:
            return _NAME[0]
        names = [2 * row.depth + cell_len(row.name) + 2 for row in self._heat.rows]
        strip = _GAP + max(self._heat.num_columns, *map(len, SIDES))
        beside = self.line_width - self._heat.num_sides * strip
        widest = min(_NAME[1], max(_NAME[0], self.line_width // 3, beside))
        return min(max([_NAME[0], *names]), widest)

    @property
    def _cell_width(self) -> int:
        """How wide a cell is: wider than one where there are few steps."""
        if self._grid is None:
            return 1
        room = self.line_width - self._name_width - self._grid.sides * _GAP
        return min(_WIDEST, max(1, room // (self._grid.sides * self._grid.bins)))

    @property
    def _room(self) -> int:
        """How many cells are left behind the strips."""
        if self._grid is None:
            return 0
        strips = self._grid.sides * (_GAP + self._grid.bins * self._cell_width)
        return self.line_width - self._name_width - strips

    # ---- See `VirtualList`

    def on_resize(self) -> None:
        """See `VirtualList`: there is room for other cells."""
        self._fill()
        super().on_resize()

    def count_rows(self) -> int:
        """Return the number of rows."""
        return len(self._grid.heat.rows) if self._grid else 0

    def find_cursor(self) -> int | None:
        """Return the row that is looked at."""
        return self._place.row if self._grid else None

    def row_state(self, row: int) -> Hashable:
        """Return what decides how a row looks."""
        return self._place if row == self._place.row else None, id(self._grid)

    def row(self, row: int, width: int) -> DrawnRow:
        """Return a row's cells."""
        assert self._grid is not None
        shown = self._grid.heat.rows[row]
        chosen = row == self._place.row
        room = self._name_width - 2
        name = set_cell_size(self.charset.fit_path("  " * shown.depth + shown.name, room), room)
        mark = self.charset.focus if chosen else " "
        cells: list[Cell] = [(f"{mark} {name}", "" if shown.layer else "call")]
        for side in range(self._grid.sides):
            cells.append((" " * _GAP, ""))
            cells += [
                self._look_of(self._grid, GridPlace(row, side, n)) for n in range(self._grid.bins)
            ]
        cells += self._facts(self._grid, row)
        return DrawnRow(tuple(cells), "mark" if chosen else "")

    def _facts(self, grid: HeatGrid, row: int) -> Iterator[Cell]:
        """Yield the largest number of each side of a row, and what its layer is, if they fit."""
        room = self._room - grid.sides * (_GAP + _LARGEST)
        if room < 0:
            return
        for number in grid.largest[row].tolist():
            text = "" if math.isnan(number) else f"{number:.3g}"
            yield f"{'':{_GAP}}{text:>{_LARGEST}}", ""
        if room >= _GAP + self._class_width:
            kind = self.charset.fit(_class_of(grid.heat.rows[row]), self._class_width)
            yield " " * _GAP + kind, "dim"

    def _look_of(self, grid: HeatGrid, place: GridPlace) -> Cell:
        cell = grid.cell(place)
        text, style = " ", ""
        if cell is not None and cell.is_bad:
            text, style = self._bad_mark(cell.event), "chip-bad"
        elif cell is not None and not cell.largest:
            text, style = _ZERO
        elif cell is not None:
            level = grid.level(cell.largest, len(_STYLES))
            text, style = self.charset.bars[1 + level], _STYLES[level]
        if place == self._place:
            text, style = text if cell else self.charset.dot, "found"
        return text * self._cell_width, style

    def _bad_mark(self, event: TensorEvent) -> str:
        summary = self._snapshot.summary(event) if self._snapshot else None
        is_nan = summary is None or summary.nan is None or bool(summary.nan)
        return "N" if is_nan else self.charset.inf[0]

    def head(self, width: int, height: int) -> Sequence[Line]:
        """Return the titles of the strips; a sentence where there is nothing."""
        if self._grid is None:
            return (((self._why_nothing(), "dim"),),)
        strip = self._grid.bins * self._cell_width
        titles = [self._title(side, strip) for side in range(self._grid.sides)]
        if self._room >= self._grid.sides * (_GAP + _LARGEST):
            sides = SIDES[: self._grid.sides]
            titles += [f"{'max ' + side:>{_LARGEST}}" for side in sides]
        gap = " " * _GAP
        return (((f"{'':{self._name_width}}{gap}{gap.join(titles)}", "dim"),),)

    def _why_nothing(self) -> str:
        if self._snapshot is None or not self._is_read:
            return ""
        is_adaptive = self._snapshot.run.files.mode_name == "ADAPTIVE"
        return f"{_NOTHING}{' so far' if is_adaptive else _HAS_BOTH}."

    def _title(self, side: int, width: int) -> str:
        """Return the title of a strip, with the first and last step where there is room."""
        assert self._grid is not None
        steps = self._grid.heat.steps
        title = f"{SIDES[side]}, steps {steps[0]:,} to {steps[-1]:,}" if len(steps) > 1 else ""
        fitting = title if 0 < len(title) <= width else SIDES[side][:width]
        return fitting.ljust(width)

    def foot(self, width: int, height: int) -> Sequence[Line]:
        """Return what is known of the cell that is looked at, and what the cells mean."""
        if self._grid is None:
            return ()
        told = self._cell_lines(self._grid, width)
        return (*told, *self._legend(self._grid, width)) if height >= _TALL else told[:1]

    def _cell_lines(self, grid: HeatGrid, width: int) -> tuple[Line, ...]:
        row, cell = grid.heat.rows[self._place.row], grid.cell(self._place)
        what = breadcrumb(row.layer, self.charset.inside) or f"{row.name}, outside of layers"
        if row.variable:
            what = f"{row.name} of {what}" if row.layer else row.name
        side = (_OF_VARIABLE if row.variable else SIDES)[self._place.side]
        if cell is None or self._snapshot is None:
            steps = _steps_text(grid.steps_at(self._place))
            head = self.charset.fit_path(what, width - len(side) - len(steps) - 2)
            nothing = "  nothing measured, and nothing bad"
            return ((f"{side}{steps}  ", ""), (head, "strong")), ((nothing, "dim"),)
        when = self._when(self._snapshot.run, cell.step)
        told = f"  {self._numbers(cell)}{self._ratio(grid) if row.variable else ''}"
        numbers = (self.charset.sentence(told), "bad" if cell.is_bad else "")
        name = self.charset.safe(self._snapshot.tensor_name(cell.event))
        room = max(width - 2 - cell_len(numbers[0]), min(least_width(name), width - 2))
        *above, name = shortened(name, room, self.charset)
        names = [((f"  {line}", "dim"),) for line in (*above, name)]
        below = in_lines([(numbers,), *names], "", width)
        head = self.charset.fit_path(what, width - len(side) - len(when) - 2)
        return ((f"{side}{when}  ", ""), (head, "strong")), *below

    def _ratio(self, grid: HeatGrid) -> str:
        """Say how large the update of a variable is beside its value."""
        if grid.sides < len(_OF_VARIABLE):
            return ""
        weight, update = (grid.largest_in_same_step(self._place, side) for side in range(2))
        return f"; update / weight {update / weight:.2g}" if weight and update is not None else ""

    def _when(self, run: Run, step: int | None) -> str:
        batch = run.fit_batch(step) if step is not None else None
        told = f", {batch_text(batch)}" if batch else ""
        return "" if step is None else f", step {step:,}{told}"

    def _numbers(self, cell: HeatCell) -> str:
        assert self._snapshot is not None
        summary = self._snapshot.summary(cell.event)
        if cell.is_bad:
            return counts_text(summary)
        limit = MAX_FINITE.get(summary.dtype or "") if summary else None
        of = f" of at most {limit:.3g} in {summary.dtype}" if summary and limit else ""
        return f"|max| {cell.largest:.4g}{of}"

    def _legend(self, grid: HeatGrid, width: int) -> tuple[Line, ...]:
        low, high = grid.range
        bars = zip(self.charset.bars[1:], _STYLES, strict=True)
        parts: list[Line] = []
        if high:
            parts.append(((f"{low:.2g} ", "dim"), *bars, (f" {high:.2g}", "dim")))
        if grid.has_zero:
            parts.append((_ZERO, (" all are 0", "dim")))
        inf = self.charset.inf[0]
        parts.append((("N", "bad"), (" NaN ", "dim"), (inf, "bad"), (" infinity", "dim")))
        if grid.heat.bad_outside:
            told = f"{counted(grid.heat.bad_outside, 'bad tensor')} outside of steps"
            parts.append(((told + self._first_used(), "bad"),))
        blank = "blank: not measured" + ", or too little" * grid.heat.left_out
        explanation = self._snapshot.explanation if self._snapshot else None
        if explanation and explanation.harmless:
            blank += "; harmless NaN and ∞ left out"
        parts.append(((self.charset.sentence(blank), "dim"),))
        return in_lines(parts, "   ", width)

    def _first_used(self) -> str:
        """Say in which step the first of what was made in no step is used, where that is known."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.explanation is None:
            return ""
        found = (group.finding for group in snapshot.explanation.groups)
        steps = [
            one.step for one in found if one.step is not None and snapshot.step(one.event) is None
        ]
        return f", used first in step {min(steps):,}" if steps else ""


def _is_of(cell: HeatCell | None, event: TensorEvent) -> bool:
    return cell is not None and cell.event == event


def _steps_text(steps: tuple[int, int] | None) -> str:
    """Return which steps a cell stands for, as it stands behind what is told of it."""
    if steps is None:
        return ""
    first, last = steps
    return f", step {first:,}" if first == last else f", steps {first:,} to {last:,}"


def _class_of(row: HeatRow) -> str:
    """Return the class of a layer, and what it computes in; "" for other rows."""
    if row.layer is None or row.variable is not None:
        return ""
    return " ".join(filter(None, (row.layer.class_name, row.layer.compute_dtype)))
