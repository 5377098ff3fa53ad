"""How a tensor's values are summed up: how many are NaN, -∞, +∞, negative, zero, positive.

The order is Debugger V2's.  Bad values are told by word and by weight as well as by colour.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import bad_elements_text
from tfdbg_tui.tui.terminal.text import Charset, compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import TensorSummary
    from tfdbg_tui.tui.widgets.cells import Cell, Line

NUM_BAD = 3
"""How many of the kinds of values, the first ones, are bad."""

_COLUMN, _ZEROS = 6, 3  # width of a column with counts, and of one with nothing but zeros
_WORDS = 19

BRIEF = 12
"""Width of `brief_text`, at most."""


def _kinds(charset: Charset) -> tuple[tuple[str, str, bool], ...]:
    """Return field of `TensorSummary`, label, and whether it is bad, of each kind of value."""
    minus, inf = charset.minus, charset.inf
    return (
        ("nan", "NaN", True),
        ("neg_inf", f"{minus}{inf}", True),
        ("pos_inf", f"+{inf}", True),
        ("neg", minus, False),
        ("zero", "0", False),
        ("pos", "+", False),
    )


def column_widths(summaries: Sequence[TensorSummary | None], charset: Charset) -> tuple[int, ...]:
    """Return how wide the column of each kind has to be for some tensors; 0 for an empty one.

    Where none of them has counts, the first columns together have room for the words instead.
    """
    counted = [summary for summary in summaries if summary and summary.nan is not None]
    if not counted:
        return (_WORDS, 0, 0, 0, 0, 0)
    widths = []
    for field, label, _ in _kinds(charset):
        counts = {getattr(summary, field) for summary in counted}
        width = 0 if counts == {None} else _COLUMN if counts - {None, 0} else _ZEROS
        widths.append(max(width, len(label) + 1) if width else 0)
    return tuple(widths)


def column_titles(charset: Charset, widths: Sequence[int], chosen: str = "") -> Line:
    """Return the titles above `columns`; above words there is none.

    Args:
        charset: The characters to draw with.
        widths: Width of each column, in cells.
        chosen: The kind of value whose title stands out: a field of `TensorSummary`.
    """
    if widths and widths[0] == _WORDS:
        return ((" " * _WORDS, "dim"),)
    labels = zip(_kinds(charset), widths, strict=False)
    return tuple(
        (f"{label:>{width}}", "strong" if field == chosen else "dim")
        for (field, label, _), width in labels
        if width
    )


def columns(summary: TensorSummary | None, charset: Charset, widths: Sequence[int]) -> Line:
    """Return the counts of the first kinds, the bad ones first, in columns of some widths.

    Args:
        summary: What was recorded of a tensor.
        charset: The characters to draw with.
        widths: Width of each column, in cells.
    """
    room = sum(widths)
    if summary is None:
        text = " no value recorded"
        return ((charset.fit(text if len(text) <= room else " no value", room), "faint"),)
    if summary.nan is None:
        return (_words(summary, charset, room),)
    return tuple(
        cell
        for (field, _, bad), width in zip(_kinds(charset), widths, strict=False)
        if width
        for cell in _column(getattr(summary, field), bad, charset, width)
    )


def _column(count: int | None, bad: bool, charset: Charset, width: int) -> Line:
    if not count:
        return flush_right("" if count is None else charset.dot, width, "faint")
    return flush_right(compact(count), width, "bad" if bad else "")


def flush_right(text: str, width: int, style: str) -> Line:
    """Return text at the right end of `width` cells; the style is that of the text alone.

    Args:
        text: The text.
        width: How many cells there are.
        style: Name of its style.
    """
    return ((" " * (width - len(text)), ""), (text, style))


def _words(summary: TensorSummary, charset: Charset, width: int) -> Cell:
    """Say what a mode without counts says: health, or shape."""
    if summary.has_inf_or_nan is not None:
        if summary.has_inf_or_nan:
            return (charset.fit(f" NaN or {charset.inf}", width), "bad")
        return (charset.fit(" all finite", width), "dim")
    return (charset.fit(" " + shape(summary), width), "dim")


def shape(summary: TensorSummary) -> str:
    """Return the shape as ``[2, 3]``; ? for a dimension that was not recorded."""
    if summary.shape is None:
        return ""
    return "[" + ", ".join("?" if n is None else str(n) for n in summary.shape) + "]"


def chips(summary: TensorSummary | None, charset: Charset) -> Line:
    """Return the kinds of values that there are, with exact counts, for a line of text."""
    if summary is None:
        return (("no value recorded", "faint"),)
    if summary.nan is None:
        text, style = _words(summary, charset, 40)
        return ((f" {text.strip()} ", "chip-bad" if style == "bad" else "chip"),)
    cells: list[Cell] = []
    for field, label, bad in _kinds(charset):
        count = getattr(summary, field)
        if count:
            cells.append((f" {label}{charset.times}{count:,} ", "chip-bad" if bad else "chip"))
            cells.append((" ", ""))
    numbers = extent(summary, charset)
    if not cells and not numbers:
        return (("finite" if summary.size else "empty", "faint"),)
    return (
        *cells,
        (_places(summary, charset), ""),
        (f" finite: {numbers}" if numbers else "", "dim"),
    )


def _places(summary: TensorSummary, charset: Charset) -> str:
    """Return where the first bad elements are, where that was recorded."""
    text = bad_elements_text(summary, 3 if summary.rank == 1 else 1)
    return charset.safe(f" at {text} ") if text else ""


def extent(summary: TensorSummary, charset: Charset) -> str:
    """Return between which numbers the finite elements are; "" where that is not recorded."""
    low, high = summary.minimum, summary.maximum
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    if low == high:
        return number(low, charset)
    return f"{number(low, charset)} to {number(high, charset)}"


def number(value: float, charset: Charset) -> str:
    """Return a number in four digits."""
    return f"{value + 0.0:.4g}".replace("-", charset.minus)  # of -0.0 the sign tells nothing


def brief_text(summary: TensorSummary | None, charset: Charset, most: int = BRIEF) -> str:
    """Return the bad kinds, abbreviated: without their counts where those have no room.

    Args:
        summary: What is recorded of a bad tensor.
        charset: The characters to draw with.
        most: How many cells there are.
    """
    if summary is None or summary.nan is None:
        return f"NaN or {charset.inf}"
    found = [
        f"{label} {compact(getattr(summary, field))}"
        for field, label, bad in _kinds(charset)
        if bad and getattr(summary, field)
    ]
    text = " ".join(found)
    if len(text) > most:
        text = " ".join(part.partition(" ")[0] for part in found)
    return text


def brief_beside(summary: TensorSummary | None, charset: Charset, room: int) -> str:
    """Return the bad kinds, abbreviated: without counts where only that has room.

    Args:
        summary: What is recorded of a bad tensor.
        charset: The characters to draw with.
        room: Cells that are left beside a name and a space.
    """
    whole, short = (brief_text(summary, charset, most) for most in (BRIEF, 0))
    return short if len(short) <= room < len(whole) else whole


def in_brief(summary: TensorSummary | None, charset: Charset) -> Line:
    """Return the bad kinds, or that there are none, or nothing; `BRIEF` cells wide."""
    if summary is None or summary.has_inf_or_nan is None:
        return flush_right("", BRIEF, "")
    if summary.bad:
        return flush_right(brief_text(summary, charset), BRIEF, "bad")
    return flush_right("finite", BRIEF, "good")


def shape_and_type(summary: TensorSummary | None) -> str:
    """Return dtype and shape in few words: ``float32[2, 3]``; what of it is recorded."""
    if summary is None:
        return ""
    if summary.shape is not None:
        return f"{summary.dtype or ''}{shape(summary)}"
    size = "" if summary.size is None else compact(summary.size)
    if size and summary.dtype is None and summary.rank is None:
        return f"{size} element{'s' if summary.size != 1 else ''}"  # a number alone tells nothing
    rank = "" if summary.rank is None else f"{summary.rank}D"
    return " ".join(filter(None, (summary.dtype, rank, size)))


def size_and_type(summary: TensorSummary | None) -> str:
    """Return dtype, rank and number of elements, as far as they are known."""
    if summary is None:
        return ""
    parts = []
    if summary.dtype:
        parts.append(summary.dtype)
    if summary.shape is not None:
        parts.append(shape(summary))
    elif summary.rank is not None:
        parts.append(f"{summary.rank}D")
    if summary.size is not None:
        parts.append(f"{summary.size:,} element{'s' if summary.size != 1 else ''}")
    return " ".join(parts)
