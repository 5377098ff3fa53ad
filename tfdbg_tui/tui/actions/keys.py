"""Names of keys: as Textual has them, as users know them, as users write them in their keymap."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from textual.keys import KEY_NAME_REPLACEMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.events import Key

_KEY_NAMES = {
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "right_parenthesis": ")",
    "left_parenthesis": "(",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "slash": "/",
    "apostrophe": "'",
    "backslash": "\\",
    "colon": ":",
    "question_mark": "?",
    "ampersand": "&",
    "exclamation_mark": "!",
    "percent_sign": "%",
    "minus": "-",
    "plus": "+",
    "underscore": "_",
    "equals_sign": "=",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "escape": "Esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
}

_READ_AS = {
    "alt+1": "inverted_exclamation_mark",
    "alt+2": "trade_mark_sign",
    "alt+3": "pound_sign",
    "alt+4": "cent_sign",
    "alt+5": "infinity",
    "alt+6": "section_sign",
    "alt+7": "pilcrow_sign",
    "alt+8": "bullet",
    "alt+9": "ª",
    "alt+0": "º",
    "alt+minus": "en_dash",
    "alt+equals_sign": "not_equal_to",
    "alt+f": "ctrl+right",
    "alt+b": "ctrl+left",
}
"""What Textual takes Escape and a key for, which is how terminals send Alt and that key: digits
for what Option types on a Mac, and letters for the motions of a shell's line."""


def bound_keys(keys: Sequence[str]) -> list[str]:
    """Return keys as Textual reads them from a terminal, besides as it names them."""
    return [*keys, *(_READ_AS[key] for key in keys if key in _READ_AS)]


def shown_key(key: str) -> str:
    """Return a key as users know it: ``]``, ``PgDn``, ``Ctrl+D``."""
    if key in _KEY_NAMES:
        return _KEY_NAMES[key]
    if len(key) == 1:
        return key
    return "+".join(_KEY_NAMES.get(part, part.capitalize()) for part in key.split("+"))


def pressed_key(event: Key) -> str:
    """Return the key that was pressed as users know it."""
    typed = event.character if event.is_printable else None
    return typed or shown_key(event.key)


def textual_key(key: str) -> str:
    """Return a key as Textual names it; characters may stand for themselves."""
    if len(key) != 1 or key.isalnum():
        return key
    name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)
