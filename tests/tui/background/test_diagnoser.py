"""When a run that grows is diagnosed anew."""

from __future__ import annotations

from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.background import diagnoser
from tfdbg_tui.tui.background.diagnoser import Diagnosed, Diagnoser
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.message import Message

    from tests.conftest import GrowingRun
    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.logdir import Run

_LONG = 60.0  # seconds


class _Diagnoses:
    """What a diagnoser says, which by itself rests for an hour after each time."""

    def __init__(self) -> None:
        self._said: SimpleQueue[Message] = SimpleQueue()
        self.diagnoser = Diagnoser(self._said.put)

    def of(self, run: Run) -> Report | None:
        """Return the report on a run; None where there is none before long."""
        self.diagnoser.explain(Snapshot(run))
        try:
            message = self._said.get(timeout=_LONG)
        except Empty:
            return None
        assert isinstance(message, Diagnosed)
        assert message.explanation is not None
        return message.explanation.report


@pytest.fixture
def diagnoses(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Diagnoses]:
    monkeypatch.setattr(diagnoser, "_SHORTEST_PAUSE", 3600.0)
    made = _Diagnoses()
    made.diagnoser.start()
    yield made
    made.diagnoser.stop()


def _running(run: Run, *, writing: bool) -> Run:
    return replace(run, state=replace(run.state, writing=writing))


def test_first_alerts_and_the_end_of_a_program_are_diagnosed_at_once(
    diagnoses: _Diagnoses, growing_run: GrowingRun
) -> None:
    runs = list(growing_run("mnist", 12))
    healthy = max((run for run in runs if not run.num_alerts), key=lambda run: run.num_events)
    report = diagnoses.of(_running(healthy, writing=True))
    assert report is not None
    assert not report.roots
    report = diagnoses.of(_running(runs[-1], writing=True))
    assert report is not None
    assert report.roots
    report = diagnoses.of(_running(runs[-1], writing=False))
    assert report is not None
    assert report.roots
