"""The app in a real terminal: it starts, takes keys, quits, and leaves the terminal as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyte
import pytest

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.logdir import LogdirError
from tfdbg_tui.tui import run_app

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import RecordedLogdirs

_RUN = "import sys; from tfdbg_tui.tui import run_app; sys.exit(run_app(sys.argv[1]))"
_RUN_THERE = """
import os, sys
from tfdbg_tui.tui import run_app
os.chdir(sys.argv[1])
sys.exit(run_app("."))
"""
_DEFECT = """
import sys
from tfdbg_tui.cli import main
from tfdbg_tui.tui.session.snapshot import Snapshot
Snapshot.frames = lambda *_: 1 / 0
sys.exit(main(sys.argv[1:]))
"""
_JOB = 'set -m; "$@"; echo has stopped; sleep 1; fg'
_PATIENCE = 120.0
_SETTLE = 1.0
_QUERY = b"\x1b[6n"


class Terminal:
    """A program under a pseudo terminal, and what a terminal would show of it."""

    def __init__(
        self,
        logdir: str,
        columns: int = 100,
        rows: int = 30,
        *,
        as_job: bool = False,
        program: str = _RUN,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""
        self.answering = False  # whether it tells where its cursor is, when it is asked
        self.owed = 0
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
            shell = ["bash", "-c", _JOB, "bash"] if as_job else []
            command = [*shell, sys.executable, "-c", program, logdir]
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.mode = termios.tcgetattr(self._fd)[3]

    def run(self, seconds: float) -> None:
        """Shows what comes within some seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read()

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not any(text in line for line in self.screen.display):
            assert time.monotonic() < deadline, "\n".join(self.screen.display)
            self._read()

    def wait_for_screen(self, display: list[str]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while self.screen.display != display:
            assert time.monotonic() < deadline, "\n".join(self.screen.display)
            self._read()

    def wait_for_query(self, number: int) -> None:
        """Waits until the program has asked so often where the cursor is."""
        deadline = time.monotonic() + _PATIENCE
        while self.output.count(_QUERY) < number:
            assert time.monotonic() < deadline
            self._read()

    def send(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def finish(self) -> int:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and self._read():
            pass
        return self._exit_code()

    def hang_up(self) -> int:
        """Closes the terminal as a cut SSH connection does; returns what the program made of it."""
        os.close(self._fd)
        return self._exit_code()

    def kill(self, number: signal.Signals) -> None:
        os.kill(self._pid, number)

    def _exit_code(self) -> int:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        raise AssertionError("the program has not ended")

    def _read(self) -> bool:
        while self.answering and self.owed:
            self.send(b"\x1b[1;1R")
            self.owed -= 1
        if select.select([self._fd], [], [], 0.1)[0]:
            try:
                data = os.read(self._fd, 1 << 16)
            except OSError:  # how a pseudo terminal says that the program is gone
                return False
            if not data:
                return False
            self.output += data
            self.owed += data.count(_QUERY)
            self._stream.feed(data.replace(b"\x1b[>", b"\x1b["))  # pyte knows no such sequence
        return True


def test_a_logdir_that_the_app_was_opened_in_is_removed(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    logdir = shutil.copytree(logdirs["mnist"], tmp_path / "logdir")
    terminal = Terminal(str(logdir), program=_RUN_THERE)
    terminal.wait_for("495 alerts")
    shutil.rmtree(logdir)
    terminal.send(b"q")
    assert terminal.finish() == 0


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"LC_ALL": "C"}])
def test_start_keys_and_quit(logdirs: RecordedLogdirs, environment: dict[str, str]) -> None:
    terminal = Terminal(str(logdirs["mnist"]), environment=environment)
    terminal.wait_for("495 alerts")
    terminal.send(b"a")
    terminal.wait_for("141 Log:0")
    terminal.send(b"q")
    assert terminal.finish() == 0
    for ending in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l"):
        assert ending in terminal.output, "the terminal is given back"
    if environment.get("LC_ALL") == "C":
        assert terminal.output.isascii()
    if "NO_COLOR" in environment:
        assert b"\x1b[38;" not in terminal.output
        assert b"\x1b[48;" not in terminal.output


def test_a_defect_is_one_sentence(logdirs: RecordedLogdirs) -> None:
    terminal = Terminal(str(logdirs["mnist"]), program=_DEFECT)
    assert terminal.finish() == exit_codes.UNUSABLE
    assert b"view cannot answer: ZeroDivisionError" in terminal.output
    assert b"Traceback" not in terminal.output


def test_frames_wait_until_the_terminal_has_drawn_the_last(logdirs: RecordedLogdirs) -> None:
    terminal = Terminal(str(logdirs["mnist"]))
    terminal.answering = True
    terminal.wait_for("1 root")
    terminal.send(b"\x1b3")  # Alt and 3
    terminal.run(_SETTLE)
    terminal.answering = False  # as behind a link that is busy
    drawn = terminal.output.count(_QUERY)
    terminal.send(b"g" + 30 * b"j")
    terminal.wait_for_query(drawn + 1)
    terminal.run(_SETTLE)
    assert terminal.output.count(_QUERY) == drawn + 1
    terminal.answering = True
    terminal.wait_for("30 of 0 to 319")
    assert terminal.output.count(_QUERY) <= drawn + 3
    terminal.send(b"jq")
    assert terminal.finish() == 0
    assert terminal.owed == 0, "an answer that comes after the end is typed into a shell"


def test_alt_and_a_digit_do_what_a_user_has_given_them(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    keys = tmp_path / "tfdbg-tui" / "keys.toml"
    keys.parent.mkdir()
    keys.write_text('pane_source_code = "alt+3"\nquit = ["alt+9", "alt+f"]\n')
    terminal = Terminal(str(logdirs["mnist"]), environment={"XDG_CONFIG_HOME": str(tmp_path)})
    terminal.wait_for("1 root")
    terminal.send(b"\x1b3")
    terminal.wait_for("─ 5 Source Code")
    terminal.send(b"\x1b9")
    assert terminal.finish() == 0


@pytest.mark.parametrize("action", [signal.SIG_DFL, signal.SIG_IGN], ids=["", "nohup"])
def test_a_terminal_that_has_gone_ends_it(
    logdirs: RecordedLogdirs, action: signal.Handlers
) -> None:
    before = signal.signal(signal.SIGHUP, action)
    terminal = Terminal(str(logdirs["mnist"]))
    signal.signal(signal.SIGHUP, before)
    terminal.wait_for("495 alerts")
    terminal.run(_SETTLE)
    # Where a frame was being written at that moment, it may be the alarm that ends it.
    assert terminal.hang_up() in (128 + signal.SIGHUP, -signal.SIGALRM)


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell with job control")
def test_it_can_be_stopped_and_brought_back(logdirs: RecordedLogdirs) -> None:
    terminal = Terminal(str(logdirs["mnist"]), as_job=True)
    terminal.answering = True
    terminal.wait_for("495 alerts")
    terminal.wait_for("1 root")
    terminal.send(b"a")
    terminal.wait_for("141 Log:0")
    terminal.run(_SETTLE)
    shown = terminal.screen.display
    terminal.send(b"\x1a")
    terminal.wait_for("has stopped")
    terminal.screen.erase_in_display(2)
    terminal.wait_for_screen(shown)
    terminal.screen.erase_in_display(2)
    terminal.send(b"\x0c")
    terminal.wait_for_screen(shown)
    terminal.send(b"q")
    assert terminal.finish() == 0


def test_without_a_shell_it_is_not_stopped(logdirs: RecordedLogdirs) -> None:
    terminal = Terminal(str(logdirs["mnist"]))
    terminal.wait_for("495 alerts")
    terminal.send(b"\x1a")
    terminal.wait_for("no shell with job control")
    terminal.send(b"q")
    assert terminal.finish() == 0


def test_sigterm_gives_the_terminal_back(logdirs: RecordedLogdirs) -> None:
    terminal = Terminal(str(logdirs["mnist"]))
    terminal.wait_for("495 alerts")
    terminal.kill(signal.SIGTERM)
    assert terminal.finish() == 128 + signal.SIGTERM
    assert b"\x1b[?1049l" in terminal.output


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}])
def test_without_a_terminal_it_says_what_to_run_instead(
    logdirs: RecordedLogdirs, environment: dict[str, str]
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", _RUN, str(logdirs["mnist"])],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "tfdbg-tui diagnose" in result.stderr
    assert "TERM" in result.stderr


def test_what_cannot_become_a_logdir_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfdbg_tui.tui._usable_terminal", lambda: True)
    with pytest.raises(LogdirError, match="no such directory"):
        run_app(str(tmp_path / "missing"))
