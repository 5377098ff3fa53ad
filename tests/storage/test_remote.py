"""Servers that fail: what is read is retried within bounds, told, and loses nothing."""

from __future__ import annotations

import errno
import itertools
import os
from typing import TYPE_CHECKING, Any

import pytest

import tfdbg_tui
from tests.logdir.synthetic import content
from tests.storage import places
from tfdbg_tui.cli import main
from tfdbg_tui.logdir import LogdirError, RunReader, list_runs
from tfdbg_tui.storage import connection, remote, remote_file, storage_of, urls
from tfdbg_tui.storage.blocks import BLOCK, Blocks
from tfdbg_tui.tui.session.recording import Recording
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

fsspec = pytest.importorskip("fsspec")
MemoryFiles: Any = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem


class Unsteady(MemoryFiles):
    """A file system that fails as told.

    Attributes:
        failures: What the next calls raise; None for those that succeed.
        reads: How many bytes each range that was read has.
    """

    protocol = "unsteady"
    failures: Iterator[Exception | None] = iter(())
    reads: tuple[int, ...] = ()

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:
        return super()._strip_protocol(path.replace("unsteady://user:pass%20word@", "memory://"))

    def ls(self, path: str, **options: Any) -> Any:
        self.fail()
        return super().ls(path, **options)

    def cat_ranges(
        self, paths: Sequence[str], starts: Sequence[int], ends: Sequence[int], **options: Any
    ) -> Any:
        self.fail()
        Unsteady.reads += tuple(end - start for start, end in zip(starts, ends, strict=True))
        return super().cat_ranges(paths, starts, ends, **options)

    def fail(self) -> None:
        failure = next(self.failures, None)
        if failure is not None:
            raise failure


fsspec.register_implementation("unsteady", Unsteady, clobber=True)

DROPPED = ConnectionResetError("the peer said pass%20word or pass word, and hung up")


@pytest.fixture
def place(logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> places.Store:
    monkeypatch.setattr(connection, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(connection, "_REST_SECONDS", 0.0)
    monkeypatch.setattr(remote.RemoteStorage, "poll_seconds", 0.0)
    monkeypatch.setattr(Unsteady, "failures", iter(()))
    monkeypatch.setattr(Unsteady, "reads", ())
    remote.remote_storage.cache_clear()
    made = places.memory()
    made.fill(logdirs["mnist"])
    made.url = made.url.replace("memory://", "unsteady://user:pass%20word@")
    return made


def test_two_of_three_calls_fail(
    place: places.Store, logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unsteady, "failures", itertools.cycle([DROPPED, DROPPED, None]))
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(logdirs["mnist"]))


def test_an_outage_is_told_and_loses_nothing(
    place: places.Store, logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files,) = list_runs(place.url)
    reader = RunReader(files)
    storage = storage_of(files.directory)
    assert isinstance(storage, remote.RemoteStorage)
    first = reader.poll()
    assert storage.problem == ""
    monkeypatch.setattr(Unsteady, "failures", itertools.repeat(DROPPED))
    failed_at = set()
    for _ in range(3):
        run = reader.poll()
        failed_at.add(storage._connection._failed_at)
    assert len(failed_at) == 1  # since when
    assert len(run.graph_executions) >= len(first.graph_executions)
    assert "hung up" in storage.problem
    assert not run.state.deleted
    recording = Recording(attached=True)
    recording.note(run)
    ((said, _),) = recording.facts(following=True, shown=None)
    assert said.startswith("trying again, no connection for 0 s: the peer said")
    monkeypatch.setattr(Unsteady, "failures", iter(()))
    assert content(reader.read_all()) == content(tfdbg_tui.open_run(logdirs["mnist"]))
    assert storage.problem == ""


def test_an_outage_that_lasts_is_no_clean_report(
    place: places.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(remote_file, "BLOCK", 1 << 16)
    monkeypatch.setattr(remote_file, "_LEAST_BYTES", 1 << 16)
    (files,) = list_runs(place.url)
    reader = RunReader(files)
    reader._look(patient=False)  # which fetches the first block of each file
    monkeypatch.setattr(Unsteady, "failures", itertools.repeat(DROPPED))
    report = tfdbg_tui.diagnose(reader.read_all())
    assert report.verdict == "incomplete"


def test_a_value_that_could_not_be_read_is_read_later(
    place: places.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tfdbg_tui.open_run(place.url)
    storage = storage_of(run.files.directory)
    assert isinstance(storage, remote.RemoteStorage)
    for file in run.graph_executions._files:
        opened: Any = file._file
        storage._blocks.drop(opened)
    monkeypatch.setattr(Unsteady, "failures", itertools.repeat(DROPPED))
    assert "connection" in run.graph_executions[3].unreadable
    monkeypatch.setattr(Unsteady, "failures", iter(()))
    assert not run.graph_executions[3].unreadable
    assert not run.problems


def test_what_is_refused_is_not_tried_again(
    place: places.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([PermissionError(13, "Access Denied")])
    monkeypatch.setattr(Unsteady, "failures", failures)
    with pytest.raises(LogdirError, match="cannot be listed: Access Denied"):
        list_runs(place.url)
    assert next(failures, "all were raised") == "all were raised"


def test_no_password_is_printed(
    place: places.Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "pass" not in urls.without_secrets(place.url)
    assert urls.with_secrets(urls.without_secrets(place.url)) == place.url
    main(["info", place.url])
    main(["info", "--json", place.url])
    main(["diagnose", place.url])
    main(["diagnose", f"{place.url}/nothing"])
    monkeypatch.setattr(Unsteady, "failures", itertools.repeat(DROPPED))
    main(["diagnose", place.url])
    told = "".join(capsys.readouterr())
    assert "hung up" in told
    assert "pass word" not in told
    assert "pass%20word" not in told


def test_a_package_that_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise ImportError("no such module")

    monkeypatch.setattr(fsspec, "get_filesystem_class", fail)
    remote.remote_storage.cache_clear()
    assert main(["diagnose", "s3://bucket/logs"]) == 2
    assert capsys.readouterr().err.strip() == (
        "tfdbg-tui: s3://bucket/logs: needs a package that is not installed: "
        "pip install 'tfdbg-tui[s3]'"
    )


def test_what_is_fetched_is_bounded(place: places.Store) -> None:
    """All bytes once, and what is asked for again is there."""
    run = tfdbg_tui.open_run(place.url)
    total = sum(file.size for file in run.graph_executions._files + run.executions._files)
    fetched = sum(Unsteady.reads)
    assert fetched < 3 * total
    # One for each file, but that metadata is looked at before, and that one file is large.
    assert len(Unsteady.reads) <= len(filesets.SUFFIXES) + 3
    for index in range(len(run.graph_executions)):
        run.graph_executions[index]
    assert sum(Unsteady.reads) == fetched


def test_what_follows_is_fetched_in_whole_pieces(
    place: places.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = 4 * BLOCK
    monkeypatch.setattr(remote_file, "_LEAST_BYTES", BLOCK)
    monkeypatch.setattr(remote_file, "_PIECE_BYTES", piece)
    monkeypatch.setattr(remote_file, "_AHEAD_BYTES", 3 * piece)
    content = bytes(range(251)) * (40 * BLOCK // 251)
    place.put("large", content)
    path = urls.without_secrets(f"{place.url}/large")
    file = storage_of(path).open(path)
    read = bytearray(len(content))
    for at in range(0, len(content), BLOCK + 7):
        file.read_into(memoryview(read)[at : at + BLOCK + 7], at)
    assert read == content
    assert sum(Unsteady.reads) == len(content)
    assert sorted(Unsteady.reads)[3:] == [piece] * (len(Unsteady.reads) - 3)


def test_blocks_are_bounded_and_what_was_used_last_is_kept() -> None:
    blocks = Blocks(most_bytes=3 * BLOCK)
    for number in range(5):
        blocks.put("a", number, bytes([number]) * (BLOCK - number))
        assert read(blocks, "a", 2) in (b"", bytes([2]) * 10)
    assert [blocks.length("a", number) for number in range(5)] == [
        *(0, 0, BLOCK - 2, BLOCK - 3, BLOCK - 4)
    ]
    blocks.put("b", 4, b"another file")
    blocks.put("b", 4, b"another file, which has grown")
    assert read(blocks, "b", 4) == b"another fi"
    assert read(blocks, "a", 4) == bytes([4]) * 10
    blocks.drop("a")
    assert not any(blocks.length("a", number) for number in range(5))
    assert read(blocks, "b", 4) == b"another fi"


def read(blocks: Blocks, file: str, number: int) -> bytes:
    """Returns the first bytes that are held of a block."""
    data = bytearray(10)
    return bytes(data[: blocks.read_into(memoryview(data), file, number, 0)])


def test_a_full_disk_costs_fetching_again_and_nothing_else(
    place: places.Store, logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", fail)
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(logdirs["mnist"]))
