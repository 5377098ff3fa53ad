"""Strings of a logdir, made safe to print.

A logdir is untrusted input: a name in it may hold escape sequences that a terminal would obey.
"""

from __future__ import annotations

import unicodedata

# Control, format (which includes bidirectional overrides), surrogate, and line separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    r"""Return `text` with every character that could steer a terminal spelt out, as ``\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _UNSAFE else char
        for char in text
    )
