"""Lines of source in reports: of one that is longer than anybody reads its beginning, and tabs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.cli import main
from tfdbg_tui.cli.mcp import Tools

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_LINE = "y = tf.math.log(x)  # " + "z" * 100_000


def logdir_of(directory: Path, line: str) -> str:
    program = Program(directory)
    program.lines = ["", line, ""]
    program.execution("Log", [], {0: floats(-1.0, float("nan"))}, line=2)
    program.open()
    return str(directory)


def test_reports_are_no_longer_than_they_need_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logdir = logdir_of(tmp_path, _LINE)
    page = tmp_path / "page.html"
    assert main(["diagnose", logdir, "--json"]) == 1
    (root,) = json.loads(capsys.readouterr().out)["roots"]
    assert main(["report", logdir, "--html", str(page)]) == 1
    for told in (root["location"]["code"], page.read_text(), Tools(logdir).source("program.py")):
        assert "tf.math.log" in told
        assert "z" * 5000 not in told.replace("\n", "")


def test_tabs_are_blanks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logdir, page = logdir_of(tmp_path, "\tx = 1;\ty = tf.math.log(x)"), tmp_path / "page.html"
    assert main(["diagnose", logdir]) == 1
    assert "x = 1;  y = tf.math.log(x)" in capsys.readouterr().out
    assert main(["report", logdir, "--html", str(page)]) == 1
    assert "\\t" not in page.read_text()
