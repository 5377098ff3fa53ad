"""Recorded jobs of several processes with a known root: the right worker, op and line, in all."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.fleet.jobs import JOBS, OTHER_JOBS, Job
from tfdbg_tui.diagnosis import (
    WorkerSummary,
    fleet_to_text,
    join,
    summaries_from_json,
    summaries_to_json,
    summarize,
)
from tfdbg_tui.diagnosis.fleet.words import made_by
from tfdbg_tui.logdir import Task, list_runs
from tfdbg_tui.logdir.processes import processes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.fleet.report import JobReport


def summaries_of(directory: Path) -> list[WorkerSummary]:
    return [summarize(process) for process in processes_of(list_runs(directory))]


@pytest.mark.parametrize("name", JOBS)
def test_the_root_of_a_job(name: str, recorded: Path) -> None:
    job = JOBS[name]
    (found,) = join(summaries_of(recorded / name)).jobs
    assert found.verdict == ("bad" if job.op else "clean")
    assert len(found.roots) == bool(job.op)
    for root in found.roots:
        assert root.finding["op_type"] == job.op
        assert "# BUG" in root.finding["location"]["code"]
        assert root.finding["certainty"] == "proved"
        assert root.finding["step"] == 3
    if job.others:
        check_coordinated(found)
    elif job.workers > 1:
        check_workers(job, found)


def check_workers(job: Job, found: JobReport) -> None:
    """Checks who was first, and whom it reached."""
    assert [str(member.task) for member in found.members] == [
        f"worker {index}" for index in range(job.workers)
    ]
    guilty = tuple(int(task) for task in job.root.split(",") if task)
    others = tuple(index for index in range(job.workers) if index not in guilty)
    for root in found.roots:
        assert root.workers == guilty
        assert root.alike == (not others)
        assert root.reached == others
        assert root.alerts == found.alerts
        in_step = {via.run for via in root.via if via.family}
        assert in_step <= {3}


def check_coordinated(found: JobReport) -> None:
    """Checks that what workers have computed is told as on the record of their coordinator."""
    tasks = [str(member.task) for member in found.members]
    assert tasks == ["chief 0", "worker 0", "worker 1", "ps 0"]
    assert [bool(member.events) for member in found.members] == [True, False, False, False]
    for root in found.roots:
        assert root.workers == (0,)
        assert root.finding["device"].startswith("/job:worker/replica:0/task:")
        assert "chief 0, one of 4 processes" in made_by(found, root)
        assert ", which had worker " in made_by(found, root)


@pytest.mark.parametrize("name", OTHER_JOBS)
def test_two_bugs_reach_each_others_workers(name: str, recorded: Path) -> None:
    (found,) = join(summaries_of(recorded / name)).jobs
    told = [
        (root.finding["op_type"], root.finding["step"], root.workers, root.reached, root.via[0].run)
        for root in found.roots
    ]
    assert told == [("Log", 1, (1,), (0,), 1), ("Sqrt", 3, (0,), (1,), 3)]
    assert all("# BUG" in root.finding["location"]["code"] for root in found.roots)


def test_the_jobs_of_one_directory_are_told_apart(recorded: Path) -> None:
    wanted = ["gather_0", "loop_1", "loop_healthy", "steps_1", "mirrored_1"]
    summaries = [one for name in wanted for one in summaries_of(recorded / name)]
    found = [
        {Path(member.logdir).relative_to(recorded).parts[0] for member in job.members}
        for job in join(reversed(summaries)).jobs
    ]
    assert sorted(map(sorted, found)) == sorted([name] for name in wanted)


def test_those_that_recorded_nothing_are_of_the_job_that_they_serve(recorded: Path) -> None:
    """TensorFlow's writer names devices of the server alone, in what the coordinator records."""
    chief, *others = sorted(summaries_of(recorded / "server_0"), key=lambda one: -one.events)
    chief = replace(chief, task=Task("ps", 0))
    silent = [
        replace(one, task=None, devices=(), run_id=f"another {number}")
        for number, one in enumerate(others)
    ]
    (job,) = join([chief, *silent]).jobs
    assert len(job.members) == 4
    alone = replace(silent[0], started_at=(chief.started_at or 0.0) - 1000.0)
    assert [len(job.members) for job in join([chief, alone, *silent[1:]]).jobs] == [1, 3]


def test_a_summary_survives_its_file_and_is_small(recorded: Path) -> None:
    summaries = summaries_of(recorded / "steps_1")
    text = summaries_to_json(summaries)
    assert summaries_from_json(text) == summaries
    assert len(text) < 10_000 * len(summaries)


def later(summary: WorkerSummary, seconds: float) -> WorkerSummary:
    """Returns a summary as a process whose clock is ahead would have left it."""
    return replace(
        summary,
        started_at=(summary.started_at or 0.0) + seconds,
        ended_at=summary.ended_at + seconds,
        roots=tuple(replace(root, wall_time=root.wall_time + seconds) for root in summary.roots),
        crossings=tuple(
            replace(crossing, times=tuple((run, time + seconds) for run, time in crossing.times))
            for crossing in summary.crossings
        ),
    )


@pytest.mark.parametrize("seconds", [-120.0, 120.0])
@pytest.mark.parametrize("name", ["loop_1", "eager_0_tf"])
def test_clocks_that_differ_change_nothing(name: str, seconds: float, recorded: Path) -> None:
    first, *others = summaries_of(recorded / name)
    (plain,) = join([first, *others]).jobs
    (found,) = join([first, *(later(other, seconds) for other in others)]).jobs
    assert found.to_json()["roots"] == plain.to_json()["roots"]
    number = found.members.index(first)
    ahead = [skew - (found.skew[number] or 0.0) for skew in found.skew if skew is not None]
    assert sorted(round(one, -1) for one in ahead) == sorted([0.0, *[seconds] * len(others)])
    assert any("clocks differ" in note for note in found.notes)


def renamed(summary: WorkerSummary, function: str, instance: tuple[int, ...]) -> WorkerSummary:
    """Returns a summary as a process whose functions have other names would have left it."""
    crossings = (
        replace(one, key=f"{function} {number}", instance=(*instance, number))
        for number, one in enumerate(summary.crossings)
    )
    assert summary.task is not None
    task = replace(summary.task, cluster="one")
    return replace(summary, crossings=tuple(crossings), task=task)


def test_collectives_are_the_same_by_their_keys_whatever_functions_are_called(
    recorded: Path,
) -> None:
    summaries = summaries_of(recorded / "loop_1")
    named = [renamed(one, "step", (1,)) for one in summaries]
    (found,) = join([*named[:-1], renamed(summaries[-1], "train", (1,))]).jobs
    assert [len(root.reached) for root in found.roots] == [2]
    (others,) = join([*named[:-1], renamed(summaries[-1], "step", (2,))]).jobs
    assert any(not root.reached for root in others.roots), "of another group nothing comes"


@pytest.mark.parametrize(
    ("rule", "suspect", "words"),
    [
        ("log-of-zero", "data", "speak for its data"),
        ("born-of-finite", "hardware", "speak for its hardware"),
        ("first-seen-here", None, "neither for its data nor for its hardware"),
    ],
)
def test_what_the_counts_of_the_only_worker_speak_for(
    rule: str, suspect: str | None, words: str, recorded: Path
) -> None:
    summaries = summaries_of(recorded / "loop_1")
    given = [
        replace(
            one, roots=tuple(replace(r, finding={**r.finding, "rule": rule}) for r in one.roots)
        )
        for one in summaries
    ]
    report = join(given)
    ((root,),) = (job.roots for job in report.jobs)
    assert root.speaks_for == suspect
    assert words in " ".join(fleet_to_text(report).split())
    (alike,) = join(summaries_of(recorded / "loop_all")).jobs
    assert [root.speaks_for for root in alike.roots] == [None]


def test_suspects_are_not_told_as_alerts(recorded: Path) -> None:
    report = join(summaries_of(recorded / "loop_1"))
    jobs = tuple(replace(job, roots=(), suspects=job.roots) for job in report.jobs)
    text = fleet_to_text(replace(report, jobs=jobs))
    assert "computed tensors" in text
    assert "go back to this" not in text


def test_the_order_of_summaries_does_not_matter(recorded: Path) -> None:
    summaries = summaries_of(recorded / "loop_1")
    texts = {fleet_to_text(join(order)) for order in (summaries, summaries[::-1])}
    assert len(texts) == 1


def as_large_job(healthy: WorkerSummary, guilty: WorkerSummary, size: int) -> list[WorkerSummary]:
    """Returns summaries as of so many workers of one cluster, of which every other one is bad."""
    return [
        replace(
            guilty if number % 2 else healthy,
            name=str(number),
            task=Task("worker", number, "cluster", size),
        )
        for number in range(size)
    ]


def calls_of(work: Callable[[], object]) -> int:
    """Returns how many calls of Python functions some work takes."""
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_joining_grows_with_the_number_of_processes_and_no_faster(recorded: Path) -> None:
    guilty, healthy = sorted(summaries_of(recorded / "gather_0"), key=lambda one: str(one.task))
    jobs = [as_large_job(healthy, guilty, size) for size in (20, 200)]
    few, many = (calls_of(partial(join, job)) for job in jobs)
    assert many < 12 * few


def test_an_overflow_is_told_of_a_program_that_runs_other_collectives_too(recorded: Path) -> None:
    summaries = [
        replace(one, crossings=(*one.crossings, replace(one.crossings[0], key="other", bad=())))
        for one in summaries_of(recorded / "overflow")
    ]
    (found,) = join(summaries).jobs
    assert [root.finding["rule"] for root in found.roots] == ["overflow-across-workers"]


def test_each_start_of_a_job_is_told_apart_from_the_others(recorded: Path) -> None:
    summaries = [
        replace(one, task=replace(one.task, cluster="one"))
        for one in summaries_of(recorded / "loop_1")
    ]
    again = [later(replace(one, name=f"{one.name} again"), 1000.0) for one in summaries]
    early = replace(summaries[1], name="early", crossings=(), roots=(), alerts=0)
    failed_at_once = later(replace(early, ended_at=early.started_at), -9.0)
    report = join([failed_at_once, *summaries, *again])
    assert [{one.name for one in job.members} for job in report.jobs] == [
        {"early"},
        {one.name for one in summaries},
        {one.name for one in again},
    ]
    assert [job["another_start_of"] for job in report.to_json()["jobs"]] == [None, 0, 0]
    assert fleet_to_text(report).count("(another start of 1)") == 4


def test_an_evaluator_works_beside_the_others(recorded: Path) -> None:
    summaries = [
        replace(one, task=Task("worker", one.task.index, "one", 3))
        for one in summaries_of(recorded / "loop_all")
    ]
    evaluator = replace(
        summaries[0], task=Task("evaluator", 0, "one"), crossings=(), roots=(), last_step=0
    )
    (found,) = join([*summaries, evaluator]).jobs
    assert [str(member.task) for member in found.members][-1] == "evaluator 0"
    assert [root.alike for root in found.roots] == [True]
    assert not any("hangs behind" in note for note in found.notes)


@pytest.mark.parametrize(("seconds", "first"), [(-60.0, "evaluator 0"), (60.0, "worker 1")])
def test_an_evaluator_has_steps_of_its_own(seconds: float, first: str, recorded: Path) -> None:
    summaries = summaries_of(recorded / "loop_1")
    (guilty,) = (one for one in summaries if one.task is not None and one.task.index == 1)
    finding = {**guilty.roots[0].finding, "step": 1, "graph": "evaluate"}
    root = replace(guilty.roots[0], finding=finding)
    evaluator = replace(guilty, name="", task=Task("evaluator", 0), crossings=(), roots=(root,))
    (found,) = join([*summaries, later(evaluator, seconds)]).jobs
    made_by = [str(found.members[root.workers[0]].task) for root in found.roots]
    assert sorted(made_by) == ["evaluator 0", "worker 1"]
    assert made_by[0] == first
    assert any("evaluator 0 counts steps of its own" in note for note in found.notes)


def test_members_that_run_other_code_are_told(recorded: Path) -> None:
    first, second, third = summaries_of(recorded / "loop_healthy")
    (alike,) = join([first, second, third]).jobs
    assert alike.notes == ()
    assert [path for path, _ in first.code] == ["programs.py"]
    older = replace(second, code=(("programs.py", "older"), ("only_here.py", "1")))
    (found,) = join([first, older, third]).jobs
    (note,) = found.notes
    assert note.startswith(f"{second.task} runs other code than the rest: programs.py; ")
    (named,) = join([first, replace(second, program="/src/chief.py", code=()), third]).jobs
    assert named.notes == (f"{second.task} runs another program: /src/chief.py",)


def test_two_scripts_are_one_job_if_they_ran_collectives_as_often(recorded: Path) -> None:
    """TensorFlow's writer does not tell of which cluster a process is."""
    summaries = summaries_of(recorded / "loop_0_tf")
    others = [
        replace(one, crossings=tuple(replace(c, key=f"other {c.key}") for c in one.crossings))
        for one in summaries
    ]
    (found,) = join([summaries[0], others[1]]).jobs
    assert [root.reached for root in found.roots] == [(1,)]
    assert len(join([*summaries, *others]).jobs) == 2, "two jobs at once are told apart"
    rarely = [replace(crossing, runs=1, bad=()) for crossing in others[1].crossings]
    assert len(join([summaries[0], replace(others[1], crossings=tuple(rarely))]).jobs) == 2


def test_of_a_damaged_file_one_sentence_is_told(recorded: Path) -> None:
    first, *others = summaries_of(recorded / "loop_healthy")
    traces = f"{first.logdir}/traces"
    damaged = replace(first, problems=(f"{traces}: one", f"{traces}: two", "weak: a", "weak: b"))
    text = fleet_to_text(join([damaged, *others]))
    assert f"{traces}: one; 1 more of this file" in text.replace("\n             ", " ")
    assert "two" not in text
    assert "weak: a" in text
    assert "weak: b" in text


def test_a_damaged_process_takes_none_out_of_its_job(recorded: Path) -> None:
    summaries = summaries_of(recorded / "loop_1")
    for one in summaries:
        damaged = replace(one, name="damaged", run_id=None, started_at=None)
        jobs = join([damaged, *summaries]).jobs
        assert sorted(len(job.members) for job in jobs) == [1, 3]
