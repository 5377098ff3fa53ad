"""Runs of collectives out of which something bad came: which processes took part, with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.fleet.summary import Crossing, WorkerSummary

Place = tuple[int, int]
"""Position of a process in its job, and of a root among its roots."""


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """One run of a collective, on all processes that are known to have taken part.

    Attributes:
        given: Roots that were put into it.
        finite: The processes that are known to have put in nothing bad, where no other did.
    """

    given: tuple[Place, ...]
    finite: frozenset[int] = frozenset()


class _Identity(NamedTuple):
    """What tells runs of collectives from each other, and the names that its process has for them.

    Attributes:
        family: What the collective does.
        key: As in `Crossing`.
        keys: Those of all collectives of the family that the process has run.
        instance: As in `Crossing`.
        whole: Whether the process has all runs on record.
        run: Number of the run, from 0, among those on record.
        left: How many runs were still to come, and this one.
    """

    family: str
    key: str
    keys: frozenset[str]
    instance: tuple[int, ...]
    whole: bool
    run: int
    left: int


_End = tuple[int, "Crossing"]
"""A process and its part in a meeting."""


def find_meetings(members: Sequence[WorkerSummary]) -> dict[Place, tuple[Crossing, Meeting]]:
    """Return, for each root that is the result of a collective, that and the run of it.

    Args:
        members: The processes of the job.
    """
    ends: dict[_Identity, list[_End]] = {}
    for worker, member in enumerate(members):
        for crossing in member.crossings:
            if crossing.bad_run is not None:
                ends.setdefault(_identity(member, crossing, crossing.bad_run), []).append(
                    (worker, crossing)
                )
    found: dict[Place, tuple[Crossing, Meeting]] = {}
    for identity, its in ends.items():
        meeting = _meeting(_same_run(identity, ends))
        for worker, crossing in its:
            if crossing.is_root and crossing.root is not None:
                found.setdefault((worker, crossing.root), (crossing, meeting))
    return found


def _identity(member: WorkerSummary, crossing: Crossing, run: int) -> _Identity:
    keys = frozenset(one.key for one in member.crossings if one.family == crossing.family)
    left = crossing.runs - run
    return _Identity(
        crossing.family, crossing.key, keys, crossing.instance, member.whole, run, left
    )


def _same_run(identity: _Identity, ends: dict[_Identity, list[_End]]) -> list[_End]:
    return [end for other, its in ends.items() if _are_same(identity, other) for end in its]


def _are_same(one: _Identity, other: _Identity) -> bool:
    """Whether two processes have taken part in one run of one collective."""
    if one.family != other.family:
        return False
    if one.instance and other.instance:
        if one.instance != other.instance:
            return False
    elif one.key != other.key and one.keys & other.keys:  # They run the same code.
        return False
    if one.whole and other.whole:
        return one.run == other.run
    # A circular buffer has dropped the first runs: both have ended with the same one.
    return one.left == other.left


def _meeting(ends: Sequence[_End]) -> Meeting:
    places = [(w, c.root, c.is_root) for w, c in ends if c.root is not None]
    results = {(worker, root) for worker, root, is_result in places if is_result}
    given = dict.fromkeys((worker, root) for worker, root, _ in places)
    all_finite = all(crossing.given == "finite" for _, crossing in ends)
    return Meeting(
        given=tuple(place for place in given if place not in results),
        finite=frozenset(worker for worker, _ in ends if all_finite),
    )
