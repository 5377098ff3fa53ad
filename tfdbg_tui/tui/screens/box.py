"""Text in a box over the panes, to scroll and to close."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen, unknown_key
from tfdbg_tui.tui.widgets.scrollbars import draw_scrollbar

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.visual import VisualType

    from tfdbg_tui.tui.terminal.text import Charset

_CLOSES = "Esc closes"


class BoxScreen(OnlyWhileOpen, ModalScreen[None]):
    """A box with text; subclasses say which.

    Args:
        title: What stands on the box.
        charset: The characters to draw with.

    Attributes:
        charset: The same.
        box: The box.
        body: The text in it.
    """

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace", "dismiss", "close"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
        Binding("space", "scroll_page", show=False),
    ]

    DEFAULT_CSS = """
    BoxScreen { align: center middle; }
    BoxScreen > VerticalScroll {
        width: 84;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        padding: 0 2;
        border: round $rule-active;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    BoxScreen > VerticalScroll.-ascii { border: ascii $rule-active; }
    """

    def __init__(self, title: str | Content, charset: Charset) -> None:
        super().__init__()
        self.charset = charset
        self.box = VerticalScroll()
        self.box.border_title = title
        self.body = Static()

    def text(self) -> VisualType:
        """Return what is in the box."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """See Textual."""
        box = self.box
        box.border_subtitle = _CLOSES
        box.set_class(self.charset.ascii_only, "-ascii")
        draw_scrollbar(box, self.charset)
        self.body.update(self.text())
        with box:
            yield self.body

    def on_key(self, event: events.Key) -> None:
        """Say so of a key that does nothing here, until the next one."""
        key = unknown_key(self, event)
        told = f"{key} does nothing here  " if key else ""
        self.box.border_subtitle = Content(told + _CLOSES)

    def action_scroll_page(self) -> None:
        """Scroll by a page."""
        self.box.scroll_page_down(animate=False)

    def action_scroll(self, rows: int) -> None:
        """Scroll by a row."""
        self.box.scroll_relative(y=rows, animate=False)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self.box.scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        """Go to the end."""
        self.box.scroll_end(animate=False)
