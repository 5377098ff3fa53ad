"""`diagnose --follow` beside programs that end, are killed, or fall silent."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs

_WRITER = "import sys; f = open(sys.argv[1], 'ab'); print(flush=True); sys.stdin.read()"
_FOLLOW = (sys.executable, "-m", "tfdbg_tui", "diagnose", "--follow")


def _copy_as_of(pid: int, source: Path, target: Path) -> Path:
    """Copies a logdir as if a process of this host had written it; returns its traces."""
    target.mkdir()
    for path in source.iterdir():
        suffix = path.name.rpartition(".")[2]
        shutil.copy(path, target / f"tfdbg_events.1.{socket.gethostname()}-{pid}.{suffix}")
    (traces,) = target.glob("*.graph_execution_traces")
    return traces


def test_it_ends_with_the_program(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    placeholder = tmp_path / "open"
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(placeholder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    traces = _copy_as_of(writer.pid, logdirs["mnist"], tmp_path / "logdir")
    placeholder.write_bytes(traces.read_bytes())
    placeholder.rename(traces)  # so that the living process has it open
    follow = subprocess.Popen(
        [*_FOLLOW, str(tmp_path / "logdir")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with pytest.raises(subprocess.TimeoutExpired):
        follow.communicate(timeout=3)
    writer.send_signal(signal.SIGKILL)
    output, errors = follow.communicate(timeout=60)
    writer.communicate()
    assert follow.returncode == 1
    assert b"Log:0" in output
    assert b"the program was killed or crashed" in errors


def test_a_timeout_ends_silence(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    shutil.copytree(logdirs["control_flow"], tmp_path / "logdir")
    result = subprocess.run(
        [*_FOLLOW, str(tmp_path / "logdir"), "--timeout", "1", "--json"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert result.stdout.startswith(b"{")


def test_a_suspect_ends_it_where_that_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.op("f", "Relu", "Relu", "x:0")
    for _ in range(10):
        recorded.trace("f", "Relu", np.zeros(64, np.float32))
    recorded.open()
    assert main(["diagnose", str(tmp_path), "--follow", "--until", "suspect"]) == 1
    assert "A ReLU layer that is off all the time" in capsys.readouterr().out


def test_a_circular_buffer_is_named(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    for path in logdirs["mnist"].iterdir():
        shutil.copy(path, tmp_path)
        if path.name.endswith(("execution", "traces")):
            (tmp_path / path.name).write_bytes(b"")
    with subprocess.Popen([*_FOLLOW, str(tmp_path)], stderr=subprocess.PIPE) as follow:
        assert follow.stderr is not None
        told = follow.stderr.readline()  # for as long as it takes: nothing else ends it
        follow.terminate()
    assert b"circular_buffer_size=-1" in told


@pytest.mark.parametrize("seconds", ["-5", "nan"])
def test_no_time_is_waited_that_is_none(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str], seconds: str
) -> None:
    assert main(["diagnose", str(logdirs["mnist"]), "--follow", f"--timeout={seconds}"]) == 2
    assert "a number of seconds from 0 on" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--timeout", "3"], ["--until", "suspect"]])
def test_options_of_following_need_it(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert main(["diagnose", str(logdirs["mnist"]), *option]) == 2
    assert "--follow" in capsys.readouterr().err
