"""The user's own keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui import run_app
from tfdbg_tui.tui.actions.keymap import KeymapError, read_keymap
from tfdbg_tui.tui.actions.registry import BY_ID
from tfdbg_tui.user_files import config_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


@pytest.fixture
def keys_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "tfdbg-tui" / "keys.toml"
    path.parent.mkdir()
    assert config_path("keys.toml") == str(path)
    return path


def test_without_a_file_all_keys_are_the_actions_own(keys_file: Path) -> None:
    keymap = read_keymap(str(keys_file))
    assert all(keymap.keys(action) == action.keys for action in BY_ID.values())


def test_a_key_goes_to_the_users_action_and_leaves_the_other(keys_file: Path) -> None:
    keys_file.write_text('next_alert = ["n", "-"]\nfirst_alert = "f3"\n')
    keymap = read_keymap(str(keys_file))
    assert keymap.keys(BY_ID["next_alert"]) == ("n", "minus")
    assert keymap.keys(BY_ID["first_alert"]) == ("f3",)
    assert keymap.keys(BY_ID["search_next"]) == ()
    assert keymap.keys(BY_ID["back"]) == ("backspace", "alt+left", "ctrl+o")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("next_alert = ", "cannot be read as TOML"),
        ('next_allert = "n"', "did you mean next_alert"),
        ('zzz = "n"', "there are pane_alerts"),
        ("next_alert = 3", 'needs a key such as "n"'),
        ('next_alert = "n"\nback = "n"', "'n' is given to next_alert and back"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    keys_file: Path,
    text: str,
    message: str,
    logdirs: RecordedLogdirs,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys_file.write_text(text)
    with pytest.raises(KeymapError, match=message):
        read_keymap(str(keys_file))
    monkeypatch.setattr("tfdbg_tui.tui._usable_terminal", lambda: True)
    assert run_app(str(logdirs["mnist"])) == 2
    assert capsys.readouterr().err.count("\n") == 1


async def test_the_app_obeys_and_names_the_users_keys(
    open_app: Open, logdirs: RecordedLogdirs, keys_file: Path
) -> None:
    keys_file.write_text('next_alert = "n"\nfirst_alert = ["ctrl+a", "A"]\n')
    async with open_app(logdirs["mnist"], keymap=read_keymap(str(keys_file))) as opened:
        await opened.press("3", "A")
        assert opened.focus.graph_execution == 141
        await opened.press("n")
        assert opened.focus.graph_execution == 142
        assert "Ctrl+A first root" in opened.screen()
        assert "n next alert" in opened.screen()
        await opened.press("a", "right_square_bracket")
        assert opened.focus.graph_execution == 142, "the keys that these actions had"
        await opened.press("question_mark")
        assert "Ctrl+A A" in opened.screen()
