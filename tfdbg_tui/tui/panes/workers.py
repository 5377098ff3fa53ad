"""Workers: the processes of a job, one row each: how far they are, and which made what is bad."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import OtherProcess, Sort
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.terminal.text import compact, short_device

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from tfdbg_tui.diagnosis import WorkerSummary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.job import Job
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MARKS = 4  # cells before the first column
# Columns, and how wide each is; those behind the root get room in this order.
_COLUMNS = (("task", 11), ("step", 8), ("events/s", 11), ("alerts", 9), ("bad step", 11))
_OPTIONAL = (("host", 18), ("devices", 14), ("logdir", 40))
_ROOT = 20  # the least its column gets
_NUMBERS = ("step", "events/s", "alerts", "bad step")
_SORTED_BY = (*(title for title, _ in _COLUMNS), "root")
_STYLES = {"clean": "good", "harmless": "good", "incomplete": "match", "suspect": "match"}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a process stands in its job.

    Attributes:
        number: Its position in the job.
        step: The last training step on record; None where it marks none.
        rate: Events a second, from its start to its last one.
        alerts: Number of alerts.
        bad_step: Training step of its first alert; None without, or in none.
        root: What made its alerts, or its verdict.
        style: The style of that.
        made_it: Whether it made something bad itself.
    """

    number: int
    step: int | None
    rate: int | None
    alerts: int
    bad_step: int | None
    root: str
    style: str
    made_it: bool


@lru_cache(4)
def standings(job: Job) -> tuple[Standing, ...]:
    """Return how the processes of a job stand, in order of their tasks."""
    return tuple(_standing(job, number) for number in range(len(job.processes)))


def _standing(job: Job, number: int) -> Standing:
    member = job.report.members[number]
    steps = [root.step for root in member.roots if root.step is not None]
    words, style, made_it = _root(job, number)
    return Standing(
        number=number,
        step=member.last_step,
        rate=_rate(member),
        alerts=member.alerts,
        bad_step=min(steps, default=None),
        root=words,
        style=style,
        made_it=made_it,
    )


def _rate(member: WorkerSummary) -> int | None:
    seconds = member.ended_at - (member.started_at or member.ended_at)
    return round(member.events / seconds) if seconds > 0 else None


def _root(job: Job, number: int) -> tuple[str, str, bool]:
    """Return what made the alerts of a process, its style, and whether it did so itself."""
    for root in job.report.roots:
        if number in root.workers:
            return _place(root.finding), "bad", True
    for root in job.report.roots:
        if number in root.reached:
            return f"from {job.name_of(root.workers[0])}", "", False
    member = job.report.members[number]
    harmless = member.verdict == "bad"  # by itself, and in no root of the job
    words = "harmless" if harmless else member.verdict
    return words, _STYLES.get(words, ""), False


def _place(finding: dict[str, object]) -> str:
    location = finding["location"]
    if not isinstance(location, dict):
        return str(finding["op_type"])
    file = str(location["file"]).replace("\\", "/").rpartition("/")[2]
    return f"{finding['op_type']} at {file}:{location['line']}"


@lru_cache(8)
def _ordered(job: Job, by: Sort) -> tuple[int, ...]:
    """Return the positions of processes in the order of a column."""
    last = float("inf")
    keys = {
        "task": lambda one: one.number,
        "step": lambda one: last if one.step is None else one.step,
        "events/s": lambda one: one.rate or 0,
        "alerts": lambda one: -one.alerts,
        "bad step": lambda one: last if one.bad_step is None else one.bad_step,
        "root": lambda one: (not one.made_it, one.root),
    }
    found = sorted(standings(job), key=keys[by.column], reverse=by.reverse)
    return tuple(one.number for one in found)


def _sort(focus: Focus) -> Sort:
    """Return by what they are sorted."""
    return focus.sort_of("workers") or Sort(_SORTED_BY[0])


class WorkerRows(Rows):
    """The processes, in the order of a column."""

    def order(self, snapshot: Snapshot, focus: Focus) -> Sequence[int]:
        """Return the positions of the processes in the job, row by row."""
        return _ordered(snapshot.job, _sort(focus)) if snapshot.job else ()

    def columns(self, snapshot: Snapshot) -> Sequence[str]:
        """See `Rows`."""
        return _SORTED_BY

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.order(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        if snapshot.job is None:
            return None
        return self.order(snapshot, focus).index(self._chosen(snapshot.job, snapshot, focus))

    def _chosen(self, job: Job, snapshot: Snapshot, focus: Focus) -> int:
        chosen = (n for n, files in enumerate(job.processes) if files.identity == focus.worker)
        return next(chosen, snapshot.worker)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        assert snapshot.job is not None
        number = self.order(snapshot, focus)[row]
        return replace(focus, worker=snapshot.job.processes[number].identity)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        job = snapshot.job
        if job is None:
            return ()
        return [
            f"{job.name_of(number)} {standings(job)[number].root} "
            f"{job.report.members[number].host} {job.report.members[number].logdir}"
            for number in self.order(snapshot, focus)
        ]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: look at the process in the other panes.

        Raises:
            NowhereError: It is the one that they show.
        """
        assert snapshot.job is not None
        number = self._chosen(snapshot.job, snapshot, focus)
        if number == snapshot.worker:
            raise NowhereError(f"the other panes show {snapshot.job.name_of(number)} already")
        return replace(focus, other_process=OtherProcess(number))

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: what is new is in the other panes."""
        return focus

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the directory of the process."""
        job = snapshot.job
        if job is None:
            return ""
        return job.report.members[self._chosen(job, snapshot, focus)].logdir

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        """See `Rows`: a task."""
        job = snapshot.job
        names = [job.name_of(number) for number in self.order(snapshot, focus)] if job else []
        return self.select(snapshot, focus, names.index(name)) if name in names else None


ROWS = WorkerRows()


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

    def row(self, row: int, width: int) -> tuple[Line, str]:
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
        facts = {"host": member.host, "devices": _devices(member), "logdir": member.logdir}
        for title, column in self._optional(width):
            fitted = self.charset.fit_path if title == "logdir" else fit
            text = fitted(facts[title], column - 1)
            cells.append((fit(text, column), "dim"))
        return tuple(cells), "focus" if focused else ""

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
        return max(_ROOT, width - _MARKS - taken)

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: the titles of the columns; that of the one they are sorted by stands out."""
        cells: list[Cell] = [(" " * _MARKS, "")]
        for title, column in (*_COLUMNS, ("root", self._root_width(width))):
            chosen = title == _sort(self.session.focus).column
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
        return f"{len(snapshot.job.processes):,}{more}"


def _devices(member: WorkerSummary) -> str:
    kinds = dict.fromkeys(short_device(name) for name in member.devices)
    return ", ".join(kinds)


SPEC = PaneSpec(
    name="workers",
    title="Workers",
    short_title="Work",
    rows=ROWS,
    view=Workers,
    tile=0,
    companion="alerts",
    keys=("next_pane", "enter", "sort"),
    total=lambda snapshot: len(snapshot.job.processes) if snapshot.job else 0,
    is_there=lambda snapshot: snapshot.job is not None,
    missing="no other process of a job is known",
)
