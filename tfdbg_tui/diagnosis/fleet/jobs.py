"""Which processes are of one job."""

from __future__ import annotations

from collections import Counter
from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.locations import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary

_CLOCKS_DIFFER = 300.0
"""Seconds that clocks of one job may differ by, or that its start may take."""

_SERVER = "ps"
_ORDER = ("chief", "master", "worker", "evaluator", _SERVER)

_IN_CLUSTER = object()

Job = list["WorkerSummary"]

_Span = tuple[float, float]


def group_jobs(summaries: Iterable[WorkerSummary]) -> list[Job]:
    """Return the processes of each job, in order of their tasks; the oldest job first.

    A dump that does not say of which cluster it is does not say of which job, either: a job has
    each task once, its processes run at the same time, and they share collectives.  Of a task that
    was started twice, the process that has run collectives is the one that the others know.
    """
    ordered = sorted(
        summaries,
        key=lambda one: (
            one.started_at is None,  # damaged: it may fit anywhere
            not one.crossings,
            _start(one),
            one.logdir,
            one.name,
        ),
    )
    groups: Iterable[_Group] = map(_Group, ordered)
    for slack in (0.0, _CLOCKS_DIFFER):  # First those that surely ran at the same time.
        groups = _merged(groups, slack)
    groups = _with_silent(_merged(groups, 0.0, by_runs=True))
    jobs = [sorted(group.members, key=_place) for group in groups]
    return sorted(jobs, key=lambda job: min(map(_start, job)))


class _Group:
    """Processes that may be of one job, and all of them that decides who else may be.

    That is little, however many they are: adding one to a large group costs no more.

    Args:
        process: The first of them.

    Attributes:
        members: The processes.
    """

    def __init__(self, process: WorkerSummary) -> None:
        task = process.task
        self.members = [process]
        self._tasks = {(task.kind, task.index)} if task else set()
        self._programs = {_Program.of(process)} if task else set()
        self._run_ids = {process.run_id}
        self._has_others = task is None  # than tasks of clusters
        self._spans = [_span(process)]

    def add(self, other: _Group) -> None:
        """Take over the members of another group, which are of the same job."""
        self.members += other.members
        self._tasks |= other._tasks
        self._programs |= other._programs
        self._run_ids |= other._run_ids
        self._has_others |= other._has_others
        self._spans = _united([*self._spans, *other._spans])

    def marks(self) -> Iterator[object]:
        """Yield what it has at least one of in common with each group that it may fit."""
        yield from self._run_ids - {None}
        if self._tasks:
            yield _IN_CLUSTER

    def fits(self, other: _Group, slack: float, *, by_runs: bool) -> bool:
        """Whether each process of one group may be of one job with each of the other."""
        if self._tasks & other._tasks:
            return False
        if self._has_others or other._has_others:
            if len(self._run_ids | other._run_ids) > 1:
                return False
        elif not all(
            one.fits(its, by_runs=by_runs) for one, its in product(self._programs, other._programs)
        ):
            return False
        if any(_overlap(*pair, slack) for pair in product(self._spans, other._spans)):
            return True
        return bool(slack) and bool(self._clusters() & other._clusters())

    def likeness(self, other: _Group) -> tuple[bool, float]:
        """Return how likely it is that a group that fits is of the same job."""
        mine, its = self.members[0], other.members[0]
        same_program = file_name(mine.program) == file_name(its.program)
        return same_program, -abs(_start(mine) - _start(its))

    @property
    def is_silent(self) -> bool:
        """Whether nothing was recorded, not even where."""
        return not any(one.task or one.events or one.devices for one in self.members)

    @property
    def has_server(self) -> bool:
        """Whether variables are on a server, which a coordinator's records name."""
        return any(kind == _SERVER for kind, _ in self._tasks)

    def began_with(self, other: _Group) -> bool:
        """Whether it may have started together with another group."""
        starts = [_start(group.members[0]) for group in (self, other)]
        return abs(starts[0] - starts[1]) <= _CLOCKS_DIFFER

    def _clusters(self) -> set[str]:
        return {program.cluster for program in self._programs} - {""}


class _Program(NamedTuple):
    """What a process tells of its job.

    Attributes:
        cluster: Name of its cluster; "" where unknown.
        keys: Those of its collectives.
        runs: How often each family of these has run.
    """

    cluster: str
    keys: frozenset[str]
    runs: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, process: WorkerSummary) -> _Program:
        """Return what a process of a cluster tells."""
        runs: Counter[str] = Counter()
        for crossing in process.crossings:
            runs[crossing.family] += crossing.runs
        keys = frozenset(crossing.key for crossing in process.crossings)
        return cls(process.task.cluster if process.task else "", keys, frozenset(runs.items()))

    def fits(self, other: _Program, *, by_runs: bool) -> bool:
        """Whether two tasks may be of one cluster.

        Args:
            other: What the other one tells.
            by_runs: Whether it is enough that they ran collectives as often, under whatever keys.
        """
        if self.cluster and other.cluster:
            return self.cluster == other.cluster
        if by_runs and self.runs == other.runs:
            return True
        return bool(self.keys & other.keys) or not (self.keys and other.keys)


def _merged(groups: Iterable[_Group], slack: float, *, by_runs: bool = False) -> list[_Group]:
    merged: list[_Group] = []
    marked: dict[object, dict[_Group, None]] = {}
    for group in groups:
        candidates = chain.from_iterable(marked.get(mark, ()) for mark in group.marks())
        fitting = [other for other in candidates if other.fits(group, slack, by_runs=by_runs)]
        if fitting:
            place = max(fitting, key=group.likeness)
            place.add(group)
        else:
            place = group
            merged.append(group)
        for mark in group.marks():
            marked.setdefault(mark, {})[place] = None
    return merged


def _with_silent(groups: Iterable[_Group]) -> list[_Group]:
    """Return groups, with processes that recorded nothing in the job that they served.

    TensorFlow's writer leaves no record of what workers compute for a coordinator: nothing but
    when they started tells that they are of its job.
    """
    groups = list(groups)
    silent = [group for group in groups if group.is_silent]
    found = [group for group in groups if not group.is_silent]
    coordinated = [group for group in found if group.has_server]
    for group in silent:
        places = [place for place in coordinated if place.began_with(group)]
        if len(places) == 1:
            places[0].add(group)
        else:
            found.append(group)
    return found


def _span(process: WorkerSummary) -> _Span:
    if process.started_at is None:
        return float("-inf"), float("inf")
    return process.started_at, process.ended_at


def _overlap(one: _Span, other: _Span, slack: float = 0.0) -> bool:
    return one[0] <= other[1] + slack and other[0] <= one[1] + slack


def _united(spans: Iterable[_Span]) -> list[_Span]:
    """Return spans of time, with those that overlap made one."""
    united: list[_Span] = []
    for start, end in sorted(spans):
        if united and _overlap(united[-1], (start, end)):
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united


def _start(process: WorkerSummary) -> float:
    return process.started_at or 0.0


def _place(member: WorkerSummary) -> tuple[int, str, int]:
    if member.task is None:
        return len(_ORDER) + 1, "", 0
    kind = member.task.kind
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind, member.task.index
