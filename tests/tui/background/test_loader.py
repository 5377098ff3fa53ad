"""What the thread that reads a run does besides."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tfdbg_tui.logdir import list_runs
from tfdbg_tui.tui.background import loader

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_waiting_for_a_server_is_no_work(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a worker that joins late would show up after half an hour where listing takes seconds."""
    clock = [100.0]
    computed = [0.0]

    def listed(_: object) -> tuple[list[Any], list[Any]]:
        clock[0] += 12.0
        computed[0] += 0.01
        return [], []

    times = SimpleNamespace(monotonic=lambda: clock[0], thread_time=lambda: computed[0])
    monkeypatch.setattr(loader, "time", times)
    monkeypatch.setattr(loader, "list_runs_of", listed)
    logdir = str(recorded / "loop_healthy")
    reader = loader.Loader([logdir], None, lambda _: None)
    reader._look_for_runs(list_runs(logdir)[0])
    assert 12.0 < reader._next_runs - 100.0 < 60.0
