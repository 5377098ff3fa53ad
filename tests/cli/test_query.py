"""`tfdbg-tui query` and `report`: the same tensors in each form."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.cli import main, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["query", *arguments]) == 0
    return capsys.readouterr().out


def test_json_csv_and_parquet_hold_the_same(
    logdirs: RecordedLogdirs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arguments = (str(logdirs["control_flow"]), "--filter", "fn=* !type=Const")
    rows = [json.loads(line) for line in printed(capsys, *arguments, "--json").splitlines()]
    assert rows
    table = list(csv.DictReader(printed(capsys, *arguments, "--csv").splitlines()))
    assert table == [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    path = tmp_path / "tensors.parquet"
    printed(capsys, *arguments, "--parquet", str(path))
    assert parquet.read_table(path).to_pylist() == rows


def test_why_pyarrow_cannot_be_used_is_told(
    logdirs: RecordedLogdirs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It may be there, but made for another NumPy."""
    (tmp_path / "pyarrow.py").write_text("raise ImportError('it requires NumPy 2.0')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    assert main(["query", str(logdirs["mnist"]), "--parquet", str(tmp_path / "x")]) == 2
    assert "needs pyarrow (it requires NumPy 2.0): pip install" in capsys.readouterr().err


def test_people_are_shown_a_table_and_told_what_is_left_out(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", str(logdirs["mnist"]), "--filter", "bad", "--limit", "1"]) == 0
    out, err = capsys.readouterr()
    header, line = out.splitlines()
    assert header.split()[:3] == ["event", "step", "tensor"]
    values = "3 -∞, 968 negative, 29 zero"
    assert " ".join(line.split()) == f"graph 141 Log:0 Log loss {values} debug_mnist.py:183"
    assert "--limit" in err
    assert "does not say" not in err


def test_what_the_dump_does_not_tell_is_counted(
    logdirs: RecordedLogdirs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", str(logdirs["shape"]), "--filter", "zero>0", "--json"]) == 0
    out, err = capsys.readouterr()
    assert not out
    assert "events the dump does not say whether they fit" in err


@pytest.mark.parametrize(
    ("arguments", "clue"),
    [
        (["--filter", "typ=Log"], "did you mean type"),
        (["--limit", "0"], "from 1 on"),
        (["--parquet", "/nonexistent/x"], "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence(
    logdirs: RecordedLogdirs,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    clue: str,
) -> None:
    if "--parquet" in arguments:
        pytest.importorskip("pyarrow")
    assert main(["query", str(logdirs["mnist"]), *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert clue in err
    assert err.count("\n") == 1


def test_a_reader_that_has_seen_enough_ends_it(logdirs: RecordedLogdirs) -> None:
    query = [sys.executable, "-m", "tfdbg_tui", "query", str(logdirs["mnist"]), "--csv"]
    with subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


class _Page(HTMLParser):
    """Collects the text of a page, and what it would load from elsewhere."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.loaded: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe"):
            self.loaded.append(tag)


def test_a_page_holds_the_diagnosis_the_source_and_the_bad_tensors(
    logdirs: RecordedLogdirs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, trace = tmp_path / "page.html", tmp_path / "trace.json"
    arguments = ["report", str(logdirs["mnist"]), "--html", str(path), "--trace", str(trace)]
    assert main(arguments) == 1
    page = _Page(path.read_text("utf-8"))
    assert not page.loaded
    assert "Logarithm of a softmax that came out as 0" in page.text
    assert "❱ 183     diff = -labels * tf.math.log(probs)" in page.text
    assert "gradients/MatMul_grad/MatMul:0" in page.text
    assert json.loads(trace.read_text("utf-8"))["traceEvents"]
    assert f"{path} has been written; bad: 495 alerts, 1 root" in capsys.readouterr().err
    assert main(["report", str(logdirs["mnist"])]) == 2
    assert "--html" in capsys.readouterr().err


def test_the_rest_of_a_long_line_of_a_page_stands_right_of_its_label() -> None:
    link = "  chain      " + "/".join(["a_layer_with_a_long_name"] * 4) + ": " + "1 zero, " * 8
    first, *rest = page._wrapped(link).split("\n")
    assert rest
    assert first.startswith("  chain      a_layer")
    assert all(line.startswith(" " * 15 + line.strip()[0]) for line in rest)
    assert page._wrapped("short") == "short"


def test_a_page_holds_the_source_of_suspects_each_line_once(tmp_path: Path) -> None:
    program = Program(tmp_path / "logdir")
    program.lines = ["", "h = tf.nn.relu(x)", ""]
    program.graph("root", "")
    program.graph("f", "f", "root")
    for name in ("first", "second"):
        program.op("f", "Relu", f"{name}/Relu", "x:0", line=2)
        for _ in range(12):
            program.trace("f", f"{name}/Relu", np.zeros(200, np.float32))
    program.open()
    path = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "logdir"), "--html", str(path)]) == 0
    page = _Page(path.read_text("utf-8"))
    assert "off all the time" in page.text
    assert page.text.count("❱ 2 h = tf.nn.relu(x)") == 1
