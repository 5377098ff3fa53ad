"""Runs of collectives out of which something bad came: which processes took part, with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.fleet.report import Via

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.fleet.summary import BadRun, Crossing, WorkerSummary

RootPlace = tuple[int, int]
"""Position of a process in its job, and of a root among its roots."""


class End(NamedTuple):
    """The part of a process in a run of a collective."""

    worker: int
    crossing: Crossing
    bad: BadRun

    @property
    def place(self) -> RootPlace:
        """The root that it is of."""
        return self.worker, self.bad.root

    @property
    def gave(self) -> bool:
        """Whether something bad went in."""
        unknown = self.bad.given == "unknown" and not self.bad.is_root
        return self.bad.given == "bad" or unknown

    @property
    def via(self) -> Via:
        """How what came out of it got there."""
        crossing = self.crossing
        return Via(crossing.family, crossing.op_type, crossing.place, self.bad.run)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """One run of a collective, on all processes that are known to have taken part.

    Attributes:
        given: Roots that were put into it.
        got: The parts of those that got something bad out of it and had put in nothing bad.
        finite: The processes that are known to have put in nothing bad, where no other did.
    """

    given: tuple[RootPlace, ...]
    got: tuple[End, ...] = ()
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


def find_meetings(members: Sequence[WorkerSummary]) -> list[Meeting]:
    """Return the runs of collectives out of which something bad came.

    Args:
        members: The processes of the job.
    """
    ends: dict[_Identity, list[End]] = {}
    for worker, member in enumerate(members):
        for crossing in member.crossings:
            for bad in crossing.bad:
                identity = _identity(member, crossing, bad.run)
                ends.setdefault(identity, []).append(End(worker, crossing, bad))
    return [_meeting(its, _same_run(identity, ends)) for identity, its in ends.items()]


def _identity(member: WorkerSummary, crossing: Crossing, run: int) -> _Identity:
    keys = frozenset(one.key for one in member.crossings if one.family == crossing.family)
    left = crossing.runs - run
    return _Identity(
        crossing.family, crossing.key, keys, crossing.instance, member.whole, run, left
    )


def _same_run(identity: _Identity, ends: dict[_Identity, list[End]]) -> list[End]:
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


def _meeting(its: Sequence[End], ends: Sequence[End]) -> Meeting:
    """Return a run of a collective.

    Args:
        its: The parts of the processes that have the same names for it.
        ends: Those of all.
    """
    all_finite = all(end.bad.given == "finite" for end in ends)
    return Meeting(
        given=tuple(dict.fromkeys(end.place for end in ends if end.gave)),
        got=tuple(end for end in its if end.bad.came_out and not end.gave),
        finite=frozenset(end.worker for end in ends if all_finite),
    )
