"""How the program of the run that is shown is asked to record."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.control.program_recording import CannotAskError, ProgramRecording
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.wire import events, omissions, tfrecord
from tfdbg_tui.wire.control import Control, control_path, decode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.logdir import Run

RUN_ID = "1"


@pytest.fixture
def run(logdirs: RecordedLogdirs, tmp_path: Path) -> Run:
    """A run in a directory of its own, whose program lives."""
    shutil.copytree(logdirs["mnist"], tmp_path / "logdir")
    found = open_run(tmp_path / "logdir")
    files = replace(found.files, mode_name="ADAPTIVE", run_id=RUN_ID)
    return replace(found, files=files, state=replace(found.state, ended=False, writing=True))


def shown(run: Run, focus: Focus | None = None) -> Any:
    return SimpleNamespace(snapshot=Snapshot(run), focus=focus or Focus("timeline"))


def asked(run: Run) -> Control | None:
    with open(control_path(run.files.directory)) as file:
        return decode(file.read(), RUN_ID)


def test_recording_is_switched_off_and_on(run: Run) -> None:
    recording = ProgramRecording(shown(run))
    assert "off" in recording.switch()
    assert asked(run) == Control(recording=False)
    assert os.stat(control_path(run.files.directory)).st_mode & 0o077 == 0
    assert "on" in recording.switch()
    assert asked(run) == Control()


def test_recording_that_the_program_has_switched_off_is_switched_on(run: Run) -> None:
    pause = events.Omission(omissions.PAUSED, "pause 1", "its files have grown to 1 GB")
    with open(f"{run.files.file_sets[0].prefix}.metadata", "ab") as file:
        file.write(tfrecord.frame(events.DebugEvent(1.0, omission=pause.encode()).encode()))
    paused = open_run(run.files.directory)
    assert paused.pause_reason == "its files have grown to 1 GB"
    paused = replace(paused, files=run.files, state=run.state)
    said = ProgramRecording(shown(paused)).switch()
    assert said == "recording goes on, without a limit, though its files have grown to 1 GB"
    assert asked(run) == Control()


def test_tensors_are_named_as_the_writer_knows_them(run: Run) -> None:
    """Those of graphs by name, others by line."""
    focus = Focus("graph_execution", graph_execution=0)
    name = run.graph_executions[0].tensor_name
    recording = ProgramRecording(shown(run, focus))
    event = TensorEvent("graph_execution", 0, 0)
    assert "X records them from now on" in recording.about_missing_values(event)
    assert f"{name}: its elements are recorded" in recording.switch_values()
    assert "recorded since X was pressed" in recording.about_missing_values(event)
    eager = ProgramRecording(shown(run, Focus("timeline", subject="execution", execution=0)))
    eager.switch_values()
    recording.switch()
    wanted = asked(run)
    assert wanted is not None
    first, second = wanted.values_of
    assert (first, wanted.recording) == (name, False)
    assert ".py:" in second
    assert "no longer" in recording.switch_values()
    assert asked(run) == Control(recording=False, values_of=(second,))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": {"ended": True}}, "the program has ended"),
        ({"files": {"mode_name": ""}}, "only a program that tfdbg-tui records"),
        ({"files": {"directory": "s3://bucket/x"}}, "on this machine"),
    ],
)
def test_where_no_program_would_follow_that_is_said(
    run: Run, changes: dict[str, dict[str, Any]], said: str
) -> None:
    changed = {name: replace(getattr(run, name), **some) for name, some in changes.items()}
    with pytest.raises(CannotAskError, match=said):
        ProgramRecording(shown(replace(run, **changed))).switch()
    with pytest.raises(CannotAskError, match="no tensor is focused"):
        ProgramRecording(shown(run)).switch_values()
