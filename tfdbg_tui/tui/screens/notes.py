"""What is wrong with the dump and what it cannot tell, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from tfdbg_tui.tui.terminal.text import Charset


class NotesScreen(BoxScreen):
    """Some sentences.

    Args:
        notes: The sentences.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("exclamation_mark", "dismiss", "close")]

    def __init__(self, notes: Sequence[str], charset: Charset) -> None:
        super().__init__("Notes on this dump", charset)
        self._notes = notes

    def text(self) -> Content:
        """See `BoxScreen`."""
        # A command to run stands in a line of its own.
        lines = (note.split("\n") for note in self._notes)
        return Content("\n\n".join("\n".join(map(self.charset.sentence, note)) for note in lines))
