"""What the program printed: the end of its log, kept up to date."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.text import Charset

_TAIL_BYTES = 256 << 10
_SECONDS = 0.5
_WITHOUT_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x08+")


class OutputScreen(ModalScreen[None]):
    """The last lines of a program's output; stays at the end unless scrolled away from it."""

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,O,backspace", "dismiss", "close"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("G", "end", show=False),
        Binding("g", "start", show=False),
    ]

    DEFAULT_CSS = """
    OutputScreen > VerticalScroll {
        width: 100%;
        height: 100%;
        border: round $rule-active;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    OutputScreen > VerticalScroll.-ascii { border: ascii $rule-active; }
    """

    def __init__(self, program: Program, charset: Charset) -> None:
        super().__init__()
        self._program = program
        self._charset = charset
        self._log_size = -1
        self._state = ""

    def compose(self) -> ComposeResult:
        """See Textual."""
        box = VerticalScroll(Static(id="output", markup=False))
        box.set_class(self._charset.ascii_only, "-ascii")
        yield box

    def on_mount(self) -> None:
        """Show the log, now and whenever it has grown."""
        self._refresh_log()
        self.set_interval(_SECONDS, self._refresh_log)

    def action_scroll(self, rows: int) -> None:
        """Scroll by a row."""
        self._box.scroll_relative(y=rows, animate=False)

    def action_end(self) -> None:
        """Go to the end."""
        self._box.scroll_end(animate=False)

    def action_start(self) -> None:
        """Go to the beginning of what is shown."""
        self._box.scroll_home(animate=False)

    @property
    def _box(self) -> VerticalScroll:
        return self.query_one(VerticalScroll)

    def _refresh_log(self) -> None:
        state = f"Output of the program: {self._program.outcome}"
        if state != self._state:
            self._state = state
            self._box.border_title = Content(self._charset.safe(state))
            self._box.border_subtitle = Content("Esc closes")
        try:
            size = os.path.getsize(self._program.log_path)
            if size == self._log_size:
                return
            text = _tail(self._program.log_path)
        except OSError as error:
            text = f"{self._program.log_path}: cannot be read: {error.strerror}"
            size = -1
        at_end = self._log_size < 0 or self._box.scroll_offset.y >= self._box.max_scroll_y
        self._log_size = size
        lines = [self._charset.safe(line) for line in text.split("\n")]
        self.query_one("#output", Static).update(Content("\n".join(lines)))
        if at_end:
            self._box.scroll_end(animate=False)


def _tail(path: str) -> str:
    """Return the end of a log; of lines that were drawn over, only the last state."""
    with open(path, "rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - _TAIL_BYTES))
        text = log.read().decode("utf-8", "replace")
    if size > _TAIL_BYTES:
        text = text.partition("\n")[2]
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_drawn_last(line) for line in lines) or "The program has printed nothing yet."


def _drawn_last(line: str) -> str:
    """Return what a carriage return, as of a progress bar, leaves of a line."""
    states = [state for state in line.split("\r") if state]
    return _WITHOUT_COLOURS.sub("", states[-1]) if states else ""
