"""A logdir reads the same wherever it lies: on a disk, or behind a URL of any kind."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import tfdbg_tui
from tests.logdir.synthetic import content
from tests.storage import places
from tfdbg_tui.diagnosis.report.words import to_text
from tfdbg_tui.logdir import EmptyLogdirError, LogdirError, RunReader, list_runs
from tfdbg_tui.storage import remote_file
from tfdbg_tui.wire import filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@pytest.fixture(params=["disk", "memory", "web", "bucket", "ssh"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[places.Store]:
    match request.param:
        case "disk":
            yield places.disk(tmp_path)
        case "memory":
            yield places.memory()
        case "web":
            with places.web(tmp_path) as made:
                yield made
        case "bucket":
            with places.bucket(monkeypatch) as made:
                yield made
        case "ssh":
            with places.ssh(tmp_path, monkeypatch) as made:
                yield made


def content_of(path: str | Path) -> dict[str, Any]:
    return content(tfdbg_tui.open_run(path))


def test_what_is_there_changed_and_gone(place: places.Store, logdirs: Mapping[str, Path]) -> None:
    """One test, as some of the servers take seconds to start."""
    mnist, control_flow = logdirs["mnist"], logdirs["control_flow"]

    # What is there.
    place.fill(mnist)
    run = tfdbg_tui.open_run(place.url)
    assert content(run) == content_of(mnist)
    assert run.files.directory == place.url
    assert to_text(tfdbg_tui.diagnose(run)) == to_text(
        tfdbg_tui.diagnose(tfdbg_tui.open_run(mnist))
    )
    path = run.source_paths[0]
    assert run.source(*path) == tfdbg_tui.open_run(mnist).source(*path)

    # What grows, cut where no record ends.
    reader = RunReader(list_runs(place.url)[0])
    counts = [len(reader.read_all().graph_executions)]
    events = {file.name: file.read_bytes() for file in mnist.iterdir()}
    (name,) = (name for name in events if name.endswith(filesets.GRAPH_EXECUTION_TRACES))
    place.put(name, events[name] * 2)
    counts.append(len(reader.read_all().graph_executions))
    place.put(name, events[name] * 3 + events[name][:10_000])
    counts.append(len(reader.read_all().graph_executions))
    place.put(name, events[name] * 4)
    run = reader.read_all()
    counts.append(len(run.graph_executions))
    assert counts == [counts[0], 2 * counts[0], counts[2], 4 * counts[0]]
    assert counts[2] > 3 * counts[0]
    assert run.graph_executions[-1].op_name == run.graph_executions[counts[0] - 1].op_name
    assert run.state.generation == 0

    # What another file has taken the place of, as with a circular buffer.
    second = len(events[name]) // 2
    starts = [record_start for record_start in starts_of(events[name]) if record_start > second]
    place.put(name, events[name][starts[0] :] * 9)
    run = reader.read_all()
    assert run.state.generation == 1
    assert len(run.graph_executions) == 9 * len(starts)

    # What is gone.
    for file in events:
        place.remove(file)
    assert reader.read_all().state.deleted
    with pytest.raises(LogdirError) as caught:
        list_runs(place.url)
    assert caught.type in (LogdirError, EmptyLogdirError)
    assert place.url in str(caught.value)

    # Several runs, and what is no logdir.
    place.fill(mnist)
    place.fill(control_flow)
    assert len(list_runs(place.url)) == 2
    with pytest.raises(LogdirError, match=r"not a directory|holds no"):
        list_runs(f"{place.url}/{name}")
    with pytest.raises(LogdirError, match=r"no such directory|holds no"):
        list_runs(f"{place.url}/nothing")


def starts_of(data: bytes) -> list[int]:
    """Returns where the records of a file start."""
    sizes = [tfrecord.FRAME_SIZE + len(payload) for _, payload in tfrecord.records(data)]
    return list(itertools.accumulate(sizes, initial=0))[:-1]


def test_a_server_that_sends_whole_files_only(
    tmp_path: Path, logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_file, "BLOCK", 1 << 16)  # of smaller files all is asked for
    monkeypatch.setattr(remote_file, "_LEAST_BYTES", 1 << 16)
    with places.web(tmp_path, ranges=False) as place:
        place.fill(logdirs["mnist"])
        run = tfdbg_tui.open_run(place.url)
        assert any("not parts of them (HTTP ranges)" in problem.message for problem in run.problems)
        assert tfdbg_tui.diagnose(run).verdict == "incomplete"
