"""Which line of a source file a line of AutoGraph's code was made of, by their texts.

The generated file has one function, ``tf__NAME``, made of a function called NAME with all that is
defined in it.  The one whose words are most like its words is the original; in that, the line.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Lines = tuple[str, ...]

_CONVERTED = re.compile(r"\s*def tf__(\w+)\(")
_DEFINITION = re.compile(r"\s*(?:async\s+)?def\s+(\w+)\s*\(")
_ADDED = re.compile(r"\bag__\.\w+|\b(?:if|else|loop|get|set)_(?:body|state)(?:_\d+)?\b|\bfscope\w*")
_WORDS = re.compile(r"[A-Za-z_]\w*|\d[\w.]*")
_LEAST = 0.5  # of the words of a line have to be the same


class Origin(NamedTuple):
    """A line that another one was made of.

    Attributes:
        line: Its number, from 1.
        function: Name of the function that it is in.
        likeness: How much of the two functions is the same, from 0 to 1.
    """

    line: int
    function: str
    likeness: float


def origin_of(generated: Lines, line: int, lines: Lines) -> Origin | None:
    """Return what a line of generated code was made of; None where that is not in a file.

    Args:
        generated: The lines of the generated file.
        line: Number of one of them, from 1.
        lines: Those of the user's file.
    """
    original = _original(generated, lines)
    if original is None or not 0 < line <= len(generated):
        return None
    numbers, likeness = original
    words = _words(generated[line - 1])
    scores = {number: _likeness(words, _words(lines[number - 1])) for number in numbers}
    most = max(scores.values())
    if most < _LEAST:
        return None
    alike = [number for number in numbers if scores[number] == most]
    before = sum(_words(text) == words for text in generated[: line - 1])
    number = alike[min(before, len(alike) - 1)]
    return Origin(number, _function_at(lines, number), likeness)


@lru_cache(maxsize=64)
def _original(generated: Lines, lines: Lines) -> tuple[range, float] | None:
    """Return where in a file the function is that was converted, and how much they are alike."""
    names = (match[1] for text in generated if (match := _CONVERTED.match(text)))
    name = next(names, None)
    words = [word for text in generated for word in _words(text)]
    found = [
        (_likeness(words, [word for n in numbers for word in _words(lines[n - 1])]), numbers)
        for numbers in _functions(lines, name)
    ]
    likeness, numbers = max(found, key=lambda one: one[0], default=(0.0, range(0)))
    return (numbers, likeness) if numbers else None


def _functions(lines: Lines, name: str | None) -> Iterator[range]:
    """Yield the numbers of the lines of each function of a name."""
    for number, text in enumerate(lines, 1):
        match = _DEFINITION.match(text)
        if match is not None and match[1] == name:
            end = number + 1
            while end <= len(lines) and _is_within(lines[end - 1], text):
                end += 1
            yield range(number, end)


def _is_within(text: str, definition: str) -> bool:
    """Whether a line that follows a definition is of its body, by its indentation."""
    return not text.strip() or text.lstrip()[0] in "#)" or _depth(text) > _depth(definition)


def _function_at(lines: Lines, number: int) -> str:
    """Return the name of the innermost function that a line is in."""
    depth = _depth(lines[number - 1])
    for text in reversed(lines[:number]):
        match = _DEFINITION.match(text)
        if match is not None and (_depth(text) < depth or text is lines[number - 1]):
            return match[1]
    return ""


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _words(text: str) -> list[str]:
    """Return the names and numbers in a line, without those that AutoGraph adds."""
    return _WORDS.findall(_ADDED.sub("", text.partition("#")[0]))


def _likeness(words: Sequence[str], others: Sequence[str]) -> float:
    return SequenceMatcher(None, words, others, autojunk=False).ratio()
