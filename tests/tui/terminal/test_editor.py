"""Whatever a logdir names, an editor is given the absolute path of a regular file, or nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.screens.opening import OpeningScreen
from tfdbg_tui.tui.session.focus import SourcePlace
from tfdbg_tui.tui.terminal import editor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open

OPTIONS = ("+!touch pwned", "-c!touch pwned", '+call system("touch pwned")', "--eval=(x)", "--")
ADDRESSES = ("host:file.py", "scp:x", "~", "$HOME", "-")


@pytest.mark.parametrize("name", [*OPTIONS, *ADDRESSES])
def test_a_name_that_means_something_becomes_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    file = editor.existing_file(name)
    assert file == str(tmp_path / name)
    assert editor.command({"EDITOR": "vim -u x"}, file, 3) == ["vim", "-u", "x", "+3", file]


@pytest.mark.parametrize(
    "path", ["missing", "http://host/x.py", "//host/x", "scp://h//x", "", "\0"]
)
def test_what_is_no_file_here_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(editor.EditorError, match=f"no such file on this machine: {path}"):
        editor.existing_file(path)


def test_only_regular_files_with_plain_names_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "loop", "/dev/null"):
        with pytest.raises(editor.EditorError, match="no such file"):
            editor.existing_file(str(path))
    for name in ("a\nb.py", "a\x1b]0;b.py", "a\u202eb.py"):
        (tmp_path / name).touch()
        with pytest.raises(editor.EditorError, match="not safe"):
            editor.existing_file(str(tmp_path / name))


def test_a_link_is_known_by_what_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    for directory in (work, work / "logdir", other):
        directory.mkdir()
        (directory / "x.py").touch()
    monkeypatch.chdir(work)
    (work / "link.py").symlink_to(other / "x.py")
    asked = {
        name: not editor.is_users(editor.existing_file(name), [str(work / "logdir")])
        for name in ("x.py", "link.py", "logdir/x.py", "../other/x.py")
    }
    assert asked == {"x.py": False, "link.py": True, "logdir/x.py": True, "../other/x.py": True}
    shutil.rmtree(work)
    assert not editor.is_users(str(other / "x.py"), ["logdir"])


@pytest.mark.parametrize(
    ("named", "arguments"),
    [
        ("", ["vi", "+1", "/x.py"]),
        ("nano", ["nano", "+1", "/x.py"]),
        ("/usr/bin/code --wait", ["/usr/bin/code", "--wait", "--goto", "/x.py:1"]),
        ("hx", ["hx", "/x.py:1"]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way(named: str, arguments: list[str]) -> None:
    assert editor.command({"EDITOR": named}, "/x.py", -5) == arguments


@pytest.mark.parametrize(
    ("named", "clue"),
    [(" ", "set EDITOR"), ("''", "set EDITOR"), ("'", "quot")],
)
def test_an_editor_that_cannot_be_run_is_told(named: str, clue: str) -> None:
    with pytest.raises(editor.EditorError, match=clue):
        editor.command({"EDITOR": named}, "/x.py", 1)


async def test_a_file_elsewhere_is_shown_before_it_is_opened(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.touch()
    monkeypatch.setenv("VISUAL", "vi")
    run: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, **_: run.append(command))
    async with open_app(logdirs["session"]) as opened:
        monkeypatch.setattr(opened.app, "suspend", contextlib.nullcontext)
        opened.app.session.focus = replace(
            opened.focus, place=SourcePlace("host", str(elsewhere), 7)
        )
        await opened.press("e")
        assert isinstance(opened.app.screen, OpeningScreen)
        assert str(elsewhere) in re.sub(r"[\s│]", "", opened.screen())  # may take two lines
        await opened.press("enter")  # the safe answer comes first
        assert run == []
        await opened.press("e", "o")
        assert run == [["vi", "+7", str(elsewhere)]]


async def test_the_app_goes_on_where_the_editor_cannot_be_started(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.py"
    file.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    resumed: list[bool] = []

    @contextlib.contextmanager
    def suspend() -> Iterator[None]:
        yield
        resumed.append(True)  # what Textual does only where nothing is raised

    async with open_app(logdirs["session"]) as opened:
        monkeypatch.setattr(opened.app, "suspend", suspend)
        opened.app.session.focus = replace(opened.focus, place=SourcePlace("host", str(file), 7))
        await opened.press("e")
        assert resumed
        assert "no-such-editor: cannot be started: No such file or directory" in opened.screen()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_keys_that_interrupt_an_editor_end_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def ended(*_: object) -> None:
        raise AssertionError("the app would have ended")

    monkeypatch.chdir(tmp_path)
    before = signal.signal(number, ended)
    try:
        script = f"kill -{number} $PPID; kill -{number} $$; touch survived"
        assert editor.run(["sh", "-c", script]) == ""
        assert signal.getsignal(number) is ended
    finally:
        signal.signal(number, before)
    assert not (tmp_path / "survived").exists()


async def test_a_question_may_be_asked_in_a_terminal_of_any_width(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.touch()
    monkeypatch.setenv("VISUAL", "vi")
    async with open_app(logdirs["session"]) as opened:
        opened.app.session.focus = replace(
            opened.focus, place=SourcePlace("host", str(elsewhere), 7)
        )
        await opened.press("e")
        for width in range(9, 0, -1):
            await opened.pilot.resize_terminal(width, 10)
            await opened.pilot.pause()
