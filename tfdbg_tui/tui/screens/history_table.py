"""The curves of History, and its table: a row for each computation of a tensor."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import TensorEvent, history_of
from tfdbg_tui.tui.screens import history_curves
from tfdbg_tui.tui.widgets import curves
from tfdbg_tui.tui.widgets.cells import in_lines
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow, VirtualList
from tfdbg_tui.wire.dtypes import MAX_FINITE
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis import History
    from tfdbg_tui.logdir import TensorSummary
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_CURVES = ("|max|", "min and max", "shares")
_TOGETHER = 12  # curves over one another: those of the tensors next to the chosen one
_STRETCHES = 200  # of bad computations, whose first record is read
# The row of Graph Execution is told where no other number is known.
_NUMBERS = {"step": 8, "exec": 11, "iteration": 11, "row": 11}
_EXTREMES = {"min": 11, "max": 11, "|max|": 11}
_COUNTS = {"NaN": 7, "inf": 7, "zeros": 7}
_NARROW_COUNT = 6
_MARK = 2  # cells in front of a row
_LESS_IMPORTANT = (("|max|",), ("exec",), ("zeros",), ("min", "max"))
"""Columns that narrow screens have no room for, the first to go first."""
_UNMEASURED = "No curve: no number of it is on record"
_HAS_NUMBERS = "; ADAPTIVE has those of floating-point tensors"
_WHOLE = "No curve: of whole tensors only those of floating-point numbers have one."
_ONLY_BAD = "No curve: none was measured before it was bad."
_ALL_BAD = "No curve: each is bad, and no finite number of any is on record."
_LEAST_PLOT = 24, 4  # cells across and down: smaller curves tell nothing


class HistoryTable(VirtualList):
    """Curves, and a row for each computation of the tensor that is chosen.

    Args:
        snapshot: The run.
        tensors: A computation of each tensor.
        chosen: Which of them is looked at first.
        charset: The characters to draw with.

    Attributes:
        snapshot: The run.
        position: The computation that is looked at.
    """

    def __init__(
        self, snapshot: Snapshot, tensors: list[TensorEvent], chosen: int, charset: Charset
    ) -> None:
        super().__init__(charset, id="history")
        self.position = 0
        self._chosen = chosen
        self._curves = _CURVES[0]
        self.load(snapshot, tensors)
        found = np.searchsorted(self.history.rows, tensors[chosen].index)
        self.position = int(found)

    def load(self, snapshot: Snapshot, tensors: list[TensorEvent]) -> None:
        """Show a run as it is now."""
        self.snapshot = snapshot
        self._tensors = tensors
        self._chosen = min(self._chosen, len(tensors) - 1)
        self._history = lru_cache(_TOGETHER)(lambda event: history_of(snapshot.dataflow, event))
        self._plot = lru_cache(len(_CURVES))(self._draw_plot)
        self._numbered = lru_cache(1)(self._are_numbered)
        self._widths = lru_cache(1)(self._find_widths)
        self.to(self.position)

    @property
    def history(self) -> History:
        """The computations of the chosen tensor."""
        return self._history(self._tensors[self._chosen])

    @property
    def is_alone(self) -> bool:
        """Whether there is no other tensor to look at."""
        return len(self._tensors) == 1

    @property
    def event(self) -> TensorEvent:
        """The computation that is looked at."""
        return self.history.event(self.position)

    @property
    def tensor_name(self) -> str:
        """The name of the tensor that is shown."""
        return self.snapshot.tensor_name(self.history.latest)

    def title(self) -> str:
        """Return what stands on the box behind the name."""
        history = self.history
        which = f"{self._chosen + 1:,} of {len(self._tensors):,} tensors"
        facts = (
            history.dtype,
            f"computation {self.position + 1:,} of {len(history):,}",
            which if len(self._tensors) > 1 else "",
            self._curves if self._curves != _CURVES[0] else "",
        )
        return "  ".join(filter(None, facts))

    def to(self, position: int) -> None:
        """Look at another computation."""
        self.position = min(max(0, position), len(self.history) - 1)

    def to_next(self, some: npt.NDArray[np.bool_], step: int) -> bool:
        """Look at the next computation that is one of some, or at the one before, if there is one.

        Returns:
            Whether there is.
        """
        places = np.flatnonzero(some)
        here = self.position
        found = places[places > here][:1] if step > 0 else places[places < here][-1:]
        self.to(int(found[0]) if found.size else here)
        return bool(found.size)

    def choose(self, step: int) -> None:
        """Look at another tensor, at about the same time."""
        place = self._places(self.history)[self.position]
        self._chosen = (self._chosen + step) % len(self._tensors)
        self.to(int(np.abs(self._places(self.history) - place).argmin()))

    def computation_at(self, line: int, column: int) -> int | None:
        """Return the computation that a cell of the curves stands for; of several a bad one.

        Args:
            line: The line of the head.
            column: The cell in it; where it stands for none, the nearest one counts.

        Returns:
            Its position; None for the titles below the curves.
        """
        width = self.line_width
        *plot, _ = self.head(width, self.size.height)
        if line >= len(plot):
            return None
        history = self.history
        columns = curves.columns_of(self._places(history), width)
        distances = np.abs(columns - column)
        nearest = np.flatnonzero(distances == distances.min())
        bad = nearest[history.bad[nearest]]
        return int((bad if bad.size else nearest)[0])

    def draw_next(self) -> None:
        """Draw the next kind of curves."""
        self._curves = _CURVES[(_CURVES.index(self._curves) + 1) % len(_CURVES)]

    # ---- See `VirtualList`

    def count_rows(self) -> int:
        """Return the number of rows."""
        return len(self.history)

    def find_cursor(self) -> int | None:
        """Return the computation that is looked at."""
        return self.position

    def row_state(self, row: int) -> Hashable:
        """Return what decides how a row looks."""
        return self.history.event(row), row == self.position

    def row(self, row: int, width: int) -> DrawnRow:
        """Return a row's cells."""
        chosen, widths = row == self.position, self._widths(self._chosen, width)
        event = self.history.event(row)
        numbers = zip(_NUMBERS, self._numbers(event), strict=True)
        cells = [
            (f"{self.charset.focus if chosen else ' '} ", ""),
            *(_right(number, widths[title]) for title, number in numbers if title in widths),
            *self._values(self.snapshot.summary(event), widths),
        ]
        return DrawnRow(tuple(cells), "focus" if chosen else "")

    def _numbers(self, event: TensorEvent) -> tuple[str, ...]:
        """Return step, execution and iteration of a computation, and its own number.

        After step 7, and before the next one, is 7+.
        """
        snapshot = self.snapshot
        step = _count(snapshot.step(event))
        if not step and (before := snapshot.step_before(event)) is not None:
            step = f"{before:,}+"
        in_graph = event.kind == "graph_execution"
        call = snapshot.execution_of(event.index) if in_graph else event.index
        iteration = snapshot.graph_execution(event.index).iteration if in_graph else None
        return step, *map(_count, (call, iteration, event.index))

    def _are_numbered(self, chosen: int) -> tuple[bool, ...]:
        """Which numbers are shown: steps and executions are unknown of what a pipeline computes."""
        history = self._history(self._tensors[chosen])
        ends = self._numbers(history.event(0)), self._numbers(history.event(len(history) - 1))
        *others, _ = zip(*ends, strict=True)
        shown = [any(some) for some in others]
        return *shown, not any(shown)

    def _find_widths(self, chosen: int, width: int) -> Mapping[str, int]:
        """Return how wide each column is: narrow ones, and fewer, where there is no room for all.

        Args:
            chosen: Which of the tensors is shown.
            width: Cells of a line.
        """
        shown = zip(_NUMBERS, self._numbered(chosen), strict=True)
        numbers = [title for title, is_shown in shown if is_shown]
        widths = {title: _NUMBERS[title] for title in numbers} | _EXTREMES | _COUNTS
        if sum(widths.values()) > width - _MARK:
            history = self._history(self._tensors[chosen])
            last = dict(zip(_NUMBERS, self._numbers(history.latest), strict=True))
            widths |= {title: 2 + max(len(title), len(last[title])) for title in numbers}
            widths |= dict.fromkeys(_COUNTS, _NARROW_COUNT)
        for titles in _LESS_IMPORTANT:
            if sum(widths.values()) > width - _MARK:
                widths = {title: w for title, w in widths.items() if title not in titles}
        return widths

    def _values(self, summary: TensorSummary | None, widths: Mapping[str, int]) -> list[Cell]:
        if summary is None:
            return [("  no value recorded", "faint")]
        infinite = None
        if summary.neg_inf is not None and summary.pos_inf is not None:
            infinite = summary.neg_inf + summary.pos_inf
        shown = [title for title in _EXTREMES if title in widths]
        if summary.largest is not None:
            values = summary.minimum, summary.maximum, summary.largest
            numbers = dict(zip(_EXTREMES, values, strict=True))
            extremes = [_right(f"{numbers[title]:.4g}", widths[title]) for title in shown]
        else:
            none_finite = (infinite or 0) + (summary.nan or 0) == summary.size
            text = "none finite" if none_finite else "not measured"
            extremes = [_right(text, sum(map(widths.__getitem__, shown)), "faint")] if shown else []
        zeros = history_curves.zeros_of(summary)
        counts = (summary.nan, "bad"), (infinite, "bad"), (zeros, "")
        return extremes + [
            _right(_share(count, summary.size), widths[title], style if count else "dim")
            for title, (count, style) in zip(_COUNTS, counts, strict=True)
            if title in widths
        ]

    def head(self, width: int, height: int) -> Sequence[Line]:
        """Return the curves, what is bad below them, and the titles of the columns."""
        widths = self._widths(self._chosen, width)
        texts = "".join(f"{title:>{w}}" for title, w in widths.items())
        titles: Line = ((f"{'':{_MARK}}{texts}", "dim"),)
        lines = height // 2 - 3
        if width < _LEAST_PLOT[0] or lines < _LEAST_PLOT[1]:
            return (titles,)
        plot = self._plot(self._curves, self._chosen, width, lines)
        return (*plot, self._ruler(width), titles)

    def _draw_plot(self, kind: str, chosen: int, width: int, height: int) -> list[Line]:
        """Return the curves; a sentence where nothing is measured that they could show.

        Args:
            kind: Which curves.
            chosen: Of which of the tensors.
            width: Cells of a line.
            height: Number of lines.
        """
        size = width, height
        history = self._history(self._tensors[chosen])
        limit = MAX_FINITE.get(history.dtype or "")
        one = self.snapshot, history, self._places(history)
        if kind == "min and max":
            return history_curves.draw_extremes(*one, limit, size, self.charset)
        if kind == "shares":
            return history_curves.draw_shares(*one, size, self.charset)
        first = max(0, min(chosen - _TOGETHER // 2, len(self._tensors) - _TOGETHER))
        shown = [self._history(event) for event in self._tensors[first : first + _TOGETHER]]
        drawn = [curves.Curve(self._places(one), self._heights(one)) for one in shown]
        if all(np.isnan(curve.numbers).all() for curve in drawn):
            return [((self._why_no_curve(shown), "dim"),)]
        return curves.draw(drawn, chosen - first, limit, size, self.charset)

    def _why_no_curve(self, shown: Sequence[History]) -> str:
        if any((~np.isnan(history.largest)).any() for history in shown):
            return _ONLY_BAD
        if all(history.bad.all() for history in shown):
            return _ALL_BAD
        if self._is_whole():
            return _WHOLE
        is_adaptive = self.snapshot.run.files.mode_name == "ADAPTIVE"
        return f"{_UNMEASURED}{'' if is_adaptive else _HAS_NUMBERS}."

    def _is_whole(self) -> bool:
        """Whether the tensors are on record themselves, so that nothing had to be measured."""
        latest = self.snapshot.summary(self.history.latest)
        return latest is not None and latest.mode == TensorDebugMode.FULL_TENSOR

    def _heights(self, history: History) -> curves.Floats:
        """Return what is drawn of a tensor: ∞ where it becomes that, and nothing while it is bad.

        What is finite of a tensor that has become bad is no curve of it. It is of one that has been
        bad from the beginning, as what is masked by -∞.
        """
        bad = history.bad
        numbers = np.where(bad & np.logical_or.accumulate(~bad), np.nan, history.largest)
        begun = np.flatnonzero(bad[1:] & ~bad[:-1]) + 1
        for position in begun[:_STRETCHES].tolist():
            summary = self.snapshot.summary(history.event(position))
            if summary is not None and (summary.pos_inf or summary.neg_inf):
                numbers[position] = np.inf
        return numbers

    def _places(self, history: History) -> curves.Floats:
        events = self.snapshot.events(history.latest.kind)
        return history.rows / max(1, len(events) - 1)

    def _ruler(self, width: int) -> Line:
        """Return the line below the curves: where the tensor is bad, and where one looks."""
        history = self.history
        places = self._places(history)
        bad = curves.marks(places, history.bad, width)
        here = curves.marks(places, np.arange(len(history)) == self.position, width)
        return tuple(
            ("^", "bad" if marked else "key")
            if at
            else (self.charset.root, "bad-mark")
            if marked
            else (" ", "")
            for at, marked in zip(here.tolist(), bad.tolist(), strict=True)
        )

    def foot(self, width: int, height: int) -> Sequence[Line]:
        """Return what is known of the whole history."""
        history = self.history
        known = history.largest[~np.isnan(history.largest)]
        measured = f"{len(known):,} of {len(history):,} measured"
        latest = self.snapshot.summary(history.latest)
        parts = [] if latest is None or self._is_whole() else [measured]
        if known.size:
            least, most = f"{known.min():.3g}", f"{known.max():.3g}"
            parts.append(f"|max| from {least} to {most}" if least != most else f"|max| {most}")
        if (limit := MAX_FINITE.get(history.dtype or "")) is not None:
            parts.append(f"the largest {history.dtype} is {limit:.3g}")
        bad = int(np.count_nonzero(history.bad))
        unknown = latest is None or latest.has_inf_or_nan is None
        health = f"{bad:,} bad" if bad else "no values on record" if unknown else "none bad"
        told = [((self._when(), ""),), ((health, "bad" if bad else "dim"),)]
        told += [((self.charset.safe(part), "dim"),) for part in parts]
        return in_lines([line for line in told if line[0][0]], "; ", width)

    def _when(self) -> str:
        """Return more of when the computation was that is looked at than its row tells."""
        batch = self.snapshot.batch_text(self.event)
        step = self.snapshot.step_text(self.event)
        is_between = self.snapshot.step(self.event) is None
        return ", ".join(filter(None, (step, batch))) if batch or is_between else ""


def _right(text: str, width: int, style: str = "") -> Cell:
    return (f"{text:>{width}}", style)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _share(count: int | None, size: int | None) -> str:
    """Return which share of the elements it is; ? where that is not on record."""
    if count is None:
        return "?"
    if not count or not size:
        return "0"
    share = 100 * count / size
    return f"{share:.3g}%" if share >= 0.1 else "<0.1%"
