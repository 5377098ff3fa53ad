"""Text to print: strings of a logdir, made safe, and numbers.

A logdir is untrusted input: a name in it may hold escape sequences that a terminal would obey.
"""

from __future__ import annotations

_LONGEST_LINE = 2000  # characters; nobody reads more
_TAB = 4  # cells


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


def counted(number: int, noun: str) -> str:
    """Return a number with what it counts: "1 tensor", "1,200 tensors"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def with_blanks(line: str) -> str:
    """Return a line of source with blanks for its tabs, which `printable` would spell out."""
    return line.expandtabs(_TAB)


def shortened(line: str) -> str:
    """Return a line of source, without the end of one that is longer than anybody reads."""
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"
