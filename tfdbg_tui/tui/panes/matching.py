"""Searching lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WINDOW = 1 << 16  # rows looked at together


def matches(text: str, name: str) -> bool:
    """Whether a search for `text` finds `name`; capital letters count only if `text` has any."""
    return text in (name if text != text.lower() else name.lower())


def rows_from(start: int, step: int, count: int) -> range:
    """Return the rows of a list of `count` from `start` on, going by `step` ±1."""
    return range(start, count, 1) if step > 0 else range(min(start, count - 1), -1, -1)


def first_match(rows: Sequence[int], text: str, name: Callable[[int], str]) -> int | None:
    """Return the first of some rows whose name matches."""
    return next((row for row in rows if matches(text, name(row))), None)


class _Numbers(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice, /) -> object: ...


def find_number(column: _Numbers, wanted: Sequence[bool], start: int, step: int) -> int | None:
    """Return the first row of a column of numbers whose number is wanted.

    Args:
        column: The numbers.
        wanted: For each number, whether it is wanted.
        start: The row to begin with.
        step: 1 to go on downwards, -1 upwards.
    """
    import numpy as np

    if not any(wanted):
        return None
    table = np.array(wanted)
    while 0 <= start < len(column):
        end = start + step * _WINDOW
        low, high = (start, end) if step > 0 else (max(0, end + 1), start + 1)
        found = np.flatnonzero(table[np.asarray(column[low:high])])
        if found.size:
            return low + int(found[0] if step > 0 else found[-1])
        start = end
    return None
