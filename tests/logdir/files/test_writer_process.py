"""Whether the writer of a file set still runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir.files.writer_process import WriterProcess
from tfdbg_tui.wire import tfrecord
from tfdbg_tui.wire.events import DebugEvent, DebugMetadata
from tfdbg_tui.wire.filesets import METADATA, FileSet

if TYPE_CHECKING:
    from pathlib import Path

_OPENS = "import sys; f = open(sys.argv[1], 'ab'); print(flush=True); sys.stdin.read()"


def _start(path: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _OPENS, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it has opened the file
    return process


def test_a_writer_is_at_work_until_it_is_killed(tmp_path: Path) -> None:
    placeholder = tmp_path / "before"
    process = _start(str(placeholder))
    file_set = FileSet(str(tmp_path / f"tfdbg_events.1.{socket.gethostname()}-{process.pid}"))
    writer = WriterProcess(file_set)
    assert writer.pid == process.pid
    placeholder.rename(file_set.path("execution"))
    assert writer.writing() is True
    process.send_signal(signal.SIGKILL)
    process.stdout.read()  # its end of the pipe is closed: it is dead, a zombie until waited for
    assert writer.writing() is False
    process.communicate()
    assert writer.writing() is False


def test_another_process_with_the_same_number_is_not_the_writer(tmp_path: Path) -> None:
    process = _start(str(tmp_path / "something else"))
    prefix = tmp_path / f"tfdbg_events.1.{socket.gethostname()}-{process.pid}-2"
    try:
        assert WriterProcess(FileSet(str(prefix))).writing() is False
    finally:
        process.communicate()


def test_tensorflows_writer_is_found_by_what_it_has_open(tmp_path: Path) -> None:
    file_set = FileSet(str(tmp_path / f"tfdbg_events.1.{socket.gethostname()}"))
    process = _start(file_set.path("execution"))
    with open(file_set.path("execution"), "rb"):  # who reads is not the writer
        writer = WriterProcess(file_set)
        assert writer.writing() is True
        assert (writer.pid, writer.is_ours) == (process.pid, False)
        assert not writer.suspended()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert writer.writing() is True
        assert writer.suspended()
        process.kill()
        process.communicate()
        assert writer.writing() is False
        assert not writer.suspended()
        assert WriterProcess(file_set).writing() is None


def _say(file_set: FileSet, *ended: int) -> None:
    metadata = [DebugMetadata("2.21.0", "debug.Event:1", "run", one) for one in ended]
    events = [DebugEvent(1.0, debug_metadata=one.encode()) for one in metadata]
    with open(file_set.path("metadata"), "wb") as file:
        file.write(b"".join(tfrecord.frame(event.encode()) for event in events))


@pytest.mark.parametrize(
    ("said", "killed"), [((), True), ((0,), True), ((0, 1), False), ((0, 1, 0), True)]
)
def test_who_is_killed_cannot_say_that_it_ends(
    tmp_path: Path, said: tuple[int, ...], killed: bool
) -> None:
    process = _start(str(tmp_path / "something else"))
    process.kill()
    process.communicate()
    file_set = FileSet(str(tmp_path / f"tfdbg_events.1.{socket.gethostname()}-{process.pid}"))
    _say(file_set, *said)
    writer = WriterProcess(file_set)
    assert writer.writing() is False
    assert writer.killed() is killed
    os.remove(file_set.path(METADATA))
    assert not writer.killed()


def test_on_another_host_only_what_it_said_is_known(tmp_path: Path) -> None:
    file_set = FileSet(str(tmp_path / "tfdbg_events.1.elsewhere-1"))
    writer = WriterProcess(file_set)
    for said, writing in (((0,), None), ((0, 1), False), ((0, 1, 0), None)):
        _say(file_set, *said)
        assert writer.writing() is writing
        assert not writer.killed()


def test_what_a_name_does_not_tell(tmp_path: Path) -> None:
    for name in (socket.gethostname(), "elsewhere-1", "x", "1.elsewhere-0"):
        writer = WriterProcess(FileSet(str(tmp_path / f"tfdbg_events.1.{name}")))
        assert writer.writing() is None
    assert WriterProcess(FileSet(str(tmp_path / "tfdbg_events.x"))).writing() is None
