"""Which colours a terminal gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.color import ColorSystem
from textual.theme import BUILTIN_THEMES

from tfdbg_tui.tui.terminal.theme import (
    CONTRAST,
    DARK,
    LIGHT,
    OF_LIGHT_TERMINAL,
    WITHOUT_COLOR,
    cell_style,
    theme_for,
    variables_for,
)

if TYPE_CHECKING:
    from textual.theme import Theme


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


def luminance(theme: Theme, style: str, *, behind: bool = False) -> float:
    """Returns how bright a style is in 256 colours, as WCAG defines it."""
    found = cell_style(style, theme.variables)
    colour = found.bgcolor if behind else found.color
    assert colour is not None
    parts = colour.downgrade(ColorSystem.EIGHT_BIT).get_truecolor().normalized
    linear = [part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * of for part, of in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize("theme", [DARK, LIGHT, CONTRAST], ids=lambda theme: theme.name)
@pytest.mark.parametrize("style", ["dim", "call", "number", "good", "match", "bad"])
def test_marked_rows_are_legible_in_256_colours(theme: Theme, style: str) -> None:
    pair = luminance(theme, style), luminance(theme, "mark", behind=True)
    assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 3
