"""Which processes are of one job."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary

_CLOCKS_DIFFER = 300.0
"""Seconds that clocks of one job may differ by, or that its start may take."""

_ORDER = ("chief", "master", "worker", "evaluator", "ps")

Job = list["WorkerSummary"]


def group_jobs(summaries: Iterable[WorkerSummary]) -> list[Job]:
    """Return the processes of each job, in order of their tasks; the oldest job first.

    A dump that does not say of which cluster it is does not say of which job, either: a job has
    each task once, its processes run at the same time, and they share collectives.
    """
    jobs = [[one] for one in sorted(summaries, key=lambda one: (_start(one), one.logdir, one.name))]
    for slack in (0.0, _CLOCKS_DIFFER):  # First those that surely ran at the same time.
        jobs = _merged(jobs, slack)
    return [sorted(job, key=_place) for job in jobs]


def programs_differ(members: Sequence[WorkerSummary]) -> list[int]:
    """Return the positions of the members that run another program than most."""
    names = [os.path.basename(member.program) for member in members]
    usual, times = Counter(filter(None, names)).most_common(1)[0] if any(names) else ("", 0)
    return [i for i, name in enumerate(names) if name not in ("", usual)] if times > 1 else []


def _merged(jobs: Iterable[Job], slack: float) -> list[Job]:
    merged: list[Job] = []
    for job in jobs:
        fitting = [other for other in merged if _fit(other, job, slack)]
        if fitting:
            max(fitting, key=lambda other: _likeness(other, job)).extend(job)
        else:
            merged.append(list(job))
    return merged


def _fit(job: Job, other: Job, slack: float) -> bool:
    """Whether two groups of processes may be of one job."""
    pairs = [(mine, theirs) for mine in job for theirs in other]
    if not all(_may_be_colleagues(*pair) for pair in pairs):
        return False
    if any(_at_the_same_time(*pair, slack) for pair in pairs):
        return True
    return bool(slack) and any(_same_cluster(*pair) for pair in pairs)


def _may_be_colleagues(one: WorkerSummary, other: WorkerSummary) -> bool:
    if one.task is None or other.task is None:
        return one.run_id is not None and one.run_id == other.run_id
    if (one.task.kind, one.task.index) == (other.task.kind, other.task.index):
        return False
    if one.task.cluster and other.task.cluster:
        return _same_cluster(one, other)
    keys = [{crossing.key for crossing in process.crossings} for process in (one, other)]
    return bool(keys[0] & keys[1]) or not all(keys)


def _same_cluster(one: WorkerSummary, other: WorkerSummary) -> bool:
    clusters = [process.task.cluster if process.task else "" for process in (one, other)]
    return bool(clusters[0]) and clusters[0] == clusters[1]


def _at_the_same_time(one: WorkerSummary, other: WorkerSummary, slack: float) -> bool:
    if one.started_at is None or other.started_at is None:
        return True
    return one.started_at <= other.ended_at + slack and other.started_at <= one.ended_at + slack


def _likeness(job: Job, other: Job) -> tuple[bool, float]:
    same_program = os.path.basename(job[0].program) == os.path.basename(other[0].program)
    return same_program, -abs(_start(job[0]) - _start(other[0]))


def _start(process: WorkerSummary) -> float:
    return process.started_at or 0.0


def _place(member: WorkerSummary) -> tuple[int, str, int]:
    if member.task is None:
        return len(_ORDER) + 1, "", 0
    kind = member.task.kind
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind, member.task.index
