"""Of a line of source that is longer than anybody reads, its beginning is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.cli import main
from tfdbg_tui.cli.mcp import Tools
from tfdbg_tui.wire import events
from tfdbg_tui.wire.tfrecord import frame

if TYPE_CHECKING:
    from pathlib import Path

_LINE = "y = tf.math.log(x)  # " + "z" * 100_000


@pytest.fixture
def logdir(tmp_path: Path) -> str:
    program = Program(tmp_path)
    program.execution("Log", [], {0: floats(-1.0, float("nan"))}, line=2)
    program.open()
    (sources,) = tmp_path.glob("*.source_files")
    source = events.SourceFile("/home/program.py", "host", ["", _LINE, ""])
    event = events.DebugEvent(1.0, source_file=source.encode())
    sources.write_bytes(frame(event.encode()))
    return str(tmp_path)


def test_reports_are_no_longer_than_they_need_be(
    logdir: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["diagnose", logdir, "--json"]) == 1
    (root,) = json.loads(capsys.readouterr().out)["roots"]
    assert main(["report", logdir, "--html", str(page)]) == 1
    for told in (root["location"]["code"], page.read_text(), Tools(logdir).source("program.py")):
        assert "tf.math.log" in told
        assert "z" * 5000 not in told.replace("\n", "")
