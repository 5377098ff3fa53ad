"""What is wrong with the dump and what it cannot tell, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.tui.text import Charset


class NotesScreen(ModalScreen[None]):
    """Some sentences.

    Args:
        notes: The sentences.
        charset: The characters to draw with.
    """

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,exclamation_mark,backspace", "dismiss", "close"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    DEFAULT_CSS = """
    NotesScreen { align: center middle; }
    NotesScreen > VerticalScroll {
        width: 84;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        padding: 0 2;
        border: round $rule-active;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    App.-ascii NotesScreen > VerticalScroll { border: ascii $rule-active; }
    """

    def __init__(self, notes: Sequence[str], charset: Charset) -> None:
        super().__init__()
        self._text = Content("\n\n".join(map(charset.sentence, notes)))

    def compose(self) -> ComposeResult:
        """See Textual."""
        box = VerticalScroll(Static(self._text))
        box.border_title = "Notes on this dump"
        box.border_subtitle = "Esc closes"
        yield box

    def action_scroll(self, rows: int) -> None:
        """Scroll by a row."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)
