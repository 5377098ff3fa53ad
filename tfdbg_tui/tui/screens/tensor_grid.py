"""The elements of a tensor as a table, or how they are spread as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from tfdbg_tui.tui.widgets.tensor_view import TensorView
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow, VirtualList

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Line

_DIGITS = 5
_GAP = 2  # cells between two columns
_BAR = 40  # cells of the longest bar of the histogram


class TensorGrid(VirtualList):
    """The table of a tensor: an index and elements in each row, what is looked at below.

    Args:
        view: The tensor.
        charset: The characters to draw with.
    """

    def __init__(self, view: TensorView, charset: Charset) -> None:
        super().__init__(charset, id="values")
        self.view = view
        self.shows_histogram = False
        self._message: tuple[str, str] = ("", "")
        self._element = _width_of(view.elements)
        self._bars: list[Line] = []
        self._shown = range(0)  # columns

    def show(self, view: TensorView) -> None:
        """Show a view."""
        self.view = view
        self._message = ("", "")
        self.shows_histogram = False
        self.update()

    def show_histogram(self, shown: bool) -> None:
        """Show how the elements are spread, or the elements."""
        self.shows_histogram = shown
        self._bars = self._make_bars() if shown else []
        self.forget_rows()
        self.update()

    def say(self, text: str, *, bad: bool = False) -> None:
        """Tell something below the table, until the view changes."""
        self._message = (text, "bad" if bad else "good")
        self.update()

    def update(self) -> None:
        """See `VirtualList`; columns are chosen so that the element looked at is among them."""
        self._choose_columns()
        super().update()

    def _choose_columns(self) -> None:
        room = self.line_width - self._label - _GAP
        fit = max(1, room // (self._element + _GAP))
        if self.view.elements.ndim < 2 and self.view.wrap != fit:
            self.view = TensorView(self.view.elements, self.view.indices, fit, self.view.position)
        column = self.view.place[2]
        first = min(max(self._shown.start, column - fit + 1), column)
        first = min(first, max(0, self.view.columns - fit))  # no free room
        self._shown = range(first, min(self.view.columns, first + fit))

    @property
    def _label(self) -> int:
        """Width of the indices at the left."""
        last = self.view.index(self.view.elements.size - 1) if self.view.elements.size else ()
        return len(str(list(last))) + 1

    # ---- See `VirtualList`

    def count_rows(self) -> int:
        """Return the number of rows."""
        return len(self._bars) if self.shows_histogram else self.view.rows

    def find_cursor(self) -> int | None:
        """Return the row of the element that is looked at."""
        return 0 if self.shows_histogram else self.view.place[1]

    def row_state(self, row: int) -> Hashable:
        """Return what decides how a row looks."""
        table, at, column = self.view.place
        here = column if at == row else None
        return self.shows_histogram, self._shown, table, here, id(self.view.elements)

    def row(self, row: int, width: int) -> DrawnRow:
        """Return a row's cells."""
        if self.shows_histogram:
            return DrawnRow(self._bars[row])
        _, at, chosen = self.view.place
        cells = [(self._row_label(row), "faint")]
        for column in self._shown:
            element = self.view.at(row, column)
            text = "" if element is None else self._text(element)
            style = "bad" if element is not None and _is_bad(element) else ""
            if (row, column) == (at, chosen):
                style = "chip-bad" if style else "mark"
            cells += [(" " * _GAP, ""), (text.rjust(self._element), style)]
        return DrawnRow(tuple(cells))

    def head(self, width: int, height: int) -> Sequence[Line]:
        """Return the indices of the columns."""
        if self.shows_histogram or self.view.elements.ndim < 2 or not self.view.rows:
            return ()
        axis = self.view.indices[self._axes()[-1]]
        assert isinstance(axis, range)
        indices = (str(axis[column]).rjust(self._element + _GAP) for column in self._shown)
        return (((" " * self._label, ""), ("".join(indices), "faint")),)

    def foot(self, width: int, height: int) -> Sequence[Line]:
        """Return what is known of the element that is looked at, and of all."""
        return ((self._message,) if self._message[0] else self._where(), self._whole())

    def _where(self) -> Line:
        view = self.view
        if not view.elements.size:
            return (("no elements", "dim"),)
        element = view.elements.reshape(-1)[view.position]
        index = self.charset.safe(str(list(view.index(view.position))))
        told = self._in_words(element) or str(element)
        cells: list[tuple[str, str]] = [(index, "strong"), ("  ", ""), (told, "")]
        if _is_bad(element):
            number = int(np.searchsorted(view.bad, view.position)) + 1
            cells.append((f"  {number:,} of {len(view.bad):,} that are bad", "bad"))
        return tuple(cells)

    def _whole(self) -> Line:
        view = self.view
        bad = f"{len(view.bad):,} of {view.elements.size:,} elements are NaN or infinite"
        tables = f"; table {view.place[0] + 1:,} of {view.tables:,}" if view.tables > 1 else ""
        return ((bad + tables, "dim"),)

    def _axes(self) -> list[int]:
        """Return the axes of the whole tensor that the part has."""
        return [n for n, axis in enumerate(self.view.indices) if isinstance(axis, range)]

    def _row_label(self, row: int) -> str:
        view = self.view
        position = (view.place[0] * view.rows + row) * view.columns
        index: list[object] = list(view.index(position))
        if view.elements.ndim >= 2:
            index[self._axes()[-1]] = ":"
        return str(index).replace("'", "").ljust(self._label)

    def _text(self, element: Any) -> str:
        if told := self._in_words(element):
            return told
        if self.view.elements.dtype.kind in "fc":
            return self.charset.safe(f"{element:.{_DIGITS}g}")
        return str(element)

    def _in_words(self, element: Any) -> str:
        """Return a real number that is not finite as panes write it; "" for any other."""
        if not isinstance(element, np.floating) or np.isfinite(element):
            return ""
        sign = "+" if element > 0 else self.charset.minus
        return "NaN" if np.isnan(element) else f"{sign}{self.charset.inf}"

    def _make_bars(self) -> list[Line]:
        counts, edges = self.view.histogram()
        if not len(counts):
            counted = self.view.elements.dtype.kind in "biuf"
            why = "no finite elements" if counted else "numbers of this type have no order"
            return [((why, "dim"),)]
        most = max(counts.tolist(), default=0)
        return [
            (
                (f"{low:>12.{_DIGITS}g} .. {high:<12.{_DIGITS}g}", "faint"),
                (("#" if self.charset.ascii_only else "█") * -(-_BAR * count // most), "good"),
                (f" {count:,}" if count else "", ""),
            )
            for count, low, high in zip(counts.tolist(), edges, edges[1:], strict=False)
        ]


def _is_bad(element: Any) -> bool:
    return isinstance(element, np.inexact) and not np.isfinite(element)


def _width_of(elements: npt.NDArray[Any]) -> int:
    """Return how many cells an element takes at most."""
    if elements.dtype.kind == "f":
        return _DIGITS + 7  # a sign, a point, and an exponent as in e-308
    if elements.dtype.kind == "c":
        return 2 * (_DIGITS + 7) + 1
    if not elements.size:
        return 1
    return max(cell_len(str(extreme)) for extreme in (elements.min(), elements.max()))
