"""The help screen: every action and its keys, from the registry of actions."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding

from tfdbg_tui.tui.actions import ACTIONS, key_name
from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tfdbg_tui.tui.keymap import Keymap
    from tfdbg_tui.tui.text import Charset


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
        for group, actions in groupby(sorted(ACTIONS, key=_group), key=lambda a: a.group):
            table.add_row(Text(group, style="bold"), "")
            for action in actions:
                keys = " ".join(map(key_name, self._keymap.keys(action)))
                told = self.charset.safe(action.help)
                table.add_row(Text(self.charset.safe(keys), style=style), Text(told))
            table.add_row("", "")
        return table


def _group(action: object) -> int:
    groups = list(dict.fromkeys(a.group for a in ACTIONS))
    return groups.index(action.group)  # type: ignore[attr-defined]
