"""What is recorded here is uploaded while it grows, whole records only, and then all of it."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import tfdbg_tui
from tests.logdir.synthetic import content
from tests.storage import places
from tfdbg_tui.cli import main
from tfdbg_tui.logdir import list_runs
from tfdbg_tui.storage import upload as upload_module
from tfdbg_tui.storage.spool import Spool
from tfdbg_tui.storage.upload import Upload
from tfdbg_tui.wire import filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


@pytest.fixture(params=["memory", "bucket", "ssh"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[places.Store]:
    if request.param == "memory":
        yield places.memory()
    elif request.param == "bucket":
        with places.bucket(monkeypatch) as made:
            yield made
    else:
        with places.ssh(tmp_path, monkeypatch) as made:
            yield made


def files_of(logdir: Path) -> tuple[dict[str, bytes], str]:
    """Returns what the files of a logdir hold, and the name of that of the traces."""
    files = {path.name: path.read_bytes() for path in logdir.iterdir()}
    (traces,) = (name for name in files if name.endswith(filesets.GRAPH_EXECUTION_TRACES))
    return files, traces


def test_what_grows_is_there_as_whole_records(
    place: places.Store, logdirs: Mapping[str, Path], tmp_path: Path
) -> None:
    files, traces = files_of(logdirs["mnist"])
    # So many that a part of an S3 object can be copied on the server.
    traces_data = files[traces] * (12 << 20 >> 18)
    spool = tmp_path / "spool"
    spool.mkdir()
    upload = Upload(str(spool), place.url)
    for part in (0.1, 0.4, 0.7, 1.0):
        for name, data in {**files, traces: traces_data}.items():
            (spool / name).write_bytes(data[: int(len(data) * part)])
        upload.send()
        run = tfdbg_tui.open_run(place.url)
        assert not [p for p in run.problems if "beginning of a record" in p.message]
    upload.send(last=True)
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(spool))
    # A circular buffer puts another file in the place of the first.
    other = spool / "other"
    other.write_bytes(files[traces])
    other.rename(spool / traces)
    upload.send(last=True)
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(spool))


def test_an_attempt_that_was_cut_off_is_not_repeated(
    tmp_path: Path, logdirs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was written, but the answer got lost: nothing may be there twice."""
    from tfdbg_tui.storage import connection

    place = places.memory()
    files, traces = files_of(logdirs["mnist"])
    spool = tmp_path / "spool"
    spool.mkdir()
    for name, data in files.items():
        (spool / name).write_bytes(data)
    upload = Upload(str(spool), place.url)
    upload.send()
    with (spool / traces).open("ab") as file:
        file.write(files[traces])
    monkeypatch.setattr(connection, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(Upload, "_send", cut_off_once(Upload._send))
    upload.send()
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(spool))


def cut_off_once(send: Callable[..., None]) -> Callable[..., None]:
    outcomes = iter([ConnectionResetError("no answer")])

    @functools.wraps(send)
    def attempt(upload: Upload, files: Any, file: Any, remote: str) -> None:
        before = file.sent
        send(upload, files, file, remote)
        failure = next(outcomes, None)
        if failure is not None:
            file.sent = before
            raise failure

    return attempt


def test_a_killed_program_is_uploaded_to_its_end(
    monkeypatch: pytest.MonkeyPatch, logdirs: Mapping[str, Path], tmp_path: Path
) -> None:
    monkeypatch.setenv("TFDBG_SPOOL_DIR", str(tmp_path))
    with places.bucket(monkeypatch) as place:
        script = (
            "import os, shutil, sys\n"
            "from tfdbg_tui.storage.spool import Spool\n"
            "spool = Spool(sys.argv[1])\n"
            "shutil.copytree(sys.argv[2], spool.directory, dirs_exist_ok=True)\n"
            "os.kill(os.getpid(), 9)\n"
        )
        command = [sys.executable, "-c", script, place.url, str(logdirs["mnist"])]
        assert subprocess.run(command).returncode == -9
        deadline = time.monotonic() + 60
        while list(tmp_path.glob("tfdbg-spool-*")) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert content(tfdbg_tui.open_run(place.url)) == content(
            tfdbg_tui.open_run(logdirs["mnist"])
        )


@pytest.mark.parametrize(
    ("url", "reason", "again"),
    [
        ("http://127.0.0.1:1/logs", "web servers are read, not written to", False),
        ("hdfs://nowhere/logs", "pip install 'tfdbg-tui[hdfs]'", True),
    ],
)
def test_what_cannot_be_uploaded_stays_and_is_told(
    url: str,
    reason: str,
    again: bool,
    logdirs: Mapping[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("fsspec")
    if url.startswith("hdfs") and importlib.util.find_spec("pyarrow"):
        pytest.skip("what reads HDFS is installed")
    monkeypatch.setenv("TFDBG_SPOOL_DIR", str(tmp_path))
    spool = Spool(url)
    for path in logdirs["mnist"].iterdir():
        (tmp_path / spool.directory / path.name).write_bytes(path.read_bytes())
    spool.finish()
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert url in told
    assert reason in told
    assert f"it is in {spool.directory}" in told
    assert (f": tfdbg-tui upload {spool.directory} {url} " in told) is again
    assert len(list_runs(spool.directory)) == 1


def test_what_a_killed_upload_leaves_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TFDBG_SPOOL_DIR", str(tmp_path))
    spool = Spool("s3://bucket/logs")
    spool._process.kill()
    spool.finish()
    again = f"tfdbg-tui upload {spool.directory} s3://bucket/logs"
    assert (
        f"was killed; it is in {spool.directory}: {again} tries again\n" in capfd.readouterr().err
    )


def test_what_could_not_be_uploaded_can_be_later(
    logdirs: Mapping[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = places.memory()
    assert main(["upload", str(logdirs["mnist"]), place.url]) == 0
    assert content(tfdbg_tui.open_run(place.url)) == content(tfdbg_tui.open_run(logdirs["mnist"]))
    assert main(["upload", str(logdirs["mnist"]), "http://127.0.0.1:1/logs"]) == 2
    assert main(["upload", str(tmp_path), place.url]) == 2
    told = "".join(capsys.readouterr())
    assert "web servers are read, not written to" in told
    assert f"{tmp_path}: holds no tfdbg_events files" in told


def test_a_record_larger_than_what_is_in_memory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_module, "_MOST_BYTES", 1000)
    place = places.memory()
    data = b"".join(tfrecord.frame(bytes(size)) for size in (10, 5000, 20, 3000, 2000))
    name = f"tfdbg_events.1.host.{filesets.EXECUTION}"
    (tmp_path / name).write_bytes(data + data[:40])
    upload = Upload(str(tmp_path), place.url)
    upload.send(last=True)
    import fsspec

    assert fsspec.filesystem("memory").cat_file(f"{place.url}/{name}")[: len(data)] == data
