"""The help screen: every action and its keys, from the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding

from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import ACTIONS, GROUPS
from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.terminal.text import Charset


class HelpScreen(BoxScreen):
    """All keys, by what they are for.

    Args:
        keymap: The keys.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "dismiss", "close")]

    def __init__(self, keymap: Keymap, charset: Charset) -> None:
        super().__init__("Keys", charset)
        self._keymap = keymap

    def text(self) -> Table:
        """See `BoxScreen`."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        style = self.app.get_css_variables()["rule-active"]
        for group in GROUPS:
            table.add_row(Text(group, style="bold"), "")
            for action in (action for action in ACTIONS if action.group == group):
                keys = " ".join(map(shown_key, self._keymap.keys(action)))
                told = self.charset.safe(action.help)
                table.add_row(Text(self.charset.safe(keys), style=style), Text(told))
            table.add_row("", "")
        return table
