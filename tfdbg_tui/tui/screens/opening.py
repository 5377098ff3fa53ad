"""Asks before a file that lies elsewhere is opened in an editor: a logdir has named it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from tfdbg_tui.tui.screens.choice import ChoiceScreen

if TYPE_CHECKING:
    from textual.binding import BindingType
    from textual.visual import VisualType

    from tfdbg_tui.tui.terminal.text import Charset


class OpeningScreen(ChoiceScreen[bool]):
    """Shows a path and asks whether to open it.

    Args:
        file: The file.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q,n", "answer(False)", "cancel"),
        Binding("o,y", "answer(True)", "open"),
    ]

    DEFAULT_CSS = "OpeningScreen > OptionList { width: 84; }"

    def __init__(self, file: str, charset: Charset) -> None:
        choices: list[tuple[VisualType, bool]] = [
            ("c  cancel", False),
            (Content(f"o  open {charset.safe(file)}"), True),
        ]
        super().__init__("The dump names a file outside of the working directory", choices, charset)

    def action_answer(self, answer: bool) -> None:
        """Answer."""
        self.dismiss(answer)
