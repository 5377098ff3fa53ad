"""Filters of a run that is still read: what has been found stays, whatever arrives meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.test_follow import Writer
from tfdbg_tui.logdir import RunReader, list_runs
from tfdbg_tui.tui.background import filtering
from tfdbg_tui.tui.background.tasks import Task
from tfdbg_tui.tui.navigation import settle
from tfdbg_tui.tui.session.session import Session
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.conftest import RecordedLogdirs


class Waiting:
    """Does no work by itself."""

    def __init__(self, post: object) -> None:
        self.started: list[Task[object]] = []

    def start_work(self, work: Callable[[], object]) -> Task[object]:
        self.started.append(Task(work))
        return self.started[-1]


def test_what_a_filter_finds_while_the_run_grows_is_not_looked_for_again(
    tmp_path: Path, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filtering, "Tasks", Waiting)
    writer = Writer(logdirs["mnist"], tmp_path / "growing")
    writer.start()
    writer.write(5)
    (files,) = list_runs(tmp_path / "growing")
    reader = RunReader(files)
    session = Session(settle, "graph_execution")
    session.load(Snapshot(reader.read_all()))
    session.focus = session.focus.filtered("graph_execution", "zero>0")
    filters = filtering.Filtering(session, lambda message: None)
    filters.look()
    (task,) = filters._tasks.started  # type: ignore[attr-defined]
    task.run()
    writer.write(5, of=5)
    session.load(Snapshot(reader.read_all()))
    filters.look()
    assert filters.task_done(task)
    filters.look()
    (found,) = session.snapshot.listed.values()
    assert len(found.rows)
    assert not found.complete
    filters._tasks.started[-1].run()  # type: ignore[attr-defined]
    assert filters.task_done(filters._tasks.started[-1])  # type: ignore[attr-defined]
    filters.look()
    (all_of_them,) = session.snapshot.listed.values()
    assert all_of_them.complete
    assert all_of_them.rows[: len(found.rows)].tolist() == found.rows.tolist()
    assert len(all_of_them.rows) > len(found.rows)
