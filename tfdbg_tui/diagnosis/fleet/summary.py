"""What is kept of one process of a job: some kilobytes, whatever the size of its logdir."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from tfdbg_tui.logdir import Task

if TYPE_CHECKING:
    from collections.abc import Iterable

SUMMARY_VERSION = 4

Given = Literal["bad", "finite", "unknown"]


@dataclass(frozen=True, slots=True)
class BadRun:
    """A run of a collective op into which something bad went, or out of which it came.

    Attributes:
        run: Which run, from 0.
        given: What the process itself had put in.
        root: Position, among the roots of the process, of that which what it had put in goes back
            to; where that was not bad, of that which the result goes back to.
        came_out: Whether the result was bad.
        is_root: Whether the result is that root itself: nothing bad before it is on record.
    """

    run: int
    given: Given
    root: int
    came_out: bool
    is_root: bool


@dataclass(frozen=True, slots=True)
class Crossing:
    """A collective op of a process: where values of other processes come in.

    Attributes:
        key: The same on all members of the group that run the same program.
        family: What it does, as "all-reduce".
        op_type: Type of the op.
        place: The user's line, as ``train.py:24``; "" where that is not known.
        runs: How often it has run.
        times: Some of its runs, from 0, and when they were recorded: one in a power of two, so that
            processes that ran it more or less often have some in common.
        alerts: How many alerts of its list of events came before each of these, and after the last.
        bad: The first of its runs in which something was bad, in each way.
        instance: Group and instance key, the same on all members; () where they are not recorded.
    """

    key: str
    family: str
    op_type: str
    place: str
    runs: int
    times: tuple[tuple[int, float], ...]
    alerts: tuple[int, ...]
    bad: tuple[BadRun, ...] = ()
    instance: tuple[int, ...] = ()

    @property
    def bad_run(self) -> int | None:
        """The first run that gave NaN or ∞; None where none did."""
        return next((one.run for one in self.bad if one.came_out), None)


@dataclass(frozen=True, slots=True)
class LocalRoot:
    """A root as one process sees it.

    Attributes:
        finding: In the form of ``diagnose --json``.
        card: In the form of ``diagnose``, line by line, without its number of alerts.
        harmless: Whether no bad value got anywhere that matters, within the process.
        wall_time: When its first bad tensor was recorded.
        when: Its training step among all there are, in words; "" where it is in none.
        counted_by: Where the program marked no steps: the function, or op, of which each call was
            taken to be in a step of its own; "" where they were recorded.
        crossings: How many timed runs of collectives came before.
        open: Whether an input left no record, so that it may have come from there: nothing else
            proves what made it.
    """

    finding: dict[str, Any]
    card: tuple[str, ...]
    harmless: bool
    wall_time: float
    when: str
    counted_by: str
    crossings: int
    open: bool

    @property
    def step(self) -> int | None:
        """Training step, recorded or counted; None where it is in none."""
        step: int | None = self.finding["step"]
        return step


@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """A process of a job, or a run that is of none.

    Attributes:
        logdir: Directory of its files.
        name: What tells its files from others in that directory.
        run_id: TensorFlow's id of the run; None where no metadata file could be read.
        task: Its place in a cluster; None outside of one.
        host: Host that it ran on; "" where unknown.
        program: Path of the program; "" where no frame of it is on record.
        code: The user's files, from the program's directory, with a digest of each text.
        devices: Names of its devices.
        started_at: When the writer started, in seconds since the epoch.
        ended_at: When the last event was recorded, or the writer started.
        whole: Whether all events since its start are on record: no circular buffer.
        verdict: That of the process alone.
        alerts: Number of alerts.
        events: Number of executions and graph executions.
        last_step: The last training step on record, where the program marked them.
        bytes: Size of its files.
        roots: What made its alerts; those without harm last.
        crossings: Its collective ops.
        suspects: Defects that have not led to NaN or ∞; ``diagnose --json`` and lines of each.
        gaps: What is not on record, in the form of ``diagnose --json``.
        problems: What is wrong with its files, and what the dump is too weak to prove.
    """

    logdir: str
    name: str
    run_id: str | None
    task: Task | None
    host: str
    program: str
    code: tuple[tuple[str, str], ...]
    devices: tuple[str, ...]
    started_at: float | None
    ended_at: float
    whole: bool
    verdict: str
    alerts: int
    events: int
    last_step: int | None
    bytes: int
    roots: tuple[LocalRoot, ...]
    crossings: tuple[Crossing, ...]
    suspects: tuple[LocalRoot, ...]
    gaps: tuple[dict[str, Any], ...]
    problems: tuple[str, ...]


class SummaryError(ValueError):
    """A file that holds no summaries of this version; the message says so in a sentence."""


def summaries_to_json(summaries: Iterable[WorkerSummary]) -> str:
    """Return summaries as the text of a file."""
    content = {"summary_version": SUMMARY_VERSION, "workers": [asdict(one) for one in summaries]}
    return json.dumps(content, ensure_ascii=False)


def summaries_from_json(text: str) -> list[WorkerSummary]:
    """Return the summaries that a file holds.

    Raises:
        SummaryError: It holds something else.
    """
    try:
        content = json.loads(text)
        if content["summary_version"] != SUMMARY_VERSION:
            raise SummaryError(f"holds summaries of version {content['summary_version']}")
        return [_worker(fields) for fields in content["workers"]]
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError):
        raise SummaryError("holds no summaries that run --summary has written") from None


def _worker(fields: dict[str, Any]) -> WorkerSummary:
    task = fields.pop("task")
    lists = {name: fields.pop(name) for name in ("roots", "crossings", "suspects")}
    crossings = [
        Crossing(
            **{
                **crossing,
                "times": tuple(map(tuple, crossing["times"])),
                "alerts": tuple(crossing["alerts"]),
                "bad": tuple(BadRun(**one) for one in crossing["bad"]),
                "instance": tuple(crossing["instance"]),
            }
        )
        for crossing in lists["crossings"]
    ]
    plain: dict[str, Any] = {
        name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()
    }
    plain["code"] = tuple(map(tuple, fields["code"]))
    return WorkerSummary(
        **plain,
        task=Task(**task) if task else None,
        roots=_roots(lists["roots"]),
        crossings=tuple(crossings),
        suspects=_roots(lists["suspects"]),
    )


def _roots(fields: list[dict[str, Any]]) -> tuple[LocalRoot, ...]:
    return tuple(LocalRoot(**{**root, "card": tuple(root["card"])}) for root in fields)
