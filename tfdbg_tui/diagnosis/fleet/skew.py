"""By how much the clocks of a job's processes differ, as its collectives tell."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary


def clock_skew(members: Sequence[WorkerSummary]) -> tuple[float | None, ...]:
    """Return by how many seconds each process's clock is ahead of that of the first.

    A run of a collective ends on all members at nearly the same moment: the median of what they
    have recorded of the same runs is the difference of their clocks.  None where they share none.
    """
    first = _times(members[0])
    skew: list[float | None] = [0.0]
    for member in members[1:]:
        times = _times(member)
        apart = [times[run] - first[run] for run in times.keys() & first.keys()]
        skew.append(median(apart) if apart else None)
    return tuple(skew)


def _times(member: WorkerSummary) -> dict[tuple[str, int], float]:
    """Return when runs of collectives were recorded, counted from the start of the job."""
    if not member.whole:
        return {}
    return {
        (crossing.key, run): time for crossing in member.crossings for run, time in crossing.times
    }
