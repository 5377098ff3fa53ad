"""Which process of a job is opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tfdbg_tui.tui.control.jobs import Jobs


def test_the_process_of_the_root_is_opened_once_one_can_be_shown() -> None:
    """All may be summarised before the first has been read."""
    chosen: list[str] = []
    session = SimpleNamespace(
        snapshot=None, focus=SimpleNamespace(other_process=None), show_jobs=lambda jobs: None
    )
    parts: Any = SimpleNamespace(session=session, loader=SimpleNamespace(choose=chosen.append))
    navigator: Any = SimpleNamespace(is_untouched=True)
    jobs = Jobs(parts, navigator)
    message: Any = SimpleNamespace(jobs=(), complete=True)
    jobs.read(message)
    jobs.look()
    assert chosen == []
    report = SimpleNamespace(roots=[SimpleNamespace(workers=(2,))])
    job = SimpleNamespace(report=report, processes={2: "worker 2"})
    session.snapshot = SimpleNamespace(worker=0, job=job)
    jobs.look()
    jobs.look()
    assert chosen == ["worker 2"]
