"""What is said of a run that is being recorded."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.diagnosis import EMPTY, counted_text
from tfdbg_tui.logdir import open_run
from tfdbg_tui.logdir.events import Omission, Progress
from tfdbg_tui.tui.bars.recording_line import RecordingLine
from tfdbg_tui.tui.session.recording import Recording
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.tui.terminal.text import UNICODE
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


@pytest.mark.parametrize(
    ("killed", "words"), [(True, "the program was killed or crashed"), (False, "the program ended")]
)
def test_how_a_program_has_ended(logdirs: RecordedLogdirs, killed: bool, words: str) -> None:
    run = open_run(logdirs["mnist"])
    live = Recording(attached=True)
    live.note(replace(run, state=replace(run.state, writing=False, killed=killed)))
    ((said, _),) = live.facts(following=True, shown=None)
    assert said.startswith(words)


def test_that_only_what_is_bad_is_recorded_is_said_while_the_program_runs(
    logdirs: RecordedLogdirs,
) -> None:
    full = Omission(omissions.ONLY_BAD, "healthy events", "the disk is full", 9, 9, None, None, 9)
    run = replace(open_run(logdirs["control_flow"]), omissions=(full,))
    assert run.executions.steps.counted_by
    assert counted_text(run) == " (counted on record)"
    live = Recording(attached=True)
    live.note(replace(run, state=replace(run.state, writing=True)))
    assert ("only what is bad is recorded, as the disk is full", "match") in live.facts(
        following=True, shown=None
    )
    live.note(replace(run, state=replace(run.state, writing=False)))
    assert len(live.facts(following=True, shown=None)) == 1
    killed = replace(run, state=replace(run.state, writing=False, killed=True))
    (gap,) = Snapshot(killed).gaps
    assert "healthy records that waited in memory are" in gap.text


def test_that_recording_is_off_is_said_instead_of_how_fast_it_is(
    logdirs: RecordedLogdirs,
) -> None:
    pause = Omission(omissions.PAUSED, "pause 1", "the user has asked for it", 9, 9, None, None, 1)
    run = replace(open_run(logdirs["control_flow"]), omissions=(pause,))
    live = Recording(attached=True, announcement="first bad tensor Log:0")
    live.note(replace(run, state=replace(run.state, writing=True)))
    session = SimpleNamespace(recording=live, paused=False, snapshot=None, following=True)
    line = RecordingLine(session, UNICODE, id="live").line  # type: ignore[arg-type]
    told = {width: "".join(text for text, _ in line(width)) for width in (80, 120)}
    assert told[80] == " recording is off: P switches it on · first bad tensor Log:0"
    assert "recording is off, as the user has asked for it: P switches" in told[120]
    full = replace(pause, reason="max_gigabytes=0.02 is reached, with what is bad")
    live.note(replace(run, omissions=(full,), state=replace(run.state, writing=True)))
    brief = "".join(text for text, _ in line(80))
    assert brief.startswith(" recording is off: ! tells why, P switches it on")


def test_what_has_not_been_read_yet_is_not_called_missing(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    for file in logdirs["mnist"].iterdir():
        kept = file.read_bytes() if file.suffix == ".metadata" else b""
        (tmp_path / file.name).write_bytes(kept)
    run = open_run(tmp_path)
    assert EMPTY in {gap.kind for gap in Snapshot(run).gaps}
    begun = replace(run, state=replace(run.state, writing=True))
    assert EMPTY not in {gap.kind for gap in Snapshot(begun).gaps}, "the program runs"
    half = replace(run, progress=Progress(bytes_read=0, bytes_total=1))
    assert EMPTY not in {gap.kind for gap in Snapshot(half).gaps}
