"""`diagnose --follow` beside a program that is still writing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tfdbg_tui.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.conftest import RecordedLogdirs


def test_follow_ends_when_something_is_bad(logdirs: RecordedLogdirs, tmp_path: Path) -> None:
    """The events come one file after another, and the directory after the command has started."""
    logdir = tmp_path / "logdir"
    process = subprocess.Popen(
        [sys.executable, "-m", "tfdbg_tui", "diagnose", str(logdir), "--follow", "--until", "bad"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "waiting" in process.stderr.readline()
    logdir.mkdir()
    order = ("metadata", "source_files", "stack_frames", "graphs")
    files = sorted(
        (path for path in logdirs["mnist"].iterdir() if path.is_file()),
        key=lambda path: (path.name.rpartition(".")[2] not in order, path.name),
    )
    for path in files:
        data = path.read_bytes()
        copy = logdir / path.name
        copy.write_bytes(data[: len(data) // 2])
        with copy.open("ab") as file:
            file.write(data[len(data) // 2 :])
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1, errors
    assert "Log:0" in output


def test_until_without_follow_is_one_sentence(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(logdirs["mnist"]), "--until", "bad"]) == 2
    assert "--follow" in capsys.readouterr().err
