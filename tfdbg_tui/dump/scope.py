"""To which ops recording is limited: those of some layers, functions or source lines."""

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LINES = re.compile(r"(?P<file>[^,:]+)(?::(?P<first>\d{1,9})(?:\.\.(?P<last>\d{1,9}))?)?")


@dataclass(frozen=True, slots=True)
class Scope:
    """Which ops are recorded; an op has to be within all limits, and "" is none.

    A limit is a text with alternatives, separated by commas, and ``*`` for anything.

    Attributes:
        layers: Names of layers, or parts of their paths: ops in the calls of these.
        functions: Names of Python functions: ops that run while one of these does.
        lines: Source files or lines of them, as "train.py:40..60": ops that run while one does.
    """

    layers: str = ""
    functions: str = ""
    lines: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            ValueError: A limit says nothing, or `lines` is not of the form that it has to be.
        """
        for name in self.__slots__:
            limit = getattr(self, name)
            if limit and not all(part.strip() for part in limit.split(",")):
                raise ValueError(f"{name} is one or more names, as 'a,b*', but received {limit!r}")
        for part in _parts(self.lines):
            _places(part)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return bool(self.layers or self.functions or self.lines)

    def has_stack(self, frames: Iterable[tuple[str, int, str]]) -> bool:
        """Return whether an op with a stack of (file, line, function) is within two of the limits.

        Those are the functions and the lines.
        """
        if not self.functions and not self.lines:
            return True
        stack = list(frames)
        in_function = any(_fits(self.functions, function) for _, _, function in stack)
        on_line = any(_is_on_line(self.lines, path, line) for path, line, _ in stack)
        return (in_function or not self.functions) and (on_line or not self.lines)

    def has_layer(self, path: Sequence[str]) -> bool:
        """Return whether an op is within the layers.

        Args:
            path: Names of the layers in whose calls it ran, outermost first.
        """
        ends = range(len(path), 0, -1)
        parts = ("/".join(path[start:end]) for end in ends for start in range(end))
        return not self.layers or any(_fits(self.layers, part) for part in parts)


def _parts(limit: str) -> Sequence[str]:
    return [part.strip() for part in limit.split(",")] if limit else ()


def _fits(limit: str, name: str) -> bool:
    parts = (part.replace("[", "[[]") for part in _parts(limit))  # a layer may be blocks[0]
    return any(fnmatch.fnmatchcase(name, part) for part in parts)


def _is_on_line(limit: str, path: str, line: int) -> bool:
    return any(_has_line(_places(part), path, line) for part in _parts(limit))


def _has_line(places: tuple[str, range | None], path: str, line: int) -> bool:
    file, lines = places
    names = path, *_ends(path)
    return (lines is None or line in lines) and any(fnmatch.fnmatchcase(n, file) for n in names)


@lru_cache(maxsize=4096)
def _ends(path: str) -> tuple[str, ...]:
    """Return how a file may be called: by its name, and the directories that it is in."""
    parts = path.split(os.sep)
    return tuple(os.sep.join(parts[start:]) for start in range(1, len(parts)))


@lru_cache(maxsize=64)
def _places(part: str) -> tuple[str, range | None]:
    """Return the file and the lines that a part of a limit names; None for all lines.

    Raises:
        ValueError: It names none.
    """
    match = _LINES.fullmatch(part)
    first = int(match["first"] or 0) if match else 0
    last = int(match["last"] or first) if match else 0
    if match is None or last < first:
        raise ValueError(f"lines is files with lines, as 'train.py:40..60', but received {part!r}")
    return match["file"], range(first, last + 1) if match["first"] else None
