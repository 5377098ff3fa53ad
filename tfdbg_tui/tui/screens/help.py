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
    from collections.abc import Sequence

    from textual.binding import BindingType

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.terminal.text import Charset


_WORDS = {
    "(counted)": "the program marks no steps: what repeats in it is counted instead",
    "(counted on record)": "the same, where some of that was not recorded and is not counted",
    "after step 7, 7+": "made between two steps, as in a validation",
}
_COLUMN = 80  # cells of a column; as many columns as there is room for, two at most


class HelpScreen(BoxScreen):
    """All keys, by what they are for.

    Args:
        keymap: The keys.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "dismiss", "close")]
    DEFAULT_CSS = f"HelpScreen.-wide > VerticalScroll {{ width: {2 * _COLUMN + 8}; }}"

    def __init__(self, keymap: Keymap, charset: Charset) -> None:
        super().__init__("Keys", charset)
        self._keymap = keymap

    def text(self) -> Table:
        """See `BoxScreen`."""
        wide = self.app.size.width >= 2 * _COLUMN + 8
        self.set_class(wide, "-wide")
        page = Table.grid(padding=(0, 2))
        columns = list(map(self._column, _halves() if wide else [GROUPS]))
        columns[-1].add_row(Text("Words", style="bold"), "")
        for word, meaning in _WORDS.items():
            columns[-1].add_row(Text(word), Text(self.charset.safe(meaning)))
        page.add_row(*columns)
        return page

    def _column(self, groups: Sequence[str]) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column()
        style = self.app.get_css_variables()["rule-active"]
        for group in groups:
            table.add_row(Text(group, style="bold"), "")
            for action in (action for action in ACTIONS if action.group == group):
                keys = " ".join(map(shown_key, self._keymap.keys(action)))
                told = self.charset.safe(action.help.replace("`", ""))
                table.add_row(Text(self.charset.safe(keys), style=style), Text(told))
            table.add_row("", "")
        return table


def _halves() -> tuple[Sequence[str], Sequence[str]]:
    """Return the groups in two parts with about as many actions each."""
    sizes = [sum(action.group == group for action in ACTIONS) for group in GROUPS]
    ends = [abs(2 * sum(sizes[:end]) - sum(sizes)) for end in range(len(GROUPS) + 1)]
    end = ends.index(min(ends))
    return GROUPS[:end], GROUPS[end:]
