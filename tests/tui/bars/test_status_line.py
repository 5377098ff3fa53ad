"""The line above all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import Explanation, Report
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.bars.status_line import StatusLine
from tfdbg_tui.tui.navigation import settle
from tfdbg_tui.tui.session.session import Session
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    import pytest

    from tests.conftest import GrowingRun, RecordedLogdirs


def test_of_when_the_first_was_bad_the_batch_goes_after_the_number_of_steps(
    explained: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(settle, "alerts")
    session.load(explained)
    assert explained.explanation is not None
    session.explain(explained.explanation)
    when = "step 12 of 0 to 59, batch 13 of epoch 1"
    monkeypatch.setattr(Report, "first_bad", when)
    line = StatusLine(session, ASCII, "logdir", id="status")
    ends = ["".join(cell[0] for cell in line.line(width)).rstrip() for width in (120, 80, 68)]
    assert ends[0].endswith(f", {when}")
    assert ends[1].endswith(", step 12, batch 13 of epoch 1")
    assert ends[2].endswith(", step 12 of 0 to 59"), "where that has no room either"


def _end_of_line(session: Session) -> list[tuple[str, str]]:
    cells = StatusLine(session, ASCII, "logdir", id="status").line(120)
    return [(text, style) for text, style, *_ in cells if text.strip()][-2:]


def test_whether_a_run_has_been_diagnosed(mnist: Snapshot, explained: Snapshot) -> None:
    session = Session(settle, "alerts")
    session.load(mnist)
    assert _end_of_line(session)[1][0] == " diagnosing"
    session.leave_unexplained("The run cannot be diagnosed: no room")
    assert _end_of_line(session)[1][0] == " not diagnosed"
    assert explained.explanation is not None
    session.explain(explained.explanation)
    assert _end_of_line(session)[1][0].startswith(" 1 root")


def test_only_a_run_that_has_been_diagnosed_has_no_alerts_in_the_colour_of_healthy_ones(
    logdirs: RecordedLogdirs,
) -> None:
    session = Session(settle, "alerts")
    quiet = Snapshot(open_run(logdirs["nested_calls"]))
    session.load(quiet)
    assert _end_of_line(session) == [("no alerts", "dim"), (" diagnosing", "dim")]
    session.explain(Explanation(quiet.run, quiet.alerts))
    assert _end_of_line(session)[-1] == ("no alerts", "good")


def test_alerts_that_are_newer_than_the_diagnosis_are_not_called_harmless(
    growing_run: GrowingRun,
) -> None:
    session = Session(settle, "alerts")
    first, *_, last = map(Snapshot, growing_run("mnist", 12))
    assert not len(first.alerts)
    session.load(first)
    session.explain(Explanation(first.run, first.alerts))
    session.load(last)
    assert _end_of_line(session)[-1] == (" diagnosing", "dim")
