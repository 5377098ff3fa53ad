"""What the program printed: the end of its log, kept up to date."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.terminal.text import Charset

NOTHING = "The program has printed nothing yet."
_TAIL_BYTES = 256 << 10
_LONGEST_LINE = 2000
_SECONDS = 0.5
_WITHOUT_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x08+")


class OutputScreen(BoxScreen):
    """The last lines of a program's output; stays at the end unless scrolled away from it.

    Args:
        path: The file that the output goes to.
        program: The program, where this debugger has started it.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("O", "dismiss", "close")]

    DEFAULT_CSS = "OutputScreen > VerticalScroll { width: 100%; height: 100%; padding: 0; }"

    def __init__(self, path: str, program: Program | None, charset: Charset) -> None:
        super().__init__("", charset)
        self._path = path
        self._program = program
        self._log_size = -1

    def text(self) -> Content:
        """See `BoxScreen`: nothing until the log has been read."""
        return Content()

    def on_mount(self) -> None:
        """Show the log, now and whenever it has grown."""
        self._show_log()
        self.set_interval(_SECONDS, self._show_log)

    def _show_log(self) -> None:
        title = "Output of the program"
        if self._program is not None:
            title += f": {self.charset.safe(self._program.outcome)}"
        self.box.border_title = Content(title)
        try:
            size = os.path.getsize(self._path)
            if size == self._log_size:
                return
            text = tail(self._path)
        except OSError as error:
            text = f"{self._path}: cannot be read: {error.strerror}"
            size = -1
        at_end = self._log_size < 0 or self.box.scroll_offset.y >= self.box.max_scroll_y
        self._log_size = size
        lines = [self.charset.safe(line) for line in text.split("\n")]
        self.body.update(Content("\n".join(lines)))
        if at_end:
            self.action_scroll_end()


def tail(path: str) -> str:
    """Return the end of a log; of lines that were drawn over, only the last state."""
    with open(path, "rb") as log:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - _TAIL_BYTES))
        text = log.read().decode("utf-8", "replace")
    if size > _TAIL_BYTES:
        text = text.partition("\n")[2] or text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_drawn_last(line) for line in lines) or NOTHING


def _drawn_last(line: str) -> str:
    """Return what a carriage return, as of a progress bar, leaves of a line."""
    states = [state for state in line.split("\r") if state]
    return _shortened(_WITHOUT_COLOURS.sub("", states[-1])) if states else ""


def _shortened(line: str) -> str:
    more = len(line) - _LONGEST_LINE
    return line if more <= 0 else f"{line[:_LONGEST_LINE]}\n… {more:,} more characters"
