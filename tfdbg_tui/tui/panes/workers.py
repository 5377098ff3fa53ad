"""Workers: the processes of a job, one row each: how far they are, and which made what is bad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.joints import joined_cells
from tfdbg_tui.tui.panes.worker_rows import ROWS, devices_of, sort_of, standings
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import width_of
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.tui.panes.worker_rows import Standing
    from tfdbg_tui.tui.session.job import Job
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MARKS = 4  # cells before the first column
# Columns, and how wide each is; those behind the root get room in this order.
_COLUMNS = (("task", 11), ("step", 8), ("events/s", 11), ("alerts", 9), ("bad step", 11))
_OPTIONAL = (("timeline", 24), ("host", 18), ("devices", 14), ("logdir", 40))
_ROOT = 28  # that its column gets before others get room
_LEAST_ROOT = 12
_NUMBERS = ("step", "events/s", "alerts", "bad step")


class Workers(Pane):
    """The Workers pane."""

    EMPTY = "One process has recorded this."

    @property
    def job(self) -> Job:
        """The job, where there are rows."""
        job = self.snapshot.job
        assert job is not None
        return job

    def _standing(self, row: int) -> Standing:
        return standings(self.job)[ROWS.order(self.snapshot, self.session.focus)[row]]

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        standing = self._standing(row)
        member = self.job.report.members[standing.number]
        shown = standing.number == self.snapshot.worker
        return standing, member.logdir, member.host, shown, row == self.cursor

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        standing, focused = self._standing(row), row == self.cursor
        member = self.job.report.members[standing.number]
        fit, root_width = self.charset.fit, self._root_width(width)
        shown = standing.number == self.snapshot.worker
        numbers = (standing.step, standing.rate, standing.alerts, standing.bad_step)
        cells: list[Cell] = [
            (self.charset.focus if focused else " ", ""),
            (f" {self.charset.right[:1] if shown else ' '} ", "strong"),
            (fit(self.job.name_of(standing.number), _COLUMNS[0][1]), "strong" if shown else ""),
        ]
        for (title, column), number in zip(_COLUMNS[1:], numbers, strict=True):
            text = "" if number is None else compact(number)
            style = "bad" if number and title == "alerts" else ""
            cells.append((f"{text:>{column - 2}}  ", style))
        cells.append((fit(standing.root, root_width - 1) + " ", standing.style))
        facts = {"host": member.host, "devices": devices_of(member), "logdir": member.logdir}
        for title, column in self._optional(width):
            if title == "timeline":
                line = joined_cells(self.job, standing.number, column - 1, self.charset)
                cells += [*line, (" " * (column - width_of(line)), "")]
                continue
            fitted = self.charset.fit_path if title == "logdir" else fit
            text = fitted(facts[title], column - 1)
            cells.append((fit(text, column), "dim"))
        return DrawnRow(tuple(cells), "focus" if focused else "")

    def _optional(self, width: int) -> list[tuple[str, int]]:
        """Return the columns behind the root that there is room for."""
        room = width - _MARKS - sum(column for _, column in _COLUMNS) - _ROOT
        chosen = []
        for title, column in _OPTIONAL:
            if room < column:
                break
            chosen.append((title, column))
            room -= column
        return chosen

    def _root_width(self, width: int) -> int:
        taken = sum(column for _, column in (*_COLUMNS, *self._optional(width)))
        return max(_LEAST_ROOT, width - _MARKS - taken)

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: the titles of the columns; that of the one they are sorted by stands out."""
        cells: list[Cell] = [(" " * _MARKS, "")]
        for title, column in (*_COLUMNS, ("root", self._root_width(width))):
            chosen = title == sort_of(self.session.focus).column
            text = f"{title}{self.charset.unfolded}" if chosen else title
            padded = f"{text:>{column - 2}}  " if title in _NUMBERS else f"{text:{column}}"
            cells.append((padded, "strong" if chosen else "dim"))
        cells += [(f"{title:{column}}", "dim") for title, column in self._optional(width)]
        return (tuple(cells),)

    def summary(self) -> str:
        """See `Pane`."""
        snapshot = self.session.snapshot
        if snapshot is None or snapshot.job is None:
            return ""
        more = "" if snapshot.job.complete else f", reading{self.charset.ellipsis}"
        return f"{len(snapshot.job.processes):,}{more}{self.filter_words()}"


SPEC = PaneSpec(
    name=ROWS.PANE,
    title="Workers",
    short_title="Work",
    rows=ROWS,
    view=Workers,
    tile=0,
    companions=("alerts",),
    keys=("next_pane", "enter", "sort", "filter"),
    total=lambda snapshot: len(snapshot.job.processes) if snapshot.job else 0,
    is_there=lambda snapshot: snapshot is not None and snapshot.job is not None,
    missing="no other process of a job is known",
)
