"""A list of any length: only the rows in view exist.

Ten million rows cost what forty do.  Lines are drawn by `render_line` from cells (text and the
name of a style); a change repaints only the lines that look different afterwards, which is what
keeps the app light over SSH.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widget import Widget

from tfdbg_tui.tui.widgets.cells import CellWidget, highlighted, text_at

if TYPE_CHECKING:
    import re
    from collections.abc import Hashable, Sequence

    from textual import events
    from textual.strip import Strip

    from tfdbg_tui.tui.widgets.cells import Line

_CACHED_STRIPS = 2048


class VirtualList(CellWidget, ScrollView, can_focus=False):
    """Rows under a pinned head and above a pinned foot.

    Subclasses say what there is: `count_rows`, `find_cursor`, `row`, `row_state`, `head`, `foot`,
    and choose columns for the rows in view: `fit_columns`.

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
        """A row was clicked on."""

        pane: VirtualList
        row: int

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.pane

    @dataclass
    class TitleClicked(Message):
        """A text of the pinned head was clicked on."""

        pane: VirtualList
        title: str

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.pane

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.row_count = 0
        self.cursor: int | None = None
        self._strips: dict[Hashable, Strip] = {}
        self._painted: dict[int, Hashable] = {}
        self._drawn: dict[int, Strip] = {}
        self._head: Sequence[Line] = ()
        self._foot: Sequence[Line] = ()
        self._highlighted: Sequence[re.Pattern[str]] = ()
        self._height = 0  # at the last update: asking Textual for each line takes time

    # ---- What subclasses say

    def count_rows(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def find_cursor(self) -> int | None:
        """Return the row to keep in view."""
        return None

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """Return a row's cells, and the style behind all of them."""
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
        self.cursor = self.find_cursor()
        width, height = self.line_width, self.size.height
        self._height = height
        self._head = self.head(width, height)
        self._foot = self.foot(width, height)
        self._set_length(self.row_count + len(self._head) + len(self._foot))
        if self.cursor is not None:
            self.reveal(self.cursor)
        self._fit_columns()
        self._repaint()

    def _fit_columns(self) -> None:
        top = self.scroll_offset.y
        rows = range(top, min(self.row_count, top + self.page_rows))
        if rows:
            self.fit_columns(rows, self.line_width)
            self._head = self.head(self.line_width, self._height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """See Textual: other rows may need other columns."""
        super().watch_scroll_y(old_value, new_value)
        self._fit_columns()

    def _set_length(self, lines: int) -> None:
        """Adapt the scrollbar; without the layout of the whole screen that Textual would do."""
        if lines != self.virtual_size.height:
            self.set_reactive(Widget.virtual_size, Size(1, lines))
            self.vertical_scrollbar.window_virtual_size = lines
            if self.scroll_offset.y > self.max_scroll_y:
                self.scroll_to(y=self.max_scroll_y, animate=False)

    def reveal(self, row: int, *, centre: bool = False) -> None:
        """Scroll until a row is in view: just so if it is near, else to the middle."""
        page = self.page_rows
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

    @property
    def line_width(self) -> int:
        """Width of a line: what the scrollbar leaves."""
        return self.scrollable_content_region.width

    @property
    def page_rows(self) -> int:
        """Number of rows in view."""
        return max(0, self._height - len(self._head) - len(self._foot))

    def _repaint(self) -> None:
        """Refresh the lines that would now look different, those next to each other at once."""
        width, start = self.line_width, None
        for y in range(self._height + 1):
            changed = y < self._height and self._looks_different(y, width)
            if changed and start is None:
                start = y
            elif not changed and start is not None:
                self.refresh(Region(0, start, width, y - start))
                start = None

    def _looks_different(self, y: int, width: int) -> bool:
        key = self._line_key(y)
        if self._painted.get(y, self) == key:
            return False
        if self._drawn.get(y) != self._strip(y, key, width):
            return True
        self._painted[y] = key
        return False

    # ---- Drawing

    def _line_key(self, y: int) -> Hashable:
        row = self._row_at(y)
        return self._pinned(y) if row is None else (row, self.row_state(row))

    def _row_at(self, y: int) -> int | None:
        """Return which row line `y` of the widget shows."""
        if not len(self._head) <= y < self._height - len(self._foot):
            return None
        row = self.scroll_offset.y + y - len(self._head)
        return row if row < self.row_count else None

    def render_line(self, y: int) -> Strip:
        """Draw line `y` of the widget."""
        key = self._painted[y] = self._line_key(y)
        strip = self._drawn[y] = self._strip(y, key, self.line_width)
        return strip

    def _strip(self, y: int, key: Hashable, width: int) -> Strip:
        strip = self._strips.get((key, width))
        if strip is None:
            strip = self._draw(y, width)
            if len(self._strips) >= _CACHED_STRIPS:
                self._strips.clear()
            self._strips[key, width] = strip
        return strip

    def _draw(self, y: int, width: int) -> Strip:
        row = self._row_at(y)
        if row is not None:
            cells, behind = self.row(row, width)
            cells = highlighted(cells, self._highlighted) if self._highlighted else cells
        else:
            cells, behind = self._pinned(y), ""
        return self.strip(cells, behind)

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
            self.post_message(self.RowClicked(self, self.row_clicked(row)))
        elif offset.y < len(self._head):
            title = text_at(self._head[offset.y], offset.x).strip()
            self.post_message(self.TitleClicked(self, title))
