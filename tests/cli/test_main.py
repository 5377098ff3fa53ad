"""The command line as users and scripts meet it: exit codes, streams, bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.cli import main
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.diagnosis.report.findings import Report


def run_process(*args: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tfdbg_tui", *args],
        capture_output=True,
        env={**os.environ, **environ},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", ["info", "diagnose"])
@pytest.mark.parametrize(
    ("prepare", "clue"),
    [
        (lambda path: path / "missing", "no such directory"),
        (lambda path: _file(path), "not a directory"),
        (lambda path: path, "no tfdbg_events files"),
    ],
    ids=["missing", "file", "empty"],
)
def test_unusable_logdir_is_one_sentence_and_exit_2(
    command: str,
    prepare: Callable[[Path], Path],
    clue: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = prepare(tmp_path)
    assert main([command, str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert clue in err
    assert str(path) in err
    assert err.count("\n") == 1


def _file(path: Path) -> Path:
    file = path / "file"
    file.write_text("not a logdir")
    return file


def test_no_arguments_shows_usage_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "usage: tfdbg-tui" in err


def test_info_counts_events_and_finds_the_first_alert(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(logdirs["mnist"]), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    alerts = run["alerts"]
    assert alerts["total"] == alerts["executions"] + alerts["graph_executions"] > 0
    assert run["tensor_debug_modes"] == ["FULL_HEALTH"]
    first = run["first_alert"]
    assert (first["op_type"], first["op_name"], first["output_slot"]) == ("Log", "Log", 0)
    assert first["graph"] == "loss"
    counts = first["counts"]
    assert counts["neg_inf"] > 0
    assert counts["size"] == sum(n for name, n in counts.items() if name != "size")


def test_info_tells_the_mode_that_was_asked_for(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(logdirs["nested_loops"])]) == 0
    assert "ADAPTIVE, recorded as CONCISE_HEALTH, FULL_HEALTH\n" in capsys.readouterr().out


def test_output_survives_a_terminal_without_utf8(logdirs: RecordedLogdirs) -> None:
    logdir = str(logdirs["mnist"])
    result = run_process("info", logdir, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0
    assert b"Traceback" not in result.stderr
    assert b"first alert" in result.stdout


def test_a_closed_pipe_is_not_an_error(logdirs: RecordedLogdirs) -> None:
    logdir = str(logdirs["mnist"])
    command = f"{sys.executable} -m tfdbg_tui info {logdir} --json | head -c 1"
    result = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False)
    assert result.stdout == b"{"
    assert result.stderr == b""


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize(
    ("output", "code", "words"),
    [
        ("| true", 1, ""),  # what was found does not depend on who reads it
        (">&-", 1, ""),
        ("> /dev/full", 2, "tfdbg-tui: standard output cannot be written: No space left on device"),
    ],
)
def test_an_output_that_cannot_be_written(
    logdirs: RecordedLogdirs, form: str, output: str, code: int, words: str
) -> None:
    command = f"{sys.executable} -m tfdbg_tui diagnose {logdirs['mnist']} {form}"
    result = subprocess.run(
        ["bash", "-c", f"{command} {output}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr.decode().strip()) == (code, words)


def test_of_several_runs_the_one_is_told(
    logdirs: RecordedLogdirs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mnist", "session"):
        shutil.copytree(logdirs[name], tmp_path / name)
    main(["diagnose", str(tmp_path)])
    said = capsys.readouterr().err
    assert said.startswith("tfdbg-tui: 2 runs; this is about the newest, --run ")
    assert main(["diagnose", str(tmp_path), "--run", said.split()[-1]]) in (0, 1)
    assert capsys.readouterr().err == ""
    main(["diagnose", str(tmp_path), "--follow", "--timeout", "0"])
    assert capsys.readouterr().err.startswith(said)


def test_one_element_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Program(tmp_path)
    made.execution("Log", [], {1: np.array(np.nan, np.float32)})
    made.open()
    assert main(["info", str(tmp_path)]) == 0
    assert "1 NaN of 1 element\n" in capsys.readouterr().out


def test_a_demo_that_cannot_be_extracted_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(tmp_path)
    assert main(["demo", "--extract", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"tfdbg-tui: {path} cannot be written: ")


def test_of_copies_of_a_run_the_directory_is_told(
    logdirs: RecordedLogdirs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        shutil.copytree(logdirs["session"], tmp_path / name)
    main(["diagnose", str(tmp_path)])
    *said, directory = capsys.readouterr().err.split()
    assert " ".join(said) == "tfdbg-tui: 2 runs; this is about the newest, in"
    assert directory in (str(tmp_path / "a"), str(tmp_path / "b"))


def test_a_logdir_that_is_deleted_while_it_is_followed_still_has_its_report(
    logdirs: RecordedLogdirs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logdir = shutil.copytree(logdirs["mnist"], tmp_path / "mnist")

    def follow(_args: object) -> Report:
        report = diagnose(open_run(logdir))
        shutil.rmtree(logdir)
        return report

    monkeypatch.setattr("tfdbg_tui.cli.diagnose._follow", follow)
    assert main(["diagnose", str(logdir), "--follow"]) == 1
    assert "1 root" in capsys.readouterr().out
