"""What is told of a recording: growing, quiet, silent, ended, kept in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.diagnosis.recording import StatusTracker, duration
from tfdbg_tui.logdir import Progress, RunReader, list_runs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


Growing = tuple[RunReader, Callable[[int], None]]


class Clocks:
    """A clock that runs, and one of the day that may jump."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.day = 2e9


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def tracker(clocks: Clocks) -> StatusTracker:
    return StatusTracker(lambda: clocks.seconds, lambda: clocks.day)


@pytest.fixture
def growing(tmp_path: Path, logdirs: RecordedLogdirs) -> Growing:
    """A reader of a logdir, and a function that lets it grow by some bytes."""
    events = {}
    for path in logdirs["mnist"].iterdir():
        held = path.name.endswith(("execution", "traces"))
        events.update({path.name: path.read_bytes()} if held else {})
        (tmp_path / path.name).write_bytes(b"" if held else path.read_bytes())
    (files,) = list_runs(tmp_path)
    reader = RunReader(files)

    def grow(size: int) -> None:
        for name, data in events.items():
            with open(tmp_path / name, "ab") as file:
                file.write(data[:size])
            events[name] = data[size:]
            os.utime(tmp_path / name, (2e9, 2e9))

    return reader, grow


def test_growth_then_silence(growing: Growing, tracker: StatusTracker, clocks: Clocks) -> None:
    reader, grow = growing
    assert tracker.status() is None
    tracker.note(reader.read_all())
    for _ in range(4):
        clocks.seconds += 1
        grow(20_000)
        run = reader.read_all()
        clocks.day = run.newest_wall_time() + 0.25
        tracker.note(run)
    status = tracker.status()
    assert status.phase == "recording"
    assert status.events_per_second == pytest.approx(run.num_events / 4)
    assert status.lag == pytest.approx(0.25)
    clocks.seconds += 40
    clocks.day -= 1e6  # somebody set it
    assert (tracker.status().phase, tracker.status().silent) == ("silent", 40)
    for writing, phase in ((True, "quiet"), (False, "ended")):
        tracker.note(replace(run, state=replace(run.state, writing=writing)))
        assert tracker.status().phase == phase


def test_lag_is_not_told_where_clocks_differ(
    growing: Growing, tracker: StatusTracker, clocks: Clocks
) -> None:
    reader, grow = growing
    tracker.note(reader.read_all())
    grow(20_000)
    run = reader.read_all()
    for lag, prompt, told in (
        (-5, False, False),
        (90, False, True),  # in a buffer of TensorFlow's writer
        (90, True, False),  # our writer keeps nothing back
        (4, True, True),
        (7200, False, False),  # a clock that was set back
    ):
        run = replace(
            run,
            state=replace(run.state, prompt=prompt),
            progress=Progress(run.progress.bytes_read + 1, run.progress.bytes_total + 1),
        )
        clocks.seconds += 1
        clocks.day = run.newest_wall_time() + lag
        tracker.note(run)
        assert tracker.status().phase == "recording"
        assert (tracker.status().lag is not None) == told, lag


def test_definitions_without_events_are_a_ring(
    growing: Growing, tracker: StatusTracker, clocks: Clocks
) -> None:
    reader, grow = growing
    run = reader.read_all()
    tracker.note(run)
    assert tracker.status().phase == "silent"
    clocks.seconds += 3
    assert tracker.status().phase == "buffering"
    grow(20_000)
    tracker.note(reader.read_all())
    assert tracker.status().phase == "recording"


def test_reading_an_old_run_is_no_recording(
    logdirs: RecordedLogdirs, tracker: StatusTracker, clocks: Clocks
) -> None:
    (files,) = list_runs(logdirs["mnist"])
    reader = RunReader(files, chunk_bytes=3000)
    for _ in range(50):
        clocks.seconds += 0.1
        tracker.note(reader.poll())
    tracker.note(reader.read_all())
    assert tracker.status().phase == "silent"
    assert tracker.status().events_per_second is None


def test_durations() -> None:
    spans = [duration(s) for s in (0.4, 59, 61, 7200, 200_000)]
    assert spans == ["0 s", "59 s", "1 min", "2 h", "2 days"]
