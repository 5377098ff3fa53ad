"""The scrollbars of a terminal that has ASCII characters alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.scrollbar import ScrollBarRender

if TYPE_CHECKING:
    from textual.widget import Widget

    from tfdbg_tui.tui.terminal.text import Charset


class AsciiScrollBar(ScrollBarRender):
    """A scrollbar without fractions of a cell."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8


def draw_scrollbar(widget: Widget, charset: Charset) -> None:
    """Let the scrollbar of a widget be drawn with the characters that there are."""
    if charset.ascii_only:
        widget.vertical_scrollbar.renderer = AsciiScrollBar  # type: ignore[misc]  # as documented
