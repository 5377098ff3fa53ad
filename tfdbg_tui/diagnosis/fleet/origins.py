"""Which roots of a job's processes came from which other process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.meetings import Meeting, find_meetings
from tfdbg_tui.diagnosis.fleet.members import able, are_complete
from tfdbg_tui.diagnosis.fleet.report import Via
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfdbg_tui.diagnosis.fleet.meetings import End, RootPlace
    from tfdbg_tui.diagnosis.fleet.summary import Crossing, LocalRoot, WorkerSummary

_NO_RECORD = Via("", "", "", None)


@dataclass(slots=True, eq=False)
class Spread:
    """What became of something bad on other processes, for all origins that it may go back to.

    Attributes:
        consequences: Roots of other processes that go back to them, and how it got there.
        reached: Processes that got it, and how, whether it was the first bad value there or not.
    """

    consequences: list[tuple[RootPlace, Via]] = field(default_factory=list)
    reached: list[tuple[int, Via]] = field(default_factory=list)


@dataclass(slots=True)
class Origin:
    """A root that no other process has brought in.

    Attributes:
        place: Where it is.
        unseen: Where it came out of a collective all the same: that, and whether all members are
            known to have put in nothing bad.
        spreads: What became of it, one for each run of a collective that it went into.
    """

    place: RootPlace
    unseen: tuple[Crossing, bool] | None = None
    spreads: list[Spread] = field(default_factory=list)


def find_origins(members: Sequence[WorkerSummary], skew: Sequence[float | None]) -> list[Origin]:
    """Return the roots of a job that no other process has brought in.

    Args:
        members: The processes of the job.
        skew: Seconds by which the clock of each is ahead.
    """
    meetings = find_meetings(members)
    met = _first_met(meetings)
    came = _came_in(members, skew, meetings, met)
    origins = {place: Origin(place) for place in _places(members) if place not in came}
    complete, together = are_complete(members), frozenset(able(members))
    for place in origins.keys() & met.keys():
        meeting, end = met[place]
        if members[place[0]].task is not None:
            origins[place].unseen = end.crossing, complete and together <= meeting.finite
    spreads = {meeting: _spread(meeting) for meeting in meetings if meeting.given}
    for place, (meeting, via) in came.items():
        spread = spreads.setdefault(meeting, Spread())
        spread.consequences.append((place, via))
        spread.reached.append((place[0], via))
    for meeting, spread in spreads.items():
        before = _origins_before(meeting, came, origins)
        for origin in before:
            origin.spreads.append(spread)
        if not before:  # They go round in a circle: nobody was first.
            origins |= {place: Origin(place) for place, _ in spread.consequences}
    return list(origins.values())


def _first_met(meetings: Sequence[Meeting]) -> dict[RootPlace, tuple[Meeting, End]]:
    """Return, for each root that is the result of a collective, the first run that gave it."""
    found: dict[RootPlace, tuple[Meeting, End]] = {}
    for meeting in meetings:
        for end in meeting.got:
            if end.bad.is_root:
                found.setdefault(end.place, (meeting, end))
    return found


def _spread(meeting: Meeting) -> Spread:
    return Spread(reached=[(end.worker, end.via) for end in meeting.got])


def _places(members: Sequence[WorkerSummary]) -> Iterator[RootPlace]:
    for worker, member in enumerate(members):
        for number in range(len(member.roots)):
            yield worker, number


def _came_in(
    members: Sequence[WorkerSummary],
    skew: Sequence[float | None],
    meetings: Sequence[Meeting],
    met: Mapping[RootPlace, tuple[Meeting, End]],
) -> dict[RootPlace, tuple[Meeting, Via]]:
    """Return the roots that other processes have brought in, and how."""
    came = {}
    unrecorded = _Unrecorded(members, skew, meetings)
    for place in _places(members):
        if place in met:
            meeting, end = met[place]
            if meeting.given:
                came[place] = meeting, end.via
        elif (earlier := unrecorded.meeting(place)) is not None:
            came[place] = earlier, _NO_RECORD
    return came


def _origins_before(
    meeting: Meeting,
    came: Mapping[RootPlace, tuple[Meeting, Via]],
    origins: Mapping[RootPlace, Origin],
) -> list[Origin]:
    """Return the origins that a run of a collective has got its bad values from."""
    found = []
    places = Worklist(meeting.given)
    for place in places:
        if place in origins:
            found.append(origins[place])
        else:
            places.add(*came[place][0].given)
    return found


class _Unrecorded:
    """Finds what most likely came in from another process without a record.

    Filters, compilers and TensorFlow's writer, outside of functions, leave collectives out.

    Args:
        members: The processes of the job.
        skew: Seconds by which the clock of each is ahead.
        recorded: The runs of collectives that are on record.
    """

    def __init__(
        self,
        members: Sequence[WorkerSummary],
        skew: Sequence[float | None],
        recorded: Iterable[Meeting],
    ) -> None:
        self._members = members
        self._together = frozenset(able(members))
        self._known = {
            (place, end.worker)
            for meeting in recorded
            for place in meeting.given
            for end in meeting.got
        }
        self._skew = skew
        self._meetings: dict[RootPlace, Meeting] = {}
        made_there = [
            (root.step or 0, root.wall_time - (skew[worker] or 0.0), (worker, number))
            for worker, member in enumerate(members)
            for number, root in enumerate(member.roots)
            if not root.open and worker in self._together
        ]
        self._candidates = [place for *_, place in sorted(made_there)]

    def meeting(self, place: RootPlace) -> Meeting | None:
        """Return that by which an earlier root of another process may have come in as this one."""
        worker, number = place
        member = self._members[worker]
        if not member.roots[number].open or worker not in self._together or member.task is None:
            return None
        for candidate in self._candidates:
            is_known = (candidate, worker) in self._known  # by which way it got there
            if candidate[0] != worker and not is_known and self._is_before(candidate, place):
                return self._meetings.setdefault(candidate, Meeting((candidate,)))
        return None

    def _is_before(self, place: RootPlace, other: RootPlace) -> bool:
        """Whether a root is known to be earlier than one of another process."""
        root, its = self._root(place), self._root(other)
        alike = root.counted_by == its.counted_by
        if alike and root.step is not None and its.step is not None and root.step != its.step:
            return root.step < its.step
        ahead, its_ahead = self._skew[place[0]], self._skew[other[0]]
        if ahead is None or its_ahead is None:
            return False
        return root.wall_time - ahead < its.wall_time - its_ahead

    def _root(self, place: RootPlace) -> LocalRoot:
        return self._members[place[0]].roots[place[1]]
