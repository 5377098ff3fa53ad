"""Reports on jobs as plain text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.fleet.members import names
from tfdbg_tui.diagnosis.report.cards import alerts_text
from tfdbg_tui.diagnosis.report.verdicts import verdict_word
from tfdbg_tui.diagnosis.report.words import (
    HARMLESS_TITLE,
    paragraph,
    suspects_title,
    verdict_line,
)
from tfdbg_tui.logdir.processes import tasks_of
from tfdbg_tui.logdir.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.fleet.report import (
        FleetReport,
        FleetRoot,
        JobReport,
        SpeaksFor,
        Unread,
        Via,
    )
    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary
    from tfdbg_tui.diagnosis.report.chains import GroupKind

_CLOCK = 0.1  # seconds that a clock differs by, to be told

_COUNTS_SAY: dict[SpeaksFor | None, str] = {
    "data": "Its own inputs account for it: the counts speak for its data, not for its hardware.",
    "hardware": "Its inputs are finite, as on the others, and nothing in their counts accounts for "
    "it: they speak for its hardware, or for elements that counts do not tell apart.",
    None: "What went into it is not on record: the counts speak neither for its data nor for its "
    "hardware.",
}

_MEMBERS = 16
"""Processes of a job that are listed one by one."""


def fleet_to_text(report: FleetReport) -> str:
    """Return a report as text; strings of the logdirs are made safe to print."""
    several = len(report.jobs) > 1
    titles = list(map(_title, report.jobs, report.first_starts()))
    parts = ["\n".join(_contents(report.jobs, titles))] if several else []
    for number, (job, title) in enumerate(zip(report.jobs, titles, strict=True), 1):
        parts += [f"{number} of {len(report.jobs)}: {title}"] if several else []
        parts += _job(job)
    parts += _unread(report.unread)
    return "\n\n".join(parts)


def _contents(jobs: Sequence[JobReport], titles: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of several jobs."""
    yield f"{len(jobs):,} jobs and runs, each with a report of its own"
    for number, (job, title) in enumerate(zip(jobs, titles, strict=True), 1):
        yield f"  {number:>3}  {verdict_word(job.verdict, job.problems):10} {title}"


def _title(job: JobReport, first_start: int | None) -> str:
    first, count = job.members[0], len(job.members)
    kind = f"{first.task} of a job" if first.task else "a run"
    kind = f"a job of {count:,} processes" if count > 1 else kind
    if job.started_at:
        kind += f", started {datetime.fromtimestamp(job.started_at):%Y-%m-%d %H:%M:%S}"
    if first_start is not None:
        kind += f" (another start of {first_start + 1})"
    return printable(f"{kind}: {', '.join(filter(None, (first.program, first.logdir)))}")


def _job(job: JobReport) -> Iterator[str]:
    yield _verdict(job)
    for number, root in enumerate(job.roots, 1):
        yield _root(job, root, "root", f"{number}. ")
    if job.suspects:
        yield suspects_title(bad=bool(job.roots))
        for suspect in job.suspects:
            yield _root(job, suspect, "suspect", "- ")
    if job.harmless:
        yield HARMLESS_TITLE
        for root in job.harmless:
            title = f"{root.finding['title']}: {root.finding['evidence']}"
            yield paragraph("-", f"{title}; {_whose(job, root.workers)}")
    for workers, gap in job.gaps:
        who = f"{_whose(job, workers)}: " if workers and _is_several(job) else ""
        yield paragraph("missing", who + gap["text"]) + _command(gap["remedy"])
    for note in job.notes:
        yield paragraph("note", note)
    yield from _problems(job)
    if _is_several(job):
        yield "\n".join(_members(job))


def _verdict(job: JobReport) -> str:
    where = f" on {len(job.members):,} processes" if _is_several(job) else ""
    found = len(job.roots), len(job.suspects)
    return verdict_line(job.verdict, job.alerts, *found, job.problems, where)


def _root(job: JobReport, root: FleetRoot, kind: GroupKind, bullet: str) -> str:
    title, *lines = root.card
    told = [bullet + title]
    if _is_several(job):
        told.append(paragraph("worker", made_by(job, root)))
        if root.reached:
            told.append(paragraph("reached", reached(job, root)))
        elif root.alike:
            told.append(paragraph("", "All alike: it is in the program, not in one worker's data."))
        if root.alone:
            told.append(paragraph("", _alone(root)))
    label, text = alerts_text(kind, root.alerts)
    told.append(paragraph(label, text))
    return "\n".join((*told, *lines))


def made_by(job: JobReport, root: FleetRoot) -> str:
    """Return which processes made a root, and when."""
    when = f", {root.when}" if root.when else ""
    of = ", one of" if len(root.workers) == 1 else " of"  # they are numbered from 0 on
    who = f"{_whose(job, root.workers)}{of} {len(job.members):,} processes"
    hosts = {job.members[number].host for number in root.workers} - {""}
    where = f" ({', '.join(sorted(hosts))})" if len(root.workers) == 1 and hosts else ""
    return f"{who}{where}{_computed_by(job, root)}{when}"


def _computed_by(job: JobReport, root: FleetRoot) -> str:
    """Return which other process a coordinator had compute it, in words; "" for none."""
    tasks, own = tasks_of(root.finding["device"] or ""), job.members[root.workers[0]].task
    if not tasks or own is None or (tasks[0].kind, tasks[0].index) == (own.kind, own.index):
        return ""
    return f", which had {tasks[0]} compute it"


def reached(job: JobReport, root: FleetRoot) -> str:
    """Return which processes a root has reached, and how."""
    return f"{_whose(job, root.reached)} {'; '.join(map(way, root.via))}"


def way(via: Via) -> str:
    """Return how a bad value got from one process to another."""
    if via.run is None:
        return "through a collective that left no record, it seems"
    at = f" at {via.place}" if via.place else ""
    return f"through the {via.family}{at} ({via.op_type}), in its run {via.run + 1:,}"


def _alone(root: FleetRoot) -> str:
    """Return what it means that one process alone has made a root."""
    return f"No other worker on record has it. {_COUNTS_SAY[root.speaks_for]}"


def _problems(job: JobReport) -> Iterator[str]:
    found: dict[str, list[int]] = {}
    for number, member in enumerate(job.members):
        for problem in _one_of_each_file(member):
            found.setdefault(problem, []).append(number)
    for problem, workers in found.items():
        sentences, _, command = problem.partition("\n")
        who = f"{_whose(job, workers)}: " if _is_several(job) else ""
        yield paragraph("note", who + sentences) + _command(command)


def _one_of_each_file(member: WorkerSummary) -> Iterator[str]:
    """Yield what is wrong with a process's dump: of each file one thing, and how many more."""
    files: dict[str, list[str]] = {}
    for problem in member.problems:
        path = problem.partition(": ")[0]
        files.setdefault(path if path.startswith(member.logdir) else problem, []).append(problem)
    for first, *more in files.values():
        yield f"{first}; {len(more):,} more of this file" if more else first


def _members(job: JobReport) -> Iterator[str]:
    """Yield a line for each process, those without alerts last where there are many."""
    yield "processes"
    numbers = list(range(len(job.members)))
    if len(numbers) > _MEMBERS:
        numbers.sort(key=lambda number: not job.members[number].alerts)
    shown = {number: _whose(job, [number]) for number in numbers[:_MEMBERS]}
    width = max(map(len, shown.values()))
    for number, name in shown.items():
        yield printable(f"  {name:{width}}  {_facts(job, number)}")
    if len(numbers) > _MEMBERS:
        yield f"  and {len(numbers) - _MEMBERS:,} more"


def _facts(job: JobReport, number: int) -> str:
    member, skew = job.members[number], job.skew[number]
    step = f", step {member.last_step:,}" if member.last_step is not None else ""
    clock = f", clock {skew:+.1f} s" if abs(skew or 0.0) >= _CLOCK else ""
    counts = f"{counted(member.events, 'event')}, {counted(member.alerts, 'alert')}{step}{clock}"
    return f"{member.host}  {counts}  {member.logdir}"


def _unread(unread: Sequence[Unread]) -> Iterator[str]:
    """Yield a line for each thing that could not be read, or for many of one reason."""
    alike: dict[str, list[str]] = {}
    for one in unread:
        alike.setdefault(one.reason, []).append(one.path)
    for reason, paths in alike.items():
        for path in paths[:_MEMBERS]:
            yield paragraph("unread", f"{path}: {reason}")
        if len(paths) > _MEMBERS:
            yield paragraph("unread", f"and {len(paths) - _MEMBERS:,} more: {reason}")


def _command(command: str | None) -> str:
    return f"\n\n      {printable(command)}" if command else ""


def _whose(job: JobReport, workers: Sequence[int]) -> str:
    return names(job.members, workers)


def _is_several(job: JobReport) -> bool:
    return len(job.members) > 1
