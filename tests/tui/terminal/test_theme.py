"""Which colours a terminal gets."""

from __future__ import annotations

import pytest

from tfdbg_tui.tui.terminal.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    OF_LIGHT_TERMINAL,
    WITHOUT_COLOR,
    theme_for,
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
