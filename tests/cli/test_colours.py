"""What a terminal adds to a report: its width, and colours, which never change the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.cli import colours, main
from tfdbg_tui.diagnosis import diagnose, to_text
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs


def test_colours_change_no_text(logdirs: RecordedLogdirs) -> None:
    text = to_text(diagnose(open_run(logdirs["mnist"])))
    shown = colours.coloured(text)
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == text
    assert shown.startswith("\x1b[1;35mbad\x1b[0m: ")
    assert "\x1b[31m- tf.math.log(probs)\x1b[0m" in shown
    assert "\x1b[32m+ " in shown


def test_verdicts_of_several_runs_have_colours() -> None:
    text = "2 jobs\n    1  bad        a run\n    2  clean      a run\n\n2 of 2: a run\n\nclean: 0"
    shown = colours.coloured(text)
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == text
    assert shown.count("\x1b[1;32mclean\x1b[0m") == 2
    assert shown.count("\x1b[1;35mbad\x1b[0m") == 1
    assert "\x1b[1m2 of 2: a run\x1b[0m" in shown


@pytest.mark.parametrize(
    ("terminal", "environment", "wanted"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_for_terminals_of_users_who_want_them(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], wanted: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert colours.wanted() is wanted


@pytest.mark.parametrize(("terminal", "widest"), [(True, 72), (False, 96)])
def test_a_report_is_no_wider_than_the_terminal(
    logdirs: RecordedLogdirs,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    widest: int,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "72")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert main(["diagnose", str(logdirs["mnist"])]) == 1
    verdict, *lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if line.startswith("  ") and "debug_mnist" not in line]
    code = [line for line in told if line.startswith(" " * 17)]
    assert verdict.startswith("bad: ")
    assert widest - 8 < max(len(line) for line in told if line not in code) <= widest
