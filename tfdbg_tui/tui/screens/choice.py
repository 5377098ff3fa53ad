"""Some lines in a box over the panes, to choose one of."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets.option_list import Option

from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen
from tfdbg_tui.tui.screens.palette import Options
from tfdbg_tui.tui.widgets.scrollbars import draw_scrollbar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.visual import VisualType
    from textual.widgets import OptionList

    from tfdbg_tui.tui.terminal.text import Charset

Answer = TypeVar("Answer")


class ChoiceScreen(OnlyWhileOpen, ModalScreen[Answer]):
    """A box with lines; gives the answer that the chosen one stands for.

    Args:
        title: What stands on the box.
        choices: The lines, and the answer that each of them stands for.
        charset: The characters to draw with.
        hint: What stands under the box.
    """

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor(1)", show=False),
        Binding("k", "cursor(-1)", show=False),
    ]

    DEFAULT_CSS = """
    ChoiceScreen { align: center middle; }
    ChoiceScreen > OptionList {
        max-width: 100%;
        height: auto;
        max-height: 80%;
        border: round $rule-active;
        background: $surface;
    }
    ChoiceScreen > OptionList:focus { border: round $rule-active; }
    ChoiceScreen > OptionList.-ascii { border: ascii $rule-active; }
    ChoiceScreen > OptionList.-ascii:focus { border: ascii $rule-active; }
    """

    def __init__(
        self,
        title: str,
        choices: Sequence[tuple[VisualType, Answer]],
        charset: Charset,
        *,
        hint: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._charset = charset
        self._hint = hint

    def compose(self) -> ComposeResult:
        """See Textual."""
        options = Options(*(Option(line) for line, _ in self._choices))
        options.set_class(self._charset.ascii_only, "-ascii")
        draw_scrollbar(options, self._charset)
        options.border_title = Content(self._title)
        options.border_subtitle = self._hint
        yield options

    def action_cursor(self, rows: int) -> None:
        """Move the cursor by a row."""
        options = self.query_one(Options)
        if rows > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the chosen line."""
        self.dismiss(self._choices[event.option_index][1])
