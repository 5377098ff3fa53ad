"""Jobs of several processes in the app: the Workers pane, and what Enter opens there."""

from __future__ import annotations

import re
import shutil
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.tui.conftest import NORMAL, Opened
from tfdbg_tui.tui.app import TfdbgApp
from tfdbg_tui.tui.background.loader import Loader
from tfdbg_tui.tui.screens.runs import RunsScreen
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.wire import events, filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open
    from tfdbg_tui.tui.session.job import Job


class OpenedJob(Opened):
    """A running app that shows a process of a job."""

    @property
    def job(self) -> Job:
        assert self.snapshot.job is not None
        return self.snapshot.job

    def workers(self) -> list[str]:
        """Returns the rows of Workers."""
        below_status = self.screen().splitlines()[1:]
        return [line for line in below_status if re.search(r" worker \d +\d", line)]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits, as long as it may take on a busy machine."""
        for _ in range(4500):
            if condition():
                return
            await self.pilot.pause(0.02)
        raise AssertionError(self.screen())

    def has_explained(self, worker: int) -> bool:
        """Whether a worker is shown, and has been diagnosed."""
        snapshot = self.app.session.snapshot
        return (
            snapshot is not None
            and snapshot.job is not None
            and snapshot.job.complete
            and snapshot.worker == worker
            and snapshot.explanation is not None
        )


@asynccontextmanager
async def opened_job(
    *logdirs: Path, worker: int, size: tuple[int, int] = NORMAL, **options: object
) -> AsyncIterator[OpenedJob]:
    """Opens a job and waits until it shows a worker."""
    app = TfdbgApp(*map(str, logdirs), **options)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        opened = OpenedJob(app, pilot)
        await opened.until(lambda: opened.has_explained(worker))
        await pilot.pause()
        yield opened


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_a_job_opens_on_its_root(recorded: Path, size: tuple[int, int]) -> None:
    logdirs = sorted((recorded / "loop_2_apart").iterdir())
    async with opened_job(*logdirs, worker=2, size=size) as opened:
        assert opened.focus.pane == "alerts"
        assert opened.focus.cause is not None
        assert "worker 2, one of 3" in opened.screen()
        await opened.press("7")
        rows = opened.workers()
        assert ["from worker 2" in row for row in rows] == [True, True, False]
        assert "Log at programs.py:40" in rows[2]
        assert not any(row.rstrip(" │").endswith("…") for row in rows)


async def test_enter_shows_another_worker(recorded: Path) -> None:
    async with opened_job(recorded / "loop_1", worker=1) as opened:
        await opened.press("7", "g", "enter")
        await opened.until(lambda: opened.has_explained(0))
        assert len(opened.snapshot.alerts) == 20
        assert opened.focus.pane == "alerts"
        await opened.press("7", "enter")
        assert opened.app.parts.main.keys.message == "the other panes show worker 0 already"
        await opened.press("colon")
        await opened.type("worker 2")
        await opened.press("enter")
        await opened.until(lambda: opened.has_explained(2))


async def test_the_list_of_runs_tells_workers_apart(recorded: Path) -> None:
    async with opened_job(recorded / "loop_of_four", worker=3) as opened:
        await opened.press("R")
        await opened.until(lambda: opened.screen().count("bad ") >= 4)
        (row,) = (line for line in opened.screen().splitlines() if " 28 alerts" in line)
        assert "worker 3 " in row


async def test_the_chain_crosses_workers(recorded: Path) -> None:
    async with opened_job(recorded / "loop_1", worker=1, size=(120, 40)) as opened:
        assert opened.snapshot.explanation is not None
        (root,) = opened.snapshot.explanation.report.roots
        assert "reached workers 0 and 2 through the all-reduce at programs.py:46" in root.workers
        await opened.press("7", "g", "enter")
        await opened.until(lambda: opened.has_explained(0))
        await opened.press("w")
        await opened.until(lambda: "worker 1: mul:0 → Log:0 → …" in opened.screen())
        (root,) = opened.snapshot.explanation.report.roots
        assert (root.op_type, root.location.line) == ("CollectiveReduceV2", 46), "its own place"
        assert " NaN of " in root.evidence or " -∞ of " in root.evidence, "and its own values"
        assert ": Log:0 at programs.py:40, 1 zero in → 1 -∞ out; came here" in root.workers
        screen = opened.screen()
        assert "Logarithm of zero, on worker 1" in screen
        assert "tf.math.log(x * weight)" in screen
        assert "came here" in screen
        await opened.press("enter")
        await opened.until(lambda: opened.has_explained(1))
        assert opened.focus.cause is not None


async def test_workers_are_sorted_by_any_column_and_searched(recorded: Path) -> None:
    async with opened_job(recorded / "loop_of_four", worker=3) as opened:
        await opened.press("7", "s", *"ro", "enter")
        assert opened.focus.sort_of("workers") == Sort("root")
        assert "worker 3" in opened.workers()[0]
        await opened.press("S")
        assert "worker 3" in opened.workers()[-1]
        await opened.press("escape")
        assert "worker 0" in opened.workers()[0]
        await opened.press("slash")
        await opened.type("from worker 3")
        assert opened.focus.worker == opened.job.processes[0].identity


async def test_collectives_join_the_timelines_of_workers(recorded: Path, tmp_path: Path) -> None:
    job = shutil.copytree(recorded / "loop_2_apart", tmp_path / "job")
    (traces,) = (job / "worker0").glob("*traces")
    traces.write_bytes(traces.read_bytes()[:5000])
    async with opened_job(job, worker=2, size=(120, 40)) as opened:
        await opened.press("7")
        drawn = [re.findall("[·▁▂▃▄▅▆▇█]{3}", line) for line in opened.workers()]
        assert [len(stretches) for stretches in drawn] == [2, 6, 6]
        bad = [[stretch != "···" for stretch in stretches] for stretches in drawn]
        assert bad[1] == [False, False, False, False, True, True]  # what came out of its fourth run
        assert bad[2] == [False, False, False, True, True, True]  # what it had put in
        starts = [[one.start() for one in re.finditer("│", row)][1:-1] for row in opened.workers()]
        assert starts[1] == starts[2]
        assert starts[0] == starts[1][:1]  # the others wait for it at the second


@pytest.mark.parametrize(
    ("text", "workers"),
    [
        ('task="worker 1,worker 3"', [1, 3]),
        ("!root=from* alerts>0", [3]),
        ("badstep=3 !/worker.[02]/", [1, 3]),
        ("!bad", []),
        ("type=Log", [0, 1, 2, 3]),
    ],
)
async def test_workers_are_filtered(text: str, workers: list[int], recorded: Path) -> None:
    async with opened_job(recorded / "loop_of_four", worker=3) as opened:
        await opened.press("7", "backslash")
        await opened.type(text)
        listed = [int(row.partition("worker ")[2][:1]) for row in opened.workers()]
        assert listed == workers
        assert ("Nothing fits the filter" in opened.screen()) == (not workers)
        refused = "there is no field type: there are task" in opened.app.parts.main.keys.message
        assert refused == (text == "type=Log")
        await opened.press("escape")
        assert len(opened.workers()) == 4


async def test_a_worker_that_joins_late_is_one_of_the_job(recorded: Path, tmp_path: Path) -> None:
    for name in ("worker0", "worker2"):
        shutil.copytree(recorded / "loop_2_apart" / name, tmp_path / name)
    logdirs = [tmp_path / f"worker{number}" for number in range(3)]
    async with opened_job(*logdirs, worker=1) as opened:
        assert any("No dump of worker 1" in note for note in opened.snapshot.notes)
        assert any("worker1: no such directory" in note for note in opened.snapshot.notes)
        shutil.copytree(recorded / "loop_2_apart" / "worker1", tmp_path / "worker1")
        await opened.until(lambda: len(opened.workers()) == 3)
        assert opened.app.session.recording.newer_run == ""
        assert opened.job.name_of(opened.snapshot.worker) == "worker 2"
        assert not any("worker1" in note for note in opened.snapshot.notes)
        assert not any("No dump of" in note for note in opened.snapshot.notes)


async def test_jobs_that_lie_in_one_place_are_chosen_from(recorded: Path, tmp_path: Path) -> None:
    for name in ("gather_0", "loop_healthy"):
        shutil.copytree(recorded / name, tmp_path / name)
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=NORMAL) as pilot:
        opened = OpenedJob(app, pilot)
        await opened.until(lambda: isinstance(app.screen, RunsScreen))
        await opened.press(*"gather", "enter")
        await opened.until(lambda: app.session.snapshot is not None)
        await opened.until(lambda: opened.snapshot.job is not None)
        assert len(opened.job.processes) == 2


async def test_a_run_is_chosen_by_keys_that_came_before_it_was_known_that_there_are_several(
    logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mnist", "control_flow"):
        shutil.copytree(logdirs[name], tmp_path / name)
    started, start = threading.Event(), Loader.run
    monkeypatch.setattr(Loader, "run", lambda loader: (started.wait(), start(loader)))
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=NORMAL) as pilot:
        opened = OpenedJob(app, pilot)
        await opened.press(*"mnist", "enter")
        started.set()
        await opened.until(lambda: app.session.snapshot is not None)
        await pilot.pause()
        assert "/mnist" in opened.screen().split("\n")[0]


async def test_a_single_run_has_no_workers(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], (80, 24)) as opened:
        assert "Work" not in opened.screen()
        await opened.press("7")
        assert opened.focus.pane != "workers"
        assert opened.app.parts.main.keys.message == "no other process of a job is known"
        panes = set()
        for _ in range(8):
            await opened.press("tab")
            panes.add(opened.focus.pane)
        assert "workers" not in panes


def start_of(job: Path, logdir: Path, number: int) -> None:
    """Writes what a start of a job has left, of a cluster that is the same for all starts."""
    for path in job.iterdir():
        data = path.read_bytes()
        if path.suffix == f".{filesets.METADATA}":
            (_, payload), *others = tfrecord.records(data)
            event = events.DebugEvent.decode(payload)
            described = replace(
                events.DebugMetadata.decode(event.debug_metadata),
                tfdbg_run_id=f"{number}-{path.stem[-1]}",
                task_type="worker",
                task_index=int(path.stem[-1]),
                num_tasks=3,
                cluster="one",
            )
            event = replace(event, debug_metadata=described.encode())
            rest = [payload for _, payload in others]
            data = b"".join(map(tfrecord.frame, [event.encode(), *rest]))
        (logdir / path.name.replace("tfdbg_events.1", f"tfdbg_events.{number + 1}")).write_bytes(
            data
        )


async def test_of_a_job_that_was_started_again_the_last_start_is_shown(
    recorded: Path, tmp_path: Path
) -> None:
    start_of(recorded / "loop_0", tmp_path, 0)
    start_of(recorded / "loop_healthy", tmp_path, 1)
    app = TfdbgApp(str(tmp_path))
    async with app.run_test(size=NORMAL) as pilot:
        opened = OpenedJob(app, pilot)
        await opened.until(lambda: opened.has_explained(0))
        assert [member.verdict for member in opened.job.report.members] == ["clean"] * 3
        await opened.press("R")
        await opened.until(lambda: opened.screen().count("bad ") == 3)
        assert re.search("bad .*worker 2 0-2", opened.screen())
