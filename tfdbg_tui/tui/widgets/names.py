"""A name in a table and the columns behind it: the last two parts of the name come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from tfdbg_tui.tui.terminal.text import last_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.tui.terminal.text import Charset

_LINES = 8  # of a name whose last two parts are wider than a line
_LEAST = 6  # cells that a column keeps if it gives some to a name; else it gives all


class Column(NamedTuple):
    """A column behind a name, in one row.

    Attributes:
        text: What stands there.
        width: Its cells, the space in front of it included.
        flush_right: Whether it is a number, of which a part would be another number.
        stays: Whether it gives away only cells that are blank, and those behind it none.
        is_path: Whether its end tells most, as that of a layer or of a file and its line.
    """

    text: str
    width: int
    flush_right: bool = False
    stays: bool = False
    is_path: bool = False


def least_width(name: str) -> int:
    """Return the cells in which the last two parts of a name are whole."""
    return min(cell_len(name), cell_len("…/" + last_parts(name)))


def least_of(names: Iterable[str]) -> int:
    """Return the cells in which the last two parts of each of some names are whole."""
    return max(map(least_width, names), default=0)


class Named(NamedTuple):
    """A name, and the columns behind it, as a row shows them.

    Attributes:
        name: The name, in its cells.
        texts: What stands in each column, in the cells that it keeps.
        above: Lines before that with the beginning of the name's last two parts, where those have
            no room in one.
    """

    name: str
    texts: list[str]
    above: list[str]


def with_columns(name: str, width: int, columns: Sequence[Column], charset: Charset) -> Named:
    """Return a safe name and the columns behind it, in the cells of all of them.

    Where the last two parts of the name are wider than its column they take cells of the columns
    behind it, the nearest first, which then show less, or nothing. A column whose text has no room
    takes the cells right behind it that are blank in this row.

    Args:
        name: The name.
        width: Cells of its own column.
        columns: The columns behind it.
        charset: The characters to draw with.
    """
    room = width + sum(column.width for column in columns)
    above, name = split_name(name, _most_of(width, columns), room, charset)
    lacking = max(0, least_width(name) - width)
    left = []
    for column in columns:
        given = _cells_given(column, lacking, name)
        lacking, width = 0 if column.stays else max(0, lacking - given), width + given
        left.append(column.width - given)
    _take_blank_cells(columns, left)
    texts = [_fit(column, cells, charset) for column, cells in zip(columns, left, strict=True)]
    return Named(charset.fit_name(name, width), texts, above)


def _take_blank_cells(columns: Sequence[Column], left: list[int]) -> None:
    """Give what has no room in its column the blank cells right behind it.

    Args:
        columns: The columns.
        left: The cells of each, which are changed.
    """
    for place, column in enumerate(columns):
        lacking = 0 if column.flush_right or not left[place] else -_free(column, left[place])
        for behind in range(place + 1, len(columns)):
            text_begins = columns[behind].text and not columns[behind].flush_right
            free = 0 if text_begins else _free(columns[behind], left[behind])
            given = max(0, min(lacking, free))
            left[place], left[behind] = left[place] + given, left[behind] - given
            lacking -= given
            if columns[behind].text:
                break


def _free(column: Column, cells: int) -> int:
    """Return how many of so many cells a column does not need; below zero what it lacks."""
    return cells - (1 + cell_len(column.text) if column.text else 0)


def _fit(column: Column, cells: int, charset: Charset) -> str:
    text = charset.fit_path(column.text, max(0, cells - 1)) if column.is_path else column.text
    return in_column(text, cells, charset, flush_right=column.flush_right)


def split_name(name: str, width: int, room: int, charset: Charset) -> tuple[list[str], str]:
    """Return lines for the beginning of a name's last two parts, and what is left for its row.

    Args:
        name: The safe name.
        width: Cells for it in its row; where its last two parts fit there, it is not split.
        room: Cells of a line before that.
        charset: The characters to draw with.
    """
    if least_width(name) <= max(1, width):
        return [], name
    tail = last_parts(name)
    cut = "" if tail == name else f"{charset.ellipsis}/"
    begin, slash, rest = tail.rpartition("/")
    above = charset.name_lines(f"{cut}{begin}/", max(1, room), _LINES) if slash else []
    *more, rest = charset.name_lines(rest, max(1, width), _LINES)
    return [*above, *more], rest


def shortened(name: str, width: int, charset: Charset) -> list[str]:
    """Return a safe name, on several lines where its last two parts need them.

    Args:
        name: The name.
        width: Cells of a line.
        charset: The characters to draw with.
    """
    above, rest = split_name(name, width, width, charset)
    return [*above, charset.fit_name(rest, min(cell_len(rest), width))]


def _most_of(width: int, columns: Sequence[Column]) -> int:
    """Return the cells that a name may have, with all that the columns behind it give."""
    for column in columns:
        if column.stays:
            return width + _blank(column)
        width += column.width
    return width


def _cells_given(column: Column, lacking: int, name: str) -> int:
    """Return how many of its cells a column gives to a name that lacks so many."""
    blank = _blank(column)
    if lacking <= blank or column.stays:
        return min(lacking, blank)
    told = name.rpartition("/")[2].startswith(column.text)  # many ops are named by their type
    all_of_it = told or column.flush_right or column.width - lacking < _LEAST
    return column.width if all_of_it else lacking


def _blank(column: Column) -> int:
    return max(0, column.width - 1 - cell_len(column.text))


def in_column(text: str, width: int, charset: Charset, *, flush_right: bool) -> str:
    """Return what stands in a column, in its width; "" where that is 0.

    Args:
        text: The text.
        width: Cells of the column, the space in front of it included.
        charset: The characters to draw with.
        flush_right: Whether it stands at the right end.
    """
    if width <= 0:
        return ""
    if flush_right:
        return f"{charset.fit(text, min(cell_len(text), width - 1)):>{width}}"
    return f" {charset.fit(text, width - 1)}"
