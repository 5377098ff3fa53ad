"""Which colours a terminal gets."""

from __future__ import annotations

import pytest
from textual.theme import BUILTIN_THEMES

from tfdbg_tui.tui.terminal.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    OF_LIGHT_TERMINAL,
    WITHOUT_COLOR,
    theme_for,
    variables_for,
)


@pytest.mark.parametrize(
    ("environment", "theme"),
    [
        ({}, DARK.name),
        ({"COLORFGBG": "0;15"}, LIGHT.name),
        ({"COLORFGBG": "0;default;7"}, LIGHT.name),
        ({"COLORFGBG": "15;0"}, DARK.name),
        ({"COLORFGBG": "7;8"}, DARK.name),
        ({"COLORFGBG": "0;default"}, DARK.name),
        ({"COLORFGBG": "0;15", "NO_COLOR": "1"}, WITHOUT_COLOR),
        ({"TERM": "linux"}, WITHOUT_COLOR),
        ({"TERM": "xterm", "COLORFGBG": "0;15"}, OF_LIGHT_TERMINAL),
        ({"TERM": "linux", "COLORTERM": "truecolor"}, DARK.name),
        ({"TERM": "xterm-256color"}, DARK.name),
    ],
)
def test_the_theme_follows_what_a_terminal_tells(environment: dict[str, str], theme: str) -> None:
    assert theme_for(environment, None) == theme
    chosen = theme if "NO_COLOR" in environment else CONTRAST.name
    assert theme_for(environment, CONTRAST.name) == chosen


def test_no_text_is_pale_on_a_light_terminal() -> None:
    variables = variables_for(BUILTIN_THEMES[OF_LIGHT_TERMINAL])
    on_its_own = {"bad-text", "focus"}  # on a background of theirs
    texts = {name for name in variables if not name.endswith("-back")} - on_its_own
    pale = {"ansi_green", "ansi_cyan", "ansi_yellow", "ansi_white"}
    pale |= {f"ansi_bright_{name}" for name in ("red", "green", "yellow", "blue", "cyan", "white")}
    pale.add("ansi_bright_magenta")
    assert not {name for name in texts if variables[name] in pale}
