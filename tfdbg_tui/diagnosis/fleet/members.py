"""What there is to say of the processes of a job: who is missing, hangs behind, or is another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.logdir.processes import tasks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfdbg_tui.diagnosis.fleet.summary import Crossing, WorkerSummary

NO_DUMP = "no_dump"

_BESIDE = "ps", "evaluator"  # the others, which run the same program together

_WORTH_A_WORD = 1.0  # seconds that a clock is ahead


def names(members: Sequence[WorkerSummary], numbers: Iterable[int]) -> str:
    """Return some processes as in a sentence: ``workers 0 and 2 to 5``."""
    kinds: dict[str, list[int]] = {}
    for number in numbers:
        task = members[number].task
        kinds.setdefault(task.kind if task else "process", []).append(
            task.index if task else number
        )
    plural = {kind: f"{kind}es" if kind.endswith("s") else f"{kind}s" for kind in kinds}
    parts = [
        f"{plural[kind] if len(its) > 1 else kind} {ranges(its)}" for kind, its in kinds.items()
    ]
    return _listed(parts)


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers as in a sentence: ``0, 2 to 5 and 9``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    words: list[str] = []
    for part in parts:
        words += map(str, part) if len(part) < 3 else [f"{part[0]} to {part[-1]}"]
    return _listed(words)


def served(members: Sequence[WorkerSummary]) -> frozenset[int]:
    """Return which processes did nothing but what a coordinator had them compute.

    Its own dump has the record of that.
    """
    coordinated = any(len(tasks_of("\n".join(member.devices))) > 1 for member in members)
    idle = (number for number, member in enumerate(members) if not member.events)
    return frozenset(idle) if coordinated else frozenset()


def beside(members: Sequence[WorkerSummary]) -> frozenset[int]:
    """Return which processes are beside those that run the program together, as evaluators."""
    kinds = (member.task.kind if member.task else "" for member in members)
    return frozenset(number for number, kind in enumerate(kinds) if kind in _BESIDE)


def able(members: Sequence[WorkerSummary]) -> list[int]:
    """Return which processes run the program: what occurs on every worker occurs there."""
    others = served(members) | beside(members)
    return [number for number in range(len(members)) if number not in others]


def notes(members: Sequence[WorkerSummary], skew: Sequence[float | None]) -> Iterator[str]:
    """Yield what is remarkable about processes, a sentence each."""
    idle = served(members)
    if idle:
        yield (
            f"{names(members, idle)} executed nothing of {'its' if len(idle) == 1 else 'their'} "
            "own: what a coordinator has others compute is on its own record"
        )
    apart = [number for number in beside(members) if members[number].roots]
    if apart and any(members[number].roots for number in able(members)):
        counts, clock = ("counts", "its clock puts") if len(apart) == 1 else ("count", "clocks put")
        yield (
            f"{names(members, apart)} {counts} steps of {'its' if len(apart) == 1 else 'their'} "
            f"own: these roots stand among those of others where {clock} them"
        )
    yield from _behind(members)
    differing = [number for number, ahead in enumerate(skew) if abs(ahead or 0.0) >= _WORTH_A_WORD]
    if differing:
        most = max((skew[number] or 0.0 for number in differing), key=abs)
        yield (
            f"clocks differ: {names(members, differing)} from {names(members, [0])} by "
            f"{most:+,.1f} s at most, as their collectives tell; steps and collectives give the "
            "order here, not clocks"
        )


def missing(members: Sequence[WorkerSummary]) -> Iterator[dict[str, Any]]:
    """Yield, as gaps, the tasks that left no dump: those between others, or known to exist."""
    kinds: dict[str, list[WorkerSummary]] = {}
    for member in members:
        if member.task is not None:
            kinds.setdefault(member.task.kind, []).append(member)
    for kind, its in kinds.items():
        there = {member.task.index for member in its if member.task}
        sizes = [member.task.size for member in its if member.task and member.task.size]
        absent = set(range(max([max(there) + 1, *sizes]))) - there
        if absent:
            who = f"{kind}{'s' * (len(absent) > 1)} {ranges(absent)}"
            text = f"No dump of {who} was given: what happened there is not known."
            yield {"kind": NO_DUMP, "text": text, "remedy": None}


def are_complete(members: Sequence[WorkerSummary]) -> bool:
    """Return whether all processes of a job are on record, as far as that is known."""
    if len(members) == 1 and members[0].task is not None:
        return members[0].task.size == 1  # where it is not known, there are others: it has a task
    return not any(missing(members))


def _behind(members: Sequence[WorkerSummary]) -> Iterator[str]:
    """Yield who has run a collective less often than others, or stands at an earlier step."""
    parts: dict[str, dict[int, Crossing]] = {}
    for number, member in enumerate(members):
        for crossing in member.crossings if member.whole else ():
            parts.setdefault(crossing.key, {})[number] = crossing
    for mine in parts.values():
        most = max(crossing.runs for crossing in mine.values())
        late = [number for number, crossing in mine.items() if crossing.runs < most - 1]
        if late:
            crossing = mine[late[0]]
            at = f" at {crossing.place}" if crossing.place else ""
            yield (
                f"{names(members, late)} hang{'s' * (len(late) == 1)} behind: "
                f"{crossing.runs:,} of {most:,} runs of the {crossing.family}{at}"
            )
            return
    marked = {number: members[number].last_step for number in able(members)}
    steps = {number: step for number, step in marked.items() if step is not None}
    last = max(steps.values(), default=0)
    late = [number for number, step in steps.items() if step < last - 1]
    if late:
        yield (
            f"{names(members, late)} hang{'s' * (len(late) == 1)} behind: the last step on record "
            f"is {min(steps[number] for number in late):,}, of others {last:,}"
        )


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
