"""The app's colours: dark, light, high contrast, and whatever the terminal itself has.

The vocabulary is Debugger V2's: pink-red for NaN and ∞, yellow for the inputs of the focused
tensor, orange for what is focused.  None of it is told by colour alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

_DARK = {
    "faint": "#5f6673",
    "dim": "#8b93a3",
    "strong": "#ffffff",
    "rule": "#343a46",
    "rule-active": "#ff9f43",
    "bad": "#ff5c9d",
    "bad-text": "#ffffff",
    "bad-back": "#c2185b",
    "input": "#fff099",
    "input-back": "#4d4512",
    "focus": "#ffd4a8",
    "focus-back": "#7a4210",
    "mark-back": "#2f343e",
    "call": "#8ab4ff",
    "call-back": "#25365c",
    "box-back": "#2a2f39",
    "good": "#74c69d",
    "live": "#5fd38d",
    "match": "#ffd166",
    "found": "#14171c",
    "found-back": "#ffd166",
    "keyword": "#ff8fb1",
    "string": "#a5d6a7",
    "comment": "#6f7a8a",
    "number": "#8fd3ff",
    "name": "#9ecbff",
    "builtin": "#c9b6ff",
}

_LIGHT = {
    "faint": "#a3a9b5",
    "dim": "#636b79",
    "strong": "#000000",
    "rule": "#cfd4dc",
    "rule-active": "#e06c00",
    "bad": "#c2185b",
    "bad-text": "#ffffff",
    "bad-back": "#d81b60",
    "input": "#4d3f00",
    "input-back": "#fff099",
    "focus": "#3d1f00",
    "focus-back": "#ffc48a",
    "mark-back": "#e3e7ee",
    "call": "#1a56c4",
    "call-back": "#c7dbf5",
    "box-back": "#e3e5e8",
    "good": "#1b7f4b",
    "live": "#1b7f4b",
    "match": "#b25e00",
    "found": "#000000",
    "found-back": "#ffd166",
    "keyword": "#b3175a",
    "string": "#2e7d32",
    "comment": "#7b8494",
    "number": "#0b6fa4",
    "name": "#1a56c4",
    "builtin": "#6a3fc4",
}

# Colours that stay apart in every common form of colour blindness (Okabe and Ito), on black.
_CONTRAST = {
    "faint": "#9a9a9a",
    "dim": "#c8c8c8",
    "strong": "#ffffff",
    "rule": "#7a7a7a",
    "rule-active": "#ffffff",
    "bad": "#ff8c42",
    "bad-text": "#000000",
    "bad-back": "#ff8c42",
    "input": "#000000",
    "input-back": "#56b4e9",
    "focus": "#000000",
    "focus-back": "#f0e442",
    "mark-back": "#404040",
    "call": "#56b4e9",
    "call-back": "#003a5c",
    "box-back": "#303030",
    "good": "#ffffff",
    "live": "#ffffff",
    "match": "#f0e442",
    "found": "#000000",
    "found-back": "#ffffff",
    "keyword": "#56b4e9",
    "string": "#ffffff",
    "comment": "#b0b0b0",
    "number": "#f0e442",
    "name": "#ffffff",
    "builtin": "#56b4e9",
}

# The sixteen colours every terminal has, as its user has chosen them; with NO_COLOR, none.
_TERMINAL = {
    "faint": "ansi_bright_black",
    "dim": "ansi_default",
    "strong": "ansi_default",
    "rule": "ansi_bright_black",
    "rule-active": "ansi_yellow",
    "bad": "ansi_bright_magenta",
    "bad-text": "ansi_bright_white",
    "bad-back": "ansi_magenta",
    "input": "ansi_bright_yellow",
    "input-back": "ansi_default",
    "focus": "ansi_black",
    "focus-back": "ansi_yellow",
    "mark-back": "ansi_bright_black",
    "call": "ansi_bright_blue",
    "call-back": "ansi_default",
    "box-back": "ansi_default",
    "good": "ansi_green",
    "live": "ansi_green",
    "match": "ansi_bright_yellow",
    "found": "ansi_black",
    "found-back": "ansi_cyan",
    "keyword": "ansi_magenta",
    "string": "ansi_green",
    "comment": "ansi_bright_black",
    "number": "ansi_cyan",
    "name": "ansi_bright_blue",
    "builtin": "ansi_cyan",
}

# On light backgrounds the bright colours, green, cyan and yellow cannot be read.
_LIGHT_TERMINAL = {
    **_TERMINAL,
    "bad": "ansi_magenta",
    "input": "ansi_default",
    "call": "ansi_blue",
    "match": "ansi_blue",
    "rule-active": "ansi_blue",
    "focus": "ansi_bright_white",
    "focus-back": "ansi_blue",
    "mark-back": "ansi_white",
    "found-back": "ansi_yellow",
    "good": "ansi_blue",
    "live": "ansi_blue",
    "string": "ansi_blue",
    "number": "ansi_blue",
    "name": "ansi_blue",
    "builtin": "ansi_magenta",
}

DARK = Theme(
    name="tfdbg-dark",
    primary="#ff9f43",
    secondary="#8ab4ff",
    accent="#ff9f43",
    warning="#ffd166",
    error="#ff5c9d",
    success="#74c69d",
    foreground="#d7dce5",
    background="#14171c",
    surface="#181c22",
    panel="#20252d",
    variables=_DARK,
)
LIGHT = Theme(
    name="tfdbg-light",
    primary="#e06c00",
    secondary="#1a56c4",
    accent="#e06c00",
    warning="#b25e00",
    error="#c2185b",
    success="#1b7f4b",
    foreground="#20242c",
    background="#f4f5f8",
    surface="#ffffff",
    panel="#e9ecf1",
    dark=False,
    variables=_LIGHT,
)
CONTRAST = Theme(
    name="tfdbg-contrast",
    primary="#f0e442",
    secondary="#56b4e9",
    accent="#f0e442",
    warning="#f0e442",
    error="#ff8c42",
    success="#56b4e9",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    variables=_CONTRAST,
)
THEMES = (DARK, LIGHT, CONTRAST)

WITHOUT_COLOR = "ansi-dark"
"""Textual's theme that leaves all colours to the terminal."""
OF_LIGHT_TERMINAL = "ansi-light"
"""The same for a light background."""


def theme_for(environment: Mapping[str, str], chosen: str | None) -> str:
    """Return the name of the theme to start with.

    Some terminals (Konsole, iTerm2, rxvt) name their colours in COLORFGBG, the background last: 7,
    and those above 8, are light ones.  Where there are 16 colours, the terminal's own are used:
    of ours, several would become the same.

    Args:
        environment: What the terminal tells.
        chosen: The theme that the user has chosen; None for none.
    """
    if environment.get("NO_COLOR"):
        return WITHOUT_COLOR
    if chosen is not None:
        return chosen
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    is_light = background.isdecimal() and (background == "7" or int(background) > 8)
    if _has_few_colours(environment):
        return OF_LIGHT_TERMINAL if is_light else WITHOUT_COLOR
    return LIGHT.name if is_light else DARK.name


def _has_few_colours(environment: Mapping[str, str]) -> bool:
    """Whether the terminal has 16 colours, by what Rich goes by."""
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    term = environment.get("TERM", "").strip().lower()
    return bool(term) and term.rpartition("-")[2] not in ("256color", "kitty")


def known_themes() -> list[str]:
    """Return the names of all themes, ours first."""
    return [*(theme.name for theme in THEMES), *BUILTIN_THEMES]


def variables_for(theme: Theme) -> dict[str, str]:
    """Return our variables for a theme that is not one of ours."""
    if theme.ansi:
        return _TERMINAL if theme.dark else _LIGHT_TERMINAL
    return _DARK if theme.dark else _LIGHT


# What the styles of cells look like: colour, background, and attributes of the text.
_CELLS: dict[str, tuple[str | None, str | None, str]] = {
    "faint": ("faint", None, ""),
    "dim": ("dim", None, ""),
    "strong": ("strong", None, "bold"),
    "bold": (None, None, "bold"),
    "underline": (None, None, "underline"),
    "bad": ("bad", None, "bold"),
    "bad-mark": ("bad-back", None, "bold"),
    "chip": ("foreground", "box-back", ""),
    "chip-bad": ("bad-text", "bad-back", "bold"),
    "good": ("good", None, ""),
    "input": ("input", "input-back", ""),
    "focus": ("focus", "focus-back", "bold"),
    "mark": (None, "mark-back", ""),
    "match": ("match", None, ""),
    "found": ("found", "found-back", "bold"),
    "call": ("call", None, ""),
    "call-box": ("call", "call-back", ""),
    "box": ("foreground", "box-back", ""),
    "key": ("rule-active", None, "bold"),
    "live": ("live", None, "bold"),
    "keyword": ("keyword", None, ""),
    "string": ("string", None, ""),
    "comment": ("comment", None, "italic"),
    "number": ("number", None, ""),
    "name": ("name", None, ""),
    "builtin": ("builtin", None, ""),
}


# What takes the place of backgrounds where there are no colours.
_COLOURLESS = {
    "focus": "reverse",
    "chip-bad": "reverse",
    "input": "underline",
    "bad": "underline",
    "found": "bold underline",
}


def cell_style(names: str, variables: Mapping[str, str], *, colourless: bool = False) -> Style:
    """Return what some styles of cells, separated by spaces, together look like in a theme.

    Args:
        names: Names in `_CELLS`; of two that say different things, the later counts.
        variables: The theme's colours by name.
        colourless: Whether colours are not shown at all (``NO_COLOR``).
    """
    style = Style()
    for name in names.split():
        colour, background, attributes = _CELLS[name]
        style += Style(
            color=Color.parse(variables[colour]).rich_color if colour else None,
            bgcolor=Color.parse(variables[background]).rich_color if background else None,
        ) + Style.parse(attributes)
        if colourless and name in _COLOURLESS:
            style += Style.parse(_COLOURLESS[name])
    return style
