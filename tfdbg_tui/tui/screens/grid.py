"""The grid that the tiles stand in, whose columns and rows the user may resize."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from textual.containers import Container

from tfdbg_tui.tui.session.grid_sizes import keep_grid_sizes, read_grid_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events
    from textual.widget import Widget

Axis = Literal["columns", "rows"]

_LAST = 2  # number of the last column or row
_LEAST = {"columns": 12, "rows": 4}  # cells of a column or row


class Span(NamedTuple):
    """The columns and rows that a tile takes of the three times three, both ends included."""

    columns: tuple[int, int]
    rows: tuple[int, int]


_IN_ROWS = {
    1: Span((0, 0), (0, 0)),
    2: Span((1, 2), (0, 0)),
    3: Span((0, 1), (1, 1)),
    4: Span((2, 2), (1, 1)),
    5: Span((0, 1), (2, 2)),
    6: Span((2, 2), (2, 2)),
}
_WITHOUT_GRAPHS = {tile: span for tile, span in _IN_ROWS.items() if tile != 3} | {
    4: Span((0, 2), (1, 1))
}
_SPANS: dict[str, dict[int, Span]] = {
    "normal": _IN_ROWS,
    "normal without graphs": _WITHOUT_GRAPHS,
    "wide": {**_IN_ROWS, 1: Span((0, 0), (0, 1)), 3: Span((1, 1), (1, 1))},
    "wide without graphs": {
        **_WITHOUT_GRAPHS,
        1: Span((0, 0), (0, 1)),
        4: Span((1, 2), (1, 1)),
    },
    "wide without alerts": _IN_ROWS,
    "wide without alerts without graphs": _WITHOUT_GRAPHS,
}
"""The tiles of each arrangement, as `app.tcss` has them."""


class Border(NamedTuple):
    """What can be moved: the end of the first or second column or row."""

    axis: Axis
    number: int


def moved(sizes: tuple[int, ...], border: Border, by: int) -> tuple[int, ...]:
    """Return sizes of columns or rows with a border moved, as far as there is room.

    Args:
        sizes: The cells of each.
        border: The border.
        by: How many cells to the right, or down.
    """
    least, number = _LEAST[border.axis], border.number
    before, after = sizes[number], sizes[number + 1]
    by = max(min(by, after - least), least - before)
    return (*sizes[:number], before + by, after - by, *sizes[number + 2 :])


def _border(axis: Axis, span: tuple[int, int], offset: int, size: int) -> Border | None:
    """Return the border that a tile has at an offset into it; None for none that moves."""
    first, last = span
    if offset == 0 and first > 0:
        return Border(axis, first - 1)
    return Border(axis, last) if offset == size - 1 and last < _LAST else None


class Grid(Container):
    """The tiles, the panes of which are its children.

    Args:
        usual: Shares of the "columns" and "rows", where the user has chosen none for an
            arrangement; without them those of the style sheet.
        id: Its id in the style sheet.
    """

    def __init__(self, usual: Mapping[str, tuple[int, ...]], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._usual = usual
        self._known = read_grid_sizes()
        self._changed = False
        self._arrangement = ""
        self._dragged: Border | None = None
        self._divided: dict[str, tuple[int, ...] | None] = dict.fromkeys(_LEAST)

    def keep_sizes(self) -> None:
        """Remember the sizes for the next session, if the user has chosen any."""
        if self._changed:
            keep_grid_sizes(self._known)

    def lay_out(self, arrangement: str) -> None:
        """Take the sizes that the user has chosen for an arrangement.

        Args:
            arrangement: Its name; "" where not all tiles are shown, for the sizes of the style
                sheet.
        """
        self._arrangement = arrangement
        sizes = {**self._usual, **self._known.get(arrangement, {})} if arrangement else {}
        for axis in _LEAST:
            self._divide(axis, sizes.get(axis))

    def _divide(self, axis: str, sizes: tuple[int, ...] | None) -> None:
        """Give the columns or rows sizes, if they have others: it lays out the whole screen."""
        if self._divided.get(axis) != sizes:
            self._divided[axis] = sizes
            shares = " ".join(f"{size}fr" for size in sizes) if sizes else None
            setattr(self.styles, f"grid_{axis}", shares)

    def resize(self, tile: int, axis: Axis, by: int) -> bool:
        """Make a tile wider or higher; return whether it can be.

        Args:
            tile: Its number.
            axis: Whether wider or higher.
            by: By how many cells; narrower or lower, where it is negative.
        """
        span = _SPANS.get(self._arrangement, {}).get(tile)
        if span is None:
            return False
        first, last = span.columns if axis == "columns" else span.rows
        if last < _LAST:
            self._move(Border(axis, last), by)
        elif first > 0:
            self._move(Border(axis, first - 1), -by)
        return last < _LAST or first > 0

    def forget_sizes(self) -> None:
        """Return to the usual sizes."""
        self._known.pop(self._arrangement, None)
        self._changed = True
        self.lay_out(self._arrangement)

    def _move(self, border: Border, by: int) -> None:
        sizes = moved(self._sizes(border.axis), border, by)
        self._known.setdefault(self._arrangement, {})[border.axis] = sizes
        self._changed = True
        self.lay_out(self._arrangement)

    def _sizes(self, axis: Axis) -> tuple[int, ...]:
        """Return the cells of each column or row, as the tiles next to them show."""
        whole = self.content_region
        if axis == "columns":
            first, second = self._tile(2).region.x - whole.x, self._tile(6).region.x - whole.x
            return first, second - first, whole.width - second
        first, second = self._tile(4).region.y - whole.y, self._tile(6).region.y - whole.y
        return first, second - first, whole.height - second

    def _tile(self, number: int) -> Widget:
        return self.query_one(f".-tile-{number}.-shown")

    def _border_at(self, x: int, y: int) -> Border | None:
        """Return the border that is drawn at a place of the screen."""
        for number, span in _SPANS.get(self._arrangement, {}).items():
            region = self._tile(number).region
            if region.contains(x, y):
                across = _border("columns", span.columns, x - region.x, region.width)
                return across or _border("rows", span.rows, y - region.y, region.height)
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag a border."""
        self._dragged = self._border_at(event.screen_x, event.screen_y)
        if self._dragged is not None:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Have the border follow the mouse."""
        border = self._dragged
        if border is not None:
            whole = self.content_region
            at = event.screen_x - whole.x if border.axis == "columns" else event.screen_y - whole.y
            self._move(border, at - sum(self._sizes(border.axis)[: border.number + 1]))

    def on_mouse_up(self) -> None:
        """Leave the border where it is."""
        if self._dragged is not None:
            self._dragged = None
            self.release_mouse()
