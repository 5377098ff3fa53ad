"""The choice of a run, where a logdir holds several."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.tui.text import Charset


class RunsScreen(ModalScreen[str]):
    """A list of runs, the newest first; gives the label of the chosen one."""

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor(1)", show=False),
        Binding("k", "cursor(-1)", show=False),
        Binding("q", "app.quit", "quit"),
        Binding("escape", "close", "stay"),
    ]

    DEFAULT_CSS = """
    RunsScreen { align: center middle; }
    RunsScreen > OptionList {
        width: 100;
        max-width: 100%;
        height: auto;
        max-height: 80%;
        border: round $rule-active;
        background: $surface;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    RunsScreen > OptionList:focus { border: round $rule-active; }
    RunsScreen > OptionList.-ascii { border: ascii $rule-active; }
    RunsScreen > OptionList.-ascii:focus { border: ascii $rule-active; }
    """

    def __init__(
        self, runs: Sequence[RunFiles], charset: Charset, *, can_close: bool = False
    ) -> None:
        super().__init__()
        self._can_close = can_close
        self._runs = list(reversed(runs))
        self._charset = charset

    def compose(self) -> ComposeResult:
        """See Textual."""
        options = OptionList(*(Option(self._describe(files)) for files in self._runs))
        options.set_class(self._charset.ascii_only, "-ascii")
        options.border_title = "The runs of this logdir: choose one"
        options.border_subtitle = f"Enter opens, {'Esc closes' if self._can_close else 'q quits'}"
        yield options

    def action_close(self) -> None:
        """Stay with the run that is shown; without one, a choice has to be made."""
        if self._can_close:
            self.dismiss(None)

    def action_cursor(self, rows: int) -> None:
        """Move the cursor."""
        options = self.query_one(OptionList)
        if rows > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a run."""
        self.dismiss(self._runs[event.option_index].label)

    def _describe(self, files: RunFiles) -> Content:
        when = "unknown time"
        if files.started_at:
            when = datetime.fromtimestamp(files.started_at).strftime("%Y-%m-%d %H:%M:%S")
        version = f"TensorFlow {files.tensorflow_version}" if files.tensorflow_version else ""
        return Content.assemble(
            (f"{when}  ", "bold"),
            self._charset.safe(f"{files.label}  "),
            (self._charset.safe(f"{version}  {files.directory}"), "dim"),
        )
