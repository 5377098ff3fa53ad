"""The choice of a run, where a logdir holds several."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from tfdbg_tui.tui.screens.choice import ChoiceScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.tui.terminal.text import Charset


class RunsScreen(ChoiceScreen[str]):
    """A list of runs, the newest first; gives the label of the chosen one.

    Args:
        runs: The runs, oldest first.
        charset: The characters to draw with.
        can_close: Whether there is a run to stay with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.quit", "quit"),
        Binding("escape", "close", "stay"),
    ]

    DEFAULT_CSS = """
    RunsScreen > OptionList { width: 100; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(
        self, runs: Sequence[RunFiles], charset: Charset, *, can_close: bool = False
    ) -> None:
        super().__init__(
            "The runs of this logdir: choose one",
            [(_describe(files, charset), files.label) for files in reversed(runs)],
            charset,
            hint=f"Enter opens, {'Esc closes' if can_close else 'q quits'}",
        )
        self._can_close = can_close

    def action_close(self) -> None:
        """Stay with the run that is shown; without one, a choice has to be made."""
        if self._can_close:
            self.dismiss(None)


def _describe(files: RunFiles, charset: Charset) -> Content:
    when = "unknown time"
    if files.started_at:
        when = datetime.fromtimestamp(files.started_at).strftime("%Y-%m-%d %H:%M:%S")
    version = f"TensorFlow {files.tensorflow_version}" if files.tensorflow_version else ""
    return Content.assemble(
        (f"{when}  ", "bold"),
        charset.safe(f"{files.label}  "),
        (charset.safe(f"{version}  {files.directory}"), "dim"),
    )
