"""What the Workers pane lists: the processes of a job, in the order of a column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import file_name, verdict_word
from tfdbg_tui.query import Vocabulary, parse
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import OtherProcess, Sort
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.terminal.text import short_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import WorkerSummary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.job import Job
    from tfdbg_tui.tui.session.snapshot import Snapshot

SORTED_BY = ("task", "step", "events/s", "alerts", "bad step", "root")

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


def devices_of(member: WorkerSummary) -> str:
    """Return the devices of a process as in a list, each once."""
    return ", ".join(dict.fromkeys(short_device(name) for name in member.devices))


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
    words = "harmless" if harmless else verdict_word(member.verdict, member.problems)
    return words, _STYLES.get(words, ""), False


def _place(finding: dict[str, object]) -> str:
    location = finding["location"]
    if not isinstance(location, dict):
        return str(finding["op_type"])
    file = file_name(str(location["file"]))
    return f"{finding['op_type']} at {file}:{location['line']}"


def _texts(job: Job, number: int) -> dict[str, Sequence[str]]:
    """Return the texts of a process by field."""
    member = job.report.members[number]
    return {
        "task": (job.name_of(number),),
        "host": (member.host,),
        "device": tuple(map(short_device, member.devices)),
        "logdir": (member.logdir,),
        "root": (standings(job)[number].root,),
    }


@lru_cache(8)
def _fitting(job: Job, text: str) -> frozenset[int]:
    """Return the positions of the processes that a filter selects."""
    query = parse(text, WorkerRows.VOCABULARY)
    fields = {"step": "step", "rate": "rate", "alerts": "alerts", "badstep": "bad_step"}
    numbers = {
        field: np.array([getattr(one, name) for one in standings(job)], np.float64)
        for field, name in fields.items()
    }
    fits = np.ones(len(job.processes), np.bool_)
    if query.bad is not None:
        fits &= (numbers["alerts"] > 0) == query.bad
    for term in query.numbers:
        fits &= term.fits(numbers)
    return frozenset(
        number
        for number in np.flatnonzero(fits).tolist()
        if all(term.fits(_texts(job, number)) for term in query.texts)
    )


@lru_cache(8)
def _ordered(job: Job, by: Sort, filtered: str) -> tuple[int, ...]:
    """Return the positions of the processes that a filter selects, in the order of a column."""
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
    fitting = _fitting(job, filtered)
    return tuple(one.number for one in found if one.number in fitting)


def sort_of(focus: Focus) -> Sort:
    """Return by what they are sorted."""
    return focus.sort_of(WorkerRows.PANE) or Sort(SORTED_BY[0])


class WorkerRows(Rows):
    """The processes that a filter selects, in the order of a column."""

    PANE = "workers"
    VOCABULARY = Vocabulary(
        ("task", "host", "device", "logdir", "root"), ("step", "rate", "alerts", "badstep")
    )

    def order(self, snapshot: Snapshot, focus: Focus) -> Sequence[int]:
        """Return the positions of the processes in the job, row by row."""
        if snapshot.job is None:
            return ()
        return _ordered(snapshot.job, sort_of(focus), focus.filter_of(self.PANE))

    def columns(self, snapshot: Snapshot) -> Sequence[str]:
        """See `Rows`."""
        return SORTED_BY

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.order(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        order = self.order(snapshot, focus)
        if snapshot.job is None or not order:
            return None
        return order.index(self._chosen(snapshot.job, snapshot, focus))

    def _chosen(self, job: Job, snapshot: Snapshot, focus: Focus) -> int:
        """Return the process chosen last; else the one that is shown, or the first on the list."""
        order, processes = self.order(snapshot, focus), job.processes
        chosen = [number for number in order if processes[number].identity == focus.worker]
        shown = [number for number in order if number == snapshot.worker]
        return next(iter((*chosen, *shown, *order)), snapshot.worker)

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
        if not self.count(snapshot, focus):
            raise NowhereError("no process fits the filter")
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
