"""The help screen: every action and its keys, from the registry of actions."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tfdbg_tui.tui.actions import ACTIONS, key_name

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.tui.keymap import Keymap


class HelpScreen(ModalScreen[None]):
    """All keys, by what they are for."""

    AUTO_FOCUS = "*"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,backspace", "dismiss", "close"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > VerticalScroll {
        width: 84;
        max-width: 100%;
        height: auto;
        max-height: 100%;
        padding: 0 2;
        border: round $rule-active;
        background: $surface;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        """See Textual."""
        box = VerticalScroll(Static(self._table()))
        box.border_title = "Keys"
        box.border_subtitle = "Esc closes"
        yield box

    def action_scroll(self, rows: int) -> None:
        """Scroll by a row."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        variables = self.app.get_css_variables()
        for group, actions in groupby(sorted(ACTIONS, key=_group), key=lambda a: a.group):
            table.add_row(Text(group, style="bold"), "")
            for action in actions:
                keys = " ".join(map(key_name, self._keymap.keys(action)))
                table.add_row(Text(keys, style=variables["rule-active"]), Text(action.help))
            table.add_row("", "")
        return table


def _group(action: object) -> int:
    groups = list(dict.fromkeys(a.group for a in ACTIONS))
    return groups.index(action.group)  # type: ignore[attr-defined]
