"""Colours of a report on a terminal; the text stays the same, and goes into pipes without them.

Only the sixteen colours that users choose themselves, so that they suit dark and light terminals.
"""

from __future__ import annotations

import os
import re
import sys

_BOLD, _DIM, _RED, _GREEN, _MAGENTA = "1", "2", "31", "32", "1;35"
_VERDICTS = {"bad": _MAGENTA, "suspect": _BOLD, "incomplete": _BOLD, "clean": "1;32"}
_VERDICT = re.compile(rf"((?: +\d+  )?)({'|'.join(_VERDICTS)})((?: +|:) .*)")
_TITLE = re.compile(r"(?:\d+\.|\d+ of \d+:|-) ")
_LABELLED = re.compile(r"(  [a-z ]{10} )(.*)")
_CHANGES = {"- ": _RED, "+ ": _GREEN}  # what a fix takes out, and puts in


def wanted() -> bool:
    """Whether standard output is a terminal whose user wants colours."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return bool(sys.stdout and sys.stdout.isatty()) and not plain  # It may be closed.


def coloured(report: str) -> str:
    """Return a report with the codes of colours in it."""
    return "\n".join(map(_line, report.split("\n")))


def _line(line: str) -> str:
    verdict = _VERDICT.fullmatch(line)
    if verdict is not None:
        before, word, after = verdict.groups()
        return before + _set(word, _VERDICTS[word]) + after
    if _TITLE.match(line):
        return _set(line, _BOLD)
    labelled = _LABELLED.fullmatch(line)
    if labelled is None:
        return line
    label, text = labelled.groups()
    return (_set(label, _DIM) if label.strip() else label) + _change(text)


def _change(text: str) -> str:
    code = _CHANGES.get(text[:2])
    return _set(text, code) if code else text


def _set(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
