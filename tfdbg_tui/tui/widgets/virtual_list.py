"""A list of any length: only the rows in view exist.

Ten million rows cost what forty do.  Lines are drawn by `render_line` from cells (text and the
name of a style); a change repaints only the lines that look different afterwards, which is what
keeps the app light over SSH.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widget import Widget

from tfdbg_tui.tui.widgets.cells import CellWidget, highlighted, text_at
from tfdbg_tui.tui.widgets.scrollbars import draw_scrollbar

if TYPE_CHECKING:
    import re
    from collections.abc import Hashable, Sequence

    from textual import events
    from textual.strip import Strip

    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Line

_CACHED_ROWS = 2048


class DrawnRow(NamedTuple):
    """What a row looks like.

    Attributes:
        cells: Its line.
        behind: The style behind all of it; "" for none.
        above: Lines of it before that one, where a name in it is wider than a line.
    """

    cells: Line
    behind: str = ""
    above: Sequence[Line] = ()


class VirtualList(CellWidget, ScrollView, can_focus=False):
    """Rows under a pinned head and above a pinned foot.

    Subclasses say what there is: `count_rows`, `find_cursor`, `row`, `row_state`, `head`, `foot`,
    and choose columns for the rows in view: `fit_columns`.

    Args:
        charset: The characters to draw with.
        id: Its id in the style sheet.

    Attributes:
        row_count: Number of rows at the last `update`.
        cursor: The row that was to be kept in view then.
    """

    DEFAULT_CSS = """
    VirtualList { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    @dataclass
    class Touched(Message):
        """The mouse was pressed on the list."""

        pane: VirtualList

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.pane

    @dataclass
    class RowClicked(Message):
        """A row was clicked on, in a cell of its line."""

        pane: VirtualList
        row: int
        column: int = 0

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.pane

    @dataclass
    class TitleClicked(Message):
        """A text of the pinned head was clicked on, in a line and a cell of it."""

        pane: VirtualList
        title: str
        line: int
        column: int

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.pane

    def __init__(self, charset: Charset, *, id: str) -> None:  # noqa: A002
        super().__init__(charset, id=id)
        draw_scrollbar(self, charset)
        self.row_count = 0
        self.cursor: int | None = None
        self._strips: dict[Hashable, Sequence[Strip]] = {}  # of a row
        self._placed: Sequence[tuple[int, int]] = ()  # which line of which row each line shows
        self._painted: dict[int, Hashable] = {}
        self._drawn: dict[int, Strip] = {}
        self._head: Sequence[Line] = ()
        self._foot: Sequence[Line] = ()
        self._highlighted: Sequence[re.Pattern[str]] = ()
        self._width = self._height = 0  # at the last update: asking Textual each time is slow

    # ---- What subclasses say

    def count_rows(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def find_cursor(self) -> int | None:
        """Return the row to keep in view."""
        return None

    def belongs_to_cursor(self, row: int) -> bool:
        """Whether a row above the cursor is to be in view with it, where there is room."""
        return False

    def row(self, row: int, width: int) -> DrawnRow:
        """Return what a row looks like."""
        raise NotImplementedError

    def row_state(self, row: int) -> Hashable:
        """Return what decides how a row looks, besides its number and the width."""
        return None

    def row_clicked(self, row: int) -> int:
        """Return what a click on a row chooses: the row, unless several rows are one thing."""
        return row

    def head(self, width: int, height: int) -> Sequence[Line]:
        """Return the lines pinned to the top."""
        return ()

    def foot(self, width: int, height: int) -> Sequence[Line]:
        """Return the lines pinned to the bottom."""
        return ()

    def fit_columns(self, rows: range, width: int) -> None:
        """Choose the columns for the rows in view: `row_state` has to tell when others are chosen.

        Args:
            rows: The rows in view; at least one.
            width: Cells of a line.
        """

    # ---- Changes

    def highlight(self, patterns: Sequence[re.Pattern[str]]) -> None:
        """Highlight what patterns match in the rows, from the next update on."""
        if patterns != self._highlighted:
            self._highlighted = patterns
            self.forget_rows()

    def forget_rows(self) -> None:
        """Look at all rows anew at the next update: what they say may have changed."""
        self._strips.clear()
        self._painted.clear()

    def update(self) -> None:
        """Show the present state: pinned lines, number of rows, cursor in view."""
        self.row_count = self.count_rows()
        before = self.cursor, self._height
        self.cursor = self.find_cursor()
        self._width, self._height = self.line_width, self.size.height
        self._head = self.head(self._width, self._height)
        self._foot = self.foot(self._width, self._height)
        top = self.scroll_offset.y
        self._set_length()
        if self.cursor is not None:
            self.reveal(self.cursor)
            self._reveal_above(self.cursor, *before)
        if top == self.scroll_offset.y:  # else it was done when it scrolled
            self._place_rows()
        if self.cursor is not None:
            self._reveal_all_of(self.cursor)
        self._repaint()

    def _place_rows(self) -> None:
        """Choose the columns, and find which line of which row each line of the widget shows."""
        top = self.scroll_offset.y
        rows = range(top, min(self.row_count, top + self._page_lines))
        if rows:
            self.fit_columns(rows, self._width)
            self._head = self.head(self._width, self._height)
        placed = [(row, line) for row in rows for line in self._lines_of(row)]
        self._placed = placed[: self._page_lines]
        self._set_length()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """See Textual: other rows may need other columns."""
        super().watch_scroll_y(old_value, new_value)
        self._place_rows()

    def _set_length(self) -> None:
        """Adapt the scrollbar; without the layout of the whole screen that Textual would do."""
        lines = self.row_count
        if self.scroll_offset.y + self._page_lines >= self.row_count:
            lines = max(lines, self._last_top() + self._page_lines)
        lines += len(self._head) + len(self._foot)
        if lines != self.virtual_size.height:
            self.set_reactive(Widget.virtual_size, Size(1, lines))
            self.vertical_scrollbar.window_virtual_size = lines
            if self.scroll_offset.y > self.max_scroll_y:
                self.scroll_to(y=self.max_scroll_y, animate=False)

    def _last_top(self) -> int:
        """Return the first row in view when the last one is the last in view."""
        row, free = self.row_count, self._page_lines
        while row and (free := free - len(self._lines_of(row - 1))) >= 0:
            row -= 1
        return row

    def _lines_of(self, row: int) -> range:
        """Return the lines of a row; of one that is higher than the list the last, one at least."""
        lines = len(self._row_strips(row))
        return range(max(0, lines - max(1, self._page_lines)), lines)

    def reveal(self, row: int, *, centre: bool = False) -> None:
        """Scroll until a row is in view: just so if it is near, else to the middle."""
        page = self._page_lines
        if page <= 0:
            return
        top = self.scroll_offset.y
        if row < top - page or row > top + 2 * page or (centre and not top <= row < top + page):
            top = row - page // 2
        elif row < top:
            top = row
        elif row >= top + page:
            top = row - page + 1
        self.scroll_to(y=max(0, min(top, self.max_scroll_y)), animate=False)

    def _reveal_above(self, row: int, before: int | None, height: int) -> None:
        """Scroll up to what is to be in view with a row: one above it, and what belongs to it.

        Going from row to row moves the list by no more than a row.

        Args:
            row: The row.
            before: The row that was to be in view at the last update.
            height: The height then.
        """
        above = range(max(0, row - self._page_lines + 1), row)
        is_near = before is not None and abs(row - before) <= 1 and height == self._height
        wanted = () if is_near else filter(self.belongs_to_cursor, above)
        first = next(iter(wanted), above[-1] if above else row)
        if first < self.scroll_offset.y:
            self.scroll_to(y=first, animate=False)

    def _reveal_all_of(self, row: int) -> None:
        """Scroll on while lines of the rows before push a row out of view."""
        while self._placed and (row, self._lines_of(row)[-1]) not in self._placed:
            top = self.scroll_offset.y
            self.scroll_to(y=top + 1, animate=False)
            if top == self.scroll_offset.y or top >= row:
                return

    @property
    def line_width(self) -> int:
        """Width of a line: what the scrollbar leaves."""
        return self.scrollable_content_region.width

    @property
    def _page_lines(self) -> int:
        """Number of lines for rows."""
        return max(0, self._height - len(self._head) - len(self._foot))

    @property
    def page_rows(self) -> int:
        """Number of rows that are all in view, and of lines without any."""
        shown = [(row, line) for row, line in self._placed if row < self.row_count]
        whole = sum(line == self._lines_of(row)[-1] for row, line in shown)
        return whole + self._page_lines - len(shown)

    @property
    def rows_below(self) -> int:
        """Number of rows that come after those in view."""
        shown = [row for row, _ in self._placed if row < self.row_count]
        return self.row_count - 1 - shown[-1] if shown else 0

    def _repaint(self) -> None:
        """Refresh the lines that would now look different, those next to each other at once."""
        start = None
        for y in range(self._height + 1):
            changed = y < self._height and self._looks_different(y)
            if changed and start is None:
                start = y
            elif not changed and start is not None:
                self.refresh(Region(0, start, self._width, y - start))
                start = None

    def _looks_different(self, y: int) -> bool:
        key = self._line_key(y), self._width
        if self._painted.get(y, self) == key:
            return False
        if self._drawn.get(y) != self._strip(y):
            return True
        self._painted[y] = key
        return False

    # ---- Drawing

    def _line_key(self, y: int) -> Hashable:
        place = self._place_at(y)
        return self._pinned(y) if place is None else (place, self.row_state(place[0]))

    def _place_at(self, y: int) -> tuple[int, int] | None:
        """Return which row line `y` of the widget shows, and which line of it."""
        below = y - len(self._head)
        if not 0 <= below < min(len(self._placed), self._page_lines):
            return None
        row, line = self._placed[below]
        return (row, line) if row < self.row_count else None

    def _row_at(self, y: int) -> int | None:
        """Return which row line `y` of the widget shows."""
        place = self._place_at(y)
        return None if place is None else place[0]

    def render_line(self, y: int) -> Strip:
        """Draw line `y` of the widget."""
        self._painted[y] = self._line_key(y), self._width
        strip = self._drawn[y] = self._strip(y)
        return strip

    def _strip(self, y: int) -> Strip:
        place = self._place_at(y)
        if place is None:
            return self.strip(self._pinned(y), "")
        row, line = place
        strips = self._row_strips(row)
        return strips[min(line, len(strips) - 1)]  # there may be fewer until the next update

    def _row_strips(self, row: int) -> Sequence[Strip]:
        """Return the lines of a row, drawn."""
        key = row, self.row_state(row), self._width
        strips = self._strips.get(key)
        if strips is None:
            strips = self._draw(row)
            if len(self._strips) >= _CACHED_ROWS:
                self._strips.clear()
            self._strips[key] = strips
        return strips

    def _draw(self, row: int) -> Sequence[Strip]:
        cells, behind, above = self.row(row, self._width)
        lines = (*above, cells)
        if self._highlighted:
            lines = tuple(highlighted(line, self._highlighted) for line in lines)
        return tuple(self.strip(line, behind) for line in lines)

    def _pinned(self, y: int) -> Line:
        if y < len(self._head):
            return self._head[y]
        below = y - (self._height - len(self._foot))
        return self._foot[below] if 0 <= below < len(self._foot) else ()

    # ---- Events

    def forget_styles(self) -> None:
        """See `CellWidget`."""
        super().forget_styles()
        self._strips.clear()

    def on_resize(self) -> None:
        """Lay out for the new size and keep the cursor in view."""
        self._painted.clear()
        self.update()

    def on_mouse_down(self) -> None:
        """Tell that the mouse was pressed here."""
        self.post_message(self.Touched(self))

    def on_click(self, event: events.Click) -> None:
        """Tell which row, or which text above them, was clicked on."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = self._row_at(offset.y)
        if row is not None:
            self.post_message(self.RowClicked(self, self.row_clicked(row), offset.x))
        elif 0 <= offset.y < len(self._head):  # A list that has just moved may get less.
            title = text_at(self._head[offset.y], offset.x).strip()
            self.post_message(self.TitleClicked(self, title, offset.y, offset.x))
