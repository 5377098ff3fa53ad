"""What becomes of the program when the debugger is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.tui.text import Charset

Answer = Literal["stop", "leave", "cancel"]

_CHOICES: tuple[tuple[Answer, str], ...] = (
    ("stop", "s  stop the program and quit"),
    ("leave", "l  leave it running and quit"),
    ("cancel", "c  cancel: stay in the debugger"),
)


class LeavingScreen(ModalScreen[Answer]):
    """Asks whether to stop the program or to leave it running."""

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q,n", "answer('cancel')", "cancel"),
        Binding("s,ctrl+c", "answer('stop')", "stop"),
        Binding("l", "answer('leave')", "leave"),
        Binding("j", "cursor(1)", show=False),
        Binding("k", "cursor(-1)", show=False),
    ]

    DEFAULT_CSS = """
    LeavingScreen { align: center middle; }
    LeavingScreen > OptionList {
        width: 50;
        max-width: 100%;
        height: auto;
        border: round $rule-active;
        background: $surface;
    }
    LeavingScreen > OptionList:focus { border: round $rule-active; }
    LeavingScreen > OptionList.-ascii { border: ascii $rule-active; }
    LeavingScreen > OptionList.-ascii:focus { border: ascii $rule-active; }
    """

    def __init__(self, outcome: str, charset: Charset) -> None:
        super().__init__()
        self._outcome = charset.safe(outcome)
        self._ascii = charset.ascii_only

    def compose(self) -> ComposeResult:
        """See Textual."""
        options = OptionList(*(Option(words) for _, words in _CHOICES))
        options.set_class(self._ascii, "-ascii")
        options.border_title = f"The program is {self._outcome}"
        yield options

    def action_answer(self, answer: Answer) -> None:
        """Answer."""
        self.dismiss(answer)

    def action_cursor(self, rows: int) -> None:
        """Move the cursor."""
        options = self.query_one(OptionList)
        if rows > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the chosen line."""
        self.dismiss(_CHOICES[event.option_index][0])
