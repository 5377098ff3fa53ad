"""Curves of numbers on a logarithmic scale, as lines of cells: eight dots in a cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]

_MARGIN = 7  # cells of the scale, as in "1e-100 "
_ACROSS, _DOWN = 2, 4  # dots of a cell
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of a braille cell
_BRAILLE = 0x2800
_NEAR = 12  # decades that are shown on each side of 0
_FAR = 6.0  # decades: how far above the numbers a limit may be to be drawn, at least


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Numbers along an axis.

    Attributes:
        places: Where each is on the axis, from 0 to 1, ascending.
        numbers: Positive numbers, zeros, which are drawn on a line of their own below the others,
            or infinities, at the top; where any curve has negative ones, these are below the zeros,
            on a scale of their own.  NaN for none.
        is_lower: Whether the least number counts where several fall into one column of dots, and
            not the largest.
    """

    places: Floats
    numbers: Floats
    is_lower: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic scale from the bottom of the lowest line to the top of the highest.

    Attributes:
        low: Power of ten at the bottom.
        high: Power of ten at the top.
        height: Number of lines.
        with_zero: Whether there is one more line below, for zeros.
    """

    low: float
    high: float
    height: int
    with_zero: bool = False

    @property
    def lines(self) -> int:
        """The number of all lines."""
        return self.height + self.with_zero

    def line(self, power: float) -> int:
        """Return the line, from the top, on which a power of ten is."""
        share = (self.high - power) / (self.high - self.low)
        return min(self.height - 1, max(0, int(share * self.height)))

    def dots(self, numbers: Floats) -> npt.NDArray[np.int64]:
        """Return the row of dots, from the top, on which each number is."""
        rows = self.height * _DOWN
        with np.errstate(divide="ignore"):
            share = (self.high - np.log10(numbers)) / (self.high - self.low)
        dots = np.clip(share * rows, 0, rows - 1).astype(np.int64)
        return np.where(numbers == 0, self.lines * _DOWN - 1, dots)

    def labels(self) -> list[str]:
        """Return the power of ten at the head of each line; "" where there is none."""
        step = max(1, math.ceil(2 * (self.high - self.low) / self.height))
        labels = [""] * self.height
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            if power % step == 0:
                labels[self.line(power)] = f"1e{power}"
        return [*labels, "0"] if self.with_zero else labels

    def rules(self, limit: float) -> list[float]:
        """Return the numbers at which a line is drawn for a limit."""
        return [limit] if math.log10(limit) <= self.high else []


@dataclass(frozen=True, slots=True)
class SignedScale:
    """Two logarithmic scales: of positive numbers, and below the line of zeros of negative ones.

    Attributes:
        half: The scale of positive numbers.
    """

    half: Scale

    @property
    def lines(self) -> int:
        """The number of all lines."""
        return 2 * self.half.lines + 1

    def dots(self, numbers: Floats) -> npt.NDArray[np.int64]:
        """Return the row of dots, from the top, on which each number is."""
        above = self.half.dots(np.abs(numbers))
        last = self.lines * _DOWN - 1
        signed = np.where(numbers < 0, last - above, above)
        return np.where(numbers == 0, last // 2, signed)

    def labels(self) -> list[str]:
        """Return the power of ten at the head of each line; "" where there is none."""
        above = self.half.labels()
        below = [f"-{label}" if label else "" for label in reversed(above)]
        return [label if len(label) < _MARGIN else "" for label in (*above, "0", *below)]

    def rules(self, limit: float) -> list[float]:
        """Return the numbers at which a line is drawn for a limit."""
        return [sign * limit for limit in self.half.rules(limit) for sign in (1, -1)]


def scale_for(curves: Sequence[Curve], limit: float | None, height: int) -> Scale | SignedScale:
    """Return the scale for some curves, and for a limit if that is not far above them.

    Args:
        curves: The curves.
        limit: The largest number of their type; None if it is not known.
        height: How many lines it has, with that of zeros if there are any.
    """
    is_signed = any((curve.numbers < 0).any() for curve in curves)
    with_zero = not is_signed and any((curve.numbers == 0).any() for curve in curves)
    sizes = (np.abs(curve.numbers[curve.numbers != 0]) for curve in curves)
    numbers = [part[np.isfinite(part)] for part in sizes]
    powers = [np.log10([part.min(), part.max()]) for part in numbers if part.size]
    low = math.floor(min((power[0] for power in powers), default=0.0))
    high = math.ceil(max((power[1] for power in powers), default=1.0))
    if limit is not None and high <= math.log10(limit) <= high + max(_FAR, 2 * (high - low)):
        high = math.ceil(math.log10(limit))
    if is_signed:  # what is much smaller than the rest is next to 0
        low = max(low, high - _NEAR)
        return SignedScale(Scale(low, max(high, low + 1), max(1, (height - 1) // 2)))
    return Scale(low, max(high, low + 1), height - with_zero, with_zero)


def draw(
    curves: Sequence[Curve],
    chosen: int,
    limit: float | None,
    size: tuple[int, int],
    charset: Charset,
) -> list[Line]:
    """Return curves over one another as lines, the scale at the left.

    Args:
        curves: The curves.
        chosen: Which of them stands out.
        limit: A number to draw a line at; None for none.
        size: Cells across and down.
        charset: The characters to draw with.
    """
    width, height = size[0] - _MARGIN, size[1]
    scale = scale_for(curves, limit, height)
    others = np.zeros((scale.lines, width), np.int64)
    for number, curve in enumerate(curves):
        if number != chosen:
            others |= _cells(curve, scale, width)
    own = _cells(curves[chosen], scale, width)
    empty = _limit(limit, scale, charset)
    return [
        ((f"{label:>{_MARGIN - 1}} ", "dim"), *_line(own[row], others[row], empty[row], charset))
        for row, label in enumerate(scale.labels())
    ]


def _limit(limit: float | None, scale: Scale | SignedScale, charset: Charset) -> list[str]:
    """Return what each line shows where there is no curve: at the limit the dots of its height."""
    lines = [" "] * scale.lines
    rules = [] if limit is None else scale.rules(limit)
    for dots in scale.dots(np.array(rules)).tolist():
        across = chr(_BRAILLE | int(_DOTS[dots % _DOWN].sum()))
        lines[dots // _DOWN] = charset.tree.across if charset.ascii_only else across
    return lines


def marks(places: Floats, marked: Flags, width: int) -> Flags:
    """Return which cells of a line below curves are marked; those between two marked ones are.

    Args:
        places: Places on the axis, from 0 to 1, ascending.
        marked: Which of them are marked.
        width: Cells of the line.
    """
    columns = columns_of(places, width)
    following = np.append(marked[1:], False)
    ends = np.where(following, np.append(columns[1:], 0), columns)
    changes = np.zeros(width + 1, np.int64)
    np.add.at(changes, columns[marked], 1)
    np.add.at(changes, ends[marked] + 1, -1)
    return np.cumsum(changes)[:-1] > 0


def columns_of(places: Floats, width: int) -> Indices:
    """Return in which cell of a line each place on the axis is."""
    return _MARGIN + _columns(places, width - _MARGIN)


def _columns(places: Floats, count: int) -> Indices:
    return np.clip(places * count, 0, count - 1).astype(np.int64)


def _cells(curve: Curve, scale: Scale | SignedScale, width: int) -> npt.NDArray[np.int64]:
    """Return the dots of a curve, as bits of braille cells of shape [lines, width]."""
    cells = np.zeros((scale.lines, width), np.int64)
    known = ~np.isnan(curve.numbers)
    columns = _columns(curve.places[known], width * _ACROSS)
    if not columns.size:
        return cells
    # Where several fall into one column of dots, the largest counts: it is what overflows.
    starts = np.flatnonzero(np.diff(columns, prepend=-1))
    outer = np.minimum if curve.is_lower else np.maximum
    rows = scale.dots(outer.reduceat(curve.numbers[known], starts))
    across = np.arange(columns[0], columns[-1] + 1)
    down = np.interp(across, columns[starts], rows).astype(np.int64)
    before = np.concatenate([down[:1], down[:-1]])
    for column, row, last in zip(across.tolist(), down.tolist(), before.tolist(), strict=True):
        for dot in range(min(row, last), max(row, last) + 1):
            cells[dot // _DOWN, column // _ACROSS] |= _DOTS[dot % _DOWN, column % _ACROSS]
    return cells


def _line(
    own: npt.NDArray[np.int64], others: npt.NDArray[np.int64], empty: str, charset: Charset
) -> list[Cell]:
    cells: list[Cell] = []
    for mine, theirs in zip(own.tolist(), others.tolist(), strict=True):
        style = "call" if mine else "faint"
        if not (mine or theirs):
            cells.append((empty, "bad"))
        elif charset.ascii_only:
            cells.append(("*" if mine else ".", style))
        else:
            cells.append((chr(_BRAILLE | mine | theirs), style))
    return cells
