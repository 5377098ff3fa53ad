"""Which roots of a job's processes came from which other process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.report import Via

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.fleet.summary import Crossing, LocalRoot, WorkerSummary

Place = tuple[int, int]
"""Position of a process in its job, and of a root among its roots."""

_NO_RECORD = Via("", "", "", None)


@dataclass(slots=True)
class Origin:
    """A root that no other process has brought in.

    Attributes:
        place: Where it is.
        unseen: Where it came out of a collective all the same: that, and whether all members are
            known to have put in nothing bad.
        consequences: Roots of other processes that go back to it, and how it got there.
    """

    place: Place
    unseen: tuple[Crossing, bool] | None = None
    consequences: list[tuple[Place, Via]] = field(default_factory=list)


def find_origins(members: Sequence[WorkerSummary], skew: Sequence[float | None]) -> list[Origin]:
    """Return the roots of a job that no other process has brought in.

    Args:
        members: The processes of the job.
        skew: Seconds by which the clock of each is ahead.
    """
    sources = {
        place: _sources(members, place) or _sources_without_record(members, skew, place)
        for place in _places(members)
    }
    origins = {
        place: Origin(place, unseen=_unseen(members, place))
        for place, found in sources.items()
        if not found
    }
    for place in sources:
        if place in origins:
            continue
        for origin, via in _followed(sources, origins, place).items():
            origins[origin].consequences.append((place, via))
    return list(origins.values())


def _followed(
    sources: dict[Place, list[tuple[Place, Via]]], origins: dict[Place, Origin], place: Place
) -> dict[Place, Via]:
    """Return the origins of a root, each with the last way that it took."""
    found: dict[Place, Via] = {}
    for source, via in sources[place]:
        waiting, seen = [source], {place}
        while waiting:
            one = waiting.pop()
            if one in origins:
                found.setdefault(one, via)
            elif one not in seen:
                seen.add(one)
                waiting += [before for before, _ in sources[one]]
    if not found:  # They go round in a circle: nobody was first.
        origins[place] = Origin(place)
    return found


def _places(members: Sequence[WorkerSummary]) -> Iterator[Place]:
    for worker, member in enumerate(members):
        for number in range(len(member.roots)):
            yield worker, number


def _sources(members: Sequence[WorkerSummary], place: Place) -> list[tuple[Place, Via]]:
    """Return the roots of other processes that a collective has brought in as this one."""
    worker, number = place
    crossing = _came_out_of(members[worker], number)
    if crossing is None:
        return []
    via = Via(crossing.family, crossing.op_type, crossing.place, crossing.bad_run)
    return [
        ((other, mine.root), via)
        for other, member in enumerate(members)
        for mine in member.crossings
        if other != worker
        and mine.root is not None
        and not mine.is_root
        and _same_run(members[worker], crossing, member, mine)
    ]


def _came_out_of(member: WorkerSummary, number: int) -> Crossing | None:
    """Return the collective that a root is the result of, or None."""
    for crossing in member.crossings:
        if crossing.is_root and crossing.root == number:
            return crossing
    return None


def _same_run(
    member: WorkerSummary, crossing: Crossing, other: WorkerSummary, mine: Crossing
) -> bool:
    """Whether the first bad results of two collective ops are of one run of one collective."""
    assert crossing.bad_run is not None
    if mine.bad_run is None or mine.family != crossing.family:
        return False
    if crossing.instance and mine.instance:
        if crossing.instance != mine.instance:
            return False
    elif crossing.key != mine.key and _shares_keys(member, other, crossing.family):
        return False
    if member.whole and other.whole:
        return mine.bad_run == crossing.bad_run
    # A circular buffer has dropped the first runs: both have ended with the same one.
    return mine.runs - mine.bad_run == crossing.runs - crossing.bad_run


def _shares_keys(one: WorkerSummary, other: WorkerSummary, family: str) -> bool:
    """Whether two processes run some collective of a kind by the same name: the same code."""
    keys = [{c.key for c in member.crossings if c.family == family} for member in (one, other)]
    return bool(keys[0] & keys[1])


def _sources_without_record(
    members: Sequence[WorkerSummary], skew: Sequence[float | None], place: Place
) -> list[tuple[Place, Via]]:
    """Return the root of another process that most likely came in without a record.

    Filters, compilers and TensorFlow's writer, outside of functions, leave collectives out.
    """
    worker, number = place
    root = members[worker].roots[number]
    if not root.open or members[worker].task is None or _came_out_of(members[worker], number):
        return []
    earlier = [
        (candidate.step or 0, candidate.wall_time - (skew[other] or 0.0), (other, position))
        for other, member in enumerate(members)
        for position, candidate in enumerate(member.roots)
        if other != worker
        and not candidate.open
        and _is_before(candidate, skew[other], root, skew[worker])
    ]
    return [(min(earlier)[-1], _NO_RECORD)] if earlier else []


def _is_before(root: LocalRoot, ahead: float | None, other: LocalRoot, its: float | None) -> bool:
    """Whether a root is known to be earlier than one of another process.

    Args:
        root: The root.
        ahead: Seconds by which the clock of its process is ahead; None where that is not known.
        other: The other root.
        its: The same for its process.
    """
    alike = root.counted_by == other.counted_by
    if alike and root.step is not None and other.step is not None and root.step != other.step:
        return root.step < other.step
    return ahead is not None and its is not None and root.wall_time - ahead < other.wall_time - its


def _unseen(members: Sequence[WorkerSummary], place: Place) -> tuple[Crossing, bool] | None:
    """Return the collective that an origin came out of, and whether nobody put in anything bad."""
    worker, number = place
    crossing = _came_out_of(members[worker], number)
    if crossing is None:
        return None
    given = [
        mine.given
        for other, member in enumerate(members)
        for mine in member.crossings
        if other == worker or _same_run(members[worker], crossing, member, mine)
    ]
    return crossing, len(given) >= len(members) and set(given) == {"finite"}
