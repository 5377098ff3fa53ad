"""What becomes of the program when the debugger is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import Binding

from tfdbg_tui.tui.screens.choice import ChoiceScreen

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.terminal.text import Charset

_SECONDS = 0.5  # between two looks at the program

Answer = Literal["stop", "leave", "cancel"]

_CHOICES: tuple[tuple[str, Answer], ...] = (
    ("l  leave it running and quit", "leave"),
    ("s  stop the program and quit", "stop"),
    ("c  cancel: stay in the debugger", "cancel"),
)


class LeavingScreen(ChoiceScreen[Answer]):
    """Asks whether to stop the program or to leave it running, which Enter does at first.

    Args:
        program: The program; where it ends meanwhile there is nothing to ask.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,c,q,n", "answer('cancel')", "cancel"),
        Binding("s,ctrl+c", "answer('stop')", "stop"),
        Binding("l", "answer('leave')", "leave"),
    ]

    DEFAULT_CSS = "LeavingScreen > OptionList { width: 50; }"

    def __init__(self, program: Program, charset: Charset) -> None:
        super().__init__(charset.safe(f"The program is {program.outcome}"), _CHOICES, charset)
        self._program = program

    def on_mount(self) -> None:
        """Look from time to time whether the program still runs."""
        self.set_interval(_SECONDS, self._look)

    def _look(self) -> None:
        if not self._program.running:
            self.dismiss("cancel")

    def action_answer(self, answer: Answer) -> None:
        """Answer."""
        self.dismiss(answer)
