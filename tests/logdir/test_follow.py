"""A run read while it grows ends as one that is opened when it is complete."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from tests.logdir.synthetic import content, read
from tfdbg_tui.logdir import RunReader, list_runs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs

NAMES = ("control_flow", "mirrored", "full_tensor", "session", "no_tensor")


@pytest.mark.parametrize("seed", range(24))
def test_random_cuts_of_all_files(tmp_path: Path, logdirs: RecordedLogdirs, seed: int) -> None:
    rng = random.Random(seed)
    source = logdirs[NAMES[seed % len(NAMES)]]
    files = {path.name: path.read_bytes() for path in source.iterdir()}
    metadata = next(name for name in files if name.endswith(".metadata"))
    (tmp_path / metadata).write_bytes(files.pop(metadata))
    for name in files:
        (tmp_path / name).touch()  # a writer creates all six files at once
    (run_files,) = list_runs(tmp_path)
    reader = RunReader(run_files, chunk_bytes=rng.choice([3000, 8 << 20]))
    written = dict.fromkeys(files, 0)
    left = sorted(files)
    seen = [0, 0]
    while left:
        for name in rng.choices(left, k=rng.randint(1, 4)):
            step = rng.choice([1, 500, 4096, 30_000, 1 << 20])
            with (tmp_path / name).open("ab") as file:
                file.write(files[name][written[name] : written[name] + step])
            written[name] += step
        left = [name for name in left if written[name] < len(files[name])]
        run = reader.poll()
        now = [len(run.executions), len(run.graph_executions)]
        assert now >= seen  # nothing that was there goes away
        seen = now
        for events in (run.executions, run.graph_executions):
            if len(events):
                assert events[len(events) - 1].index == len(events) - 1
    assert content(reader.read_all()) == content(read(source))


def test_op_types_resolve_when_they_arrive(tmp_path: Path, logdirs: RecordedLogdirs) -> None:
    source = logdirs["mnist"]
    late = {}
    for path in source.iterdir():
        if path.name.endswith(".graphs"):
            late[path.name] = path.read_bytes()
        else:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (files,) = list_runs(tmp_path)
    reader = RunReader(files)
    run = reader.read_all()
    assert run.graph_executions[0].op_type is None
    assert any("missing" in problem.message for problem in run.problems)
    assert all(problem.passing for problem in run.problems if "described" in problem.message)
    for name, data in late.items():
        (tmp_path / name).write_bytes(data)
    after = reader.read_all()
    assert run.graph_executions[0].op_type == "ReadVariableOp"  # also in the earlier snapshot
    assert not after.problems


def traces_of_a_copy(directory: Path, logdirs: RecordedLogdirs) -> tuple[Path, RunReader]:
    """Returns the file of graph executions of a recorded logdir, copied, and what reads that."""
    for path in logdirs["mnist"].iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    (traces,) = directory.glob("*.graph_execution_traces")
    (files,) = list_runs(directory)
    return traces, RunReader(files)


@pytest.mark.parametrize("how", ["replace", "truncate"])
def test_a_rewritten_file_of_events_is_read_again(
    tmp_path: Path, logdirs: RecordedLogdirs, how: str
) -> None:
    """A circular buffer replaces its file; another process may truncate it."""
    path, reader = traces_of_a_copy(tmp_path, logdirs)
    data = path.read_bytes()
    before = reader.read_all()
    assert len(before.graph_executions) == 320
    last = before.graph_executions[319]
    tail = data[int(before.graph_executions._offsets[0][300]) :]
    if how == "replace":
        (tmp_path / "new").write_bytes(tail)
        (tmp_path / "new").rename(path)
    else:
        path.write_bytes(tail)
    after = reader.read_all()
    assert [event.wall_time for event in after.graph_executions][-1] == last.wall_time
    assert len(after.graph_executions) == 20
    assert len(after.executions) == len(before.executions)
    if how == "replace":
        assert before.graph_executions[319] == last  # its file is still there for it
    else:
        assert any("shorter" in problem.message for problem in after.problems)


def test_what_was_read_of_a_file_that_becomes_shorter_stays(
    tmp_path: Path, logdirs: RecordedLogdirs
) -> None:
    path, reader = traces_of_a_copy(tmp_path, logdirs)
    data = path.read_bytes()
    before = reader.read_all()
    for size in (len(data) // 2, 0):
        os.truncate(path, size)
        after = reader.read_all()
        assert (len(after.graph_executions), after.num_alerts) == (320, before.num_alerts)
        assert (after.state.shortened, after.state.generation) == (True, 0)
        told = f"became shorter than the {len(data):,} bytes read of it, by {len(data) - size:,}"
        assert any(told in problem.message for problem in after.problems)
    path.write_bytes(data)  # as where it is copied once more
    again = reader.read_all()
    assert (again.state.shortened, again.state.generation) == (False, 1)
    assert len(again.graph_executions) == 320


def test_deletion_is_told(tmp_path: Path, logdirs: RecordedLogdirs) -> None:
    for path in logdirs["session"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (files,) = list_runs(tmp_path)
    reader = RunReader(files)
    run = reader.read_all()
    assert not run.state.deleted
    assert run.state.last_written
    for path in tmp_path.iterdir():
        path.unlink()
    run = reader.poll()
    assert run.state.deleted
    assert run.graph_executions[0].op_name  # what was open can still be read
