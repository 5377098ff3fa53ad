"""Timelines of the processes of a job: a collective that they all run joins them.

Its n-th run is at the same place on all lines, whatever their clocks say; between two runs stands
how many alerts there were.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import WorkerSummary
    from tfdbg_tui.tui.session.job import Job
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell


@dataclass(frozen=True, slots=True)
class Course:
    """How a process got from one joint to the next.

    Attributes:
        alerts: How many it had before each joint that it has reached, and how many after all.
        bad_joint: The first joint at which the collective had given it NaN or ∞; None for none.
    """

    alerts: tuple[int, ...]
    bad_joint: int | None


def joined_cells(job: Job, number: int, width: int, charset: Charset) -> list[Cell]:
    """Return the timeline of a process, in line with those of the others.

    Args:
        job: The job.
        number: Position of the process.
        width: How many cells there is room for.
        charset: The characters to draw with.

    Returns:
        Cells; none where no collective joins the processes.
    """
    most_joints = (width - 1) // 2
    joints = _joints(job, most_joints)
    if not joints:
        return []
    courses = _courses(job, most_joints)
    most = max(max(course.alerts) for course in courses)
    return _cells(courses[number], len(joints), width, most, charset)


@lru_cache(4)
def _collective(job: Job) -> str:
    """Return the key of the collective that joins most processes, most often; "" for none."""
    runs: Counter[str] = Counter()
    members: Counter[str] = Counter()
    for member in job.report.members:
        runs.update({crossing.key: crossing.runs for crossing in member.crossings})
        members.update({crossing.key for crossing in member.crossings})
    joining = [key for key, count in members.items() if count > 1]
    return max(joining, key=lambda key: (members[key], runs[key]), default="")


@lru_cache(16)
def _joints(job: Job, most: int) -> tuple[int, ...]:
    """Return the runs of the collective that are drawn, of those that all have timed."""
    key = _collective(job)
    timed = [
        [run for run, _ in crossing.times]
        for member in job.report.members
        for crossing in member.crossings
        if crossing.key == key
    ]
    runs = max(timed, key=lambda runs: runs[-1], default=[])
    return tuple(runs[:: max(1, -(-len(runs) // most))])


@lru_cache(16)
def _courses(job: Job, most: int) -> tuple[Course, ...]:
    key, joints = _collective(job), _joints(job, most)
    return tuple(_course(member, key, joints) for member in job.report.members)


def _course(member: WorkerSummary, key: str, joints: Sequence[int]) -> Course:
    crossing = next((crossing for crossing in member.crossings if crossing.key == key), None)
    if crossing is None:
        return Course((0,), None)
    before = dict(
        zip((run for run, _ in crossing.times), accumulate(crossing.alerts), strict=False)
    )
    reached = [before[run] for run in joints if run in before]
    bad = crossing.bad_run
    return Course(
        tuple(
            after - earlier
            for earlier, after in zip((0, *reached), (*reached, sum(crossing.alerts)), strict=True)
        ),
        None if bad is None else next((n for n, run in enumerate(joints) if run >= bad), None),
    )


def _cells(course: Course, joints: int, width: int, most: int, charset: Charset) -> list[Cell]:
    """Return the cells of a line.

    Args:
        course: The process's.
        joints: How many joints there are.
        width: How many cells there is room for.
        most: The most alerts between two joints, on any line.
        charset: The characters to draw with.
    """
    stretch = (width - joints) // (joints + 1)
    border = "|" if charset.ascii_only else "│"
    cells: list[Cell] = []
    for number, alerts in enumerate(course.alerts):
        level = -(-alerts * (len(charset.bars) - 1) // max(1, most))
        text = charset.bars[level] if alerts else charset.dot
        cells.append((text * stretch, "bad" if alerts else "faint"))
        if number < len(course.alerts) - 1:
            cells.append((border, "bad" if number == course.bad_joint else "dim"))
    return cells
