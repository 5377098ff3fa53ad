"""The report on the processes of one or several jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tfdbg_tui.diagnosis.report.schemas import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary
    from tfdbg_tui.diagnosis.report.verdicts import Verdict


SpeaksFor = Literal["data", "hardware"]
"""Where to look on a process that alone has made a root."""

_UNEXPLAINED = "born-of-finite"
_UNRECORDED = ("born-inside-function", "first-seen-here", "from-unseen-worker")


@dataclass(frozen=True, slots=True)
class Via:
    """A collective by which a bad value got from one process to others.

    Attributes:
        family: What it does, as "all-reduce"; "" where it left no record.
        op_type: Type of the op; "" where it left no record.
        place: The user's line, as ``train.py:24``; "" where that is not known.
        run: Which run of it, from 0; None where it left no record.
    """

    family: str
    op_type: str
    place: str
    run: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "family": self.family,
            "op_type": self.op_type,
            "location": self.place,
            "run": self.run,
        }


@dataclass(frozen=True, slots=True)
class FleetRoot:
    """A root of a job, or what would be one.

    Attributes:
        finding: In the form of ``diagnose --json``: as the first of the workers has it.
        card: In the form of ``diagnose``, line by line.
        workers: Positions, in the job, of the processes that made it.
        alike: Whether all processes that could have made it have.
        alone: Whether one has made it, and others that could have not.
        reached: Positions of the processes that got it from others.
        via: How it got there.
        alerts: Number of alerts that go back to it, on all processes.
        when: Training step of the first one, in words; "" where it is in none.
        links: What it is on each process, first where it was made: positions of the process, and
            of the root among its own; and how it got there, None where it was made.
    """

    finding: dict[str, Any]
    card: tuple[str, ...]
    workers: tuple[int, ...]
    alike: bool
    alone: bool
    reached: tuple[int, ...]
    via: tuple[Via, ...]
    alerts: int
    when: str
    links: tuple[tuple[int, int, Via | None], ...] = ()

    @property
    def speaks_for(self) -> SpeaksFor | None:
        """What the counts of the op's inputs speak for, where one process alone has made it.

        None where several have, or where its inputs are not on record.
        """
        rule = self.finding["rule"]
        if not self.alone or rule in _UNRECORDED:
            return None
        return "hardware" if rule == _UNEXPLAINED else "data"

    def to_json(self, members: Sequence[WorkerSummary]) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``.

        Args:
            members: The processes of its job.
        """
        first = members[self.workers[0]].task
        return {
            **self.finding,
            "alerts": self.alerts,
            "worker": None if self.alike else _number(members, self.workers[0]),
            "task": None if self.alike or first is None else str(first),
            "workers": [_number(members, worker) for worker in self.workers],
            "workers_reached": [_number(members, worker) for worker in self.reached],
            "via": [via.to_json() for via in self.via],
            "speaks_for": self.speaks_for,
        }


@dataclass(frozen=True, slots=True)
class JobReport:
    """What is wrong with a job, or with a run that is of none.

    Attributes:
        members: Its processes on record, in order of their tasks.
        verdict: As that of a single run.
        roots: What made its alerts, in order of first occurrence.
        harmless: What made alerts that do no harm.
        suspects: Defects that have not led to NaN or ∞.
        gaps: What is not on record: positions of processes, and `Gap` in the form of JSON.
        notes: What else there is to say of its processes, a sentence each.
        skew: Seconds by which the clock of each process is ahead of that of the first; None where
            they share no collective.
    """

    members: tuple[WorkerSummary, ...]
    verdict: Verdict
    roots: tuple[FleetRoot, ...]
    harmless: tuple[FleetRoot, ...]
    suspects: tuple[FleetRoot, ...]
    gaps: tuple[tuple[tuple[int, ...], dict[str, Any]], ...]
    notes: tuple[str, ...]
    skew: tuple[float | None, ...]

    @property
    def alerts(self) -> int:
        """Number of alerts on all processes."""
        return sum(member.alerts for member in self.members)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the files of its processes, or not known of them."""
        return tuple(problem for member in self.members for problem in member.problems)

    @property
    def events(self) -> int:
        """Number of events on all processes."""
        return sum(member.events for member in self.members)

    @property
    def started_at(self) -> float | None:
        """When the first of its processes began its dump, in seconds since the epoch."""
        known = [one.started_at for one in self.members if one.started_at is not None]
        return min(known, default=None)

    @property
    def cluster(self) -> str:
        """What tells its cluster from others; "" where that is not recorded."""
        return next((one.task.cluster for one in self.members if one.task), "")

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "verdict": self.verdict,
            "started_at": self.started_at,
            "alerts": self.alerts,
            "events": self.events,
            "workers": [
                _worker_json(_number(self.members, position), member, skew)
                for position, (member, skew) in enumerate(zip(self.members, self.skew, strict=True))
            ],
            "roots": [root.to_json(self.members) for root in self.roots],
            "suspects": [root.to_json(self.members) for root in self.suspects],
            "benign": [root.to_json(self.members) for root in self.harmless],
            "gaps": [
                {"workers": [_number(self.members, worker) for worker in workers], **gap}
                for workers, gap in self.gaps
            ],
            "notes": list(self.notes),
        }


def _number(members: Sequence[WorkerSummary], position: int) -> int:
    """Return the number by which a process is called: its task's, or its position in the job."""
    task = members[position].task
    return task.index if task else position


def _worker_json(number: int, member: WorkerSummary, skew: float | None) -> dict[str, Any]:
    return {
        "worker": number,
        "task": str(member.task) if member.task else None,
        "host": member.host,
        "logdir": member.logdir,
        "run_id": member.run_id,
        "devices": list(member.devices),
        "verdict": member.verdict,
        "alerts": member.alerts,
        "events": member.events,
        "last_step": member.last_step,
        "clock_ahead": skew,
        "problems": list(member.problems),
    }


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that could not be summarised.

    Attributes:
        path: What it is.
        reason: Why, in one sentence.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FleetReport:
    """What is wrong with one or several jobs.

    Attributes:
        jobs: One report for each, the oldest job first.
        unread: What could not be read.
    """

    jobs: tuple[JobReport, ...]
    unread: tuple[Unread, ...] = ()

    def first_starts(self) -> list[int | None]:
        """Return, for each job that is another start of an earlier one, the position of that.

        A job that is started again, as after a worker has failed, has the same cluster.
        """
        first: dict[str, int] = {}
        for number, job in enumerate(self.jobs):
            if job.cluster:
                first.setdefault(job.cluster, number)
        starts = [first.get(job.cluster) for job in self.jobs]
        return [None if start == number else start for number, start in enumerate(starts)]

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict of the jobs."""
        verdicts: tuple[Verdict, ...] = ("bad", "incomplete", "suspect", "clean")
        found = {job.verdict for job in self.jobs}
        return next((verdict for verdict in verdicts if verdict in found), "incomplete")

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "verdict": self.verdict,
            "jobs": [
                {**job.to_json(), "another_start_of": start}
                for job, start in zip(self.jobs, self.first_starts(), strict=True)
            ],
            "unread": [{"path": one.path, "reason": one.reason} for one in self.unread],
        }
