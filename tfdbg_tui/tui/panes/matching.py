"""Searching lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def matches(text: str, name: str) -> bool:
    """Whether a search for `text` finds `name`; capital letters count only if `text` has any."""
    return text in (name if text != text.lower() else name.lower())


def rows_from(start: int, step: int, count: int) -> range:
    """Return the rows of a list of `count` from `start` on, going by `step` ±1."""
    return range(start, count, 1) if step > 0 else range(min(start, count - 1), -1, -1)


def first_match(rows: Sequence[int], text: str, name: Callable[[int], str]) -> int | None:
    """Return the first of some rows whose name matches."""
    return next((row for row in rows if matches(text, name(row))), None)
