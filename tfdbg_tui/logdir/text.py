"""Strings of a logdir, made safe to print.

A logdir is untrusted input: a name in it may hold escape sequences that a terminal would obey.
"""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return `text` with every character that could steer a terminal spelt out, as ``\x1b``.

    Those are control and format characters, which include bidirectional overrides and what has no
    width, separators of lines, surrogates, and what no standard says how to draw.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
