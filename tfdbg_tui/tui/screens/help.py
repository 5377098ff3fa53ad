"""The help screen: every action and its keys, from the registry of actions; signs, and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding

from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import ACTIONS, GROUPS
from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.binding import BindingType

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.terminal.text import Charset


_WORDS = {
    "alert": "a tensor that holds NaN or ∞",
    "root": "the tensor that a bug has made bad first; other alerts go back to it",
    "suspect": "no NaN and no ∞, but what leads there, or a layer that cannot learn",
    "proved, likely": "the numbers on record leave no other cause, or make it the most likely one",
    "(counted)": "the program marks no steps: what repeats in it is counted instead",
    "(counted on record)": "the same, where some of that was not recorded and is not counted",
    "after step 7, 7+": "made between two steps, as in a validation",
}
_COLUMN = 80  # cells of a column; as many columns as there is room for, two at most


class HelpScreen(BoxScreen):
    """All keys, by what they are for, and what signs and words mean.

    Args:
        keymap: The keys.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "dismiss", "close")]
    DEFAULT_CSS = f"HelpScreen.-wide > VerticalScroll {{ width: {2 * _COLUMN + 8}; }}"

    def __init__(self, keymap: Keymap, charset: Charset) -> None:
        super().__init__("Keys, signs, words", charset)
        self._keymap = keymap

    def text(self) -> Table:
        """See `BoxScreen`."""
        wide = self.app.size.width >= 2 * _COLUMN + 8
        self.set_class(wide, "-wide")
        page = Table.grid(padding=(0, 2))
        columns = list(map(self._column, _halves() if wide else [GROUPS]))
        self._explain(columns[0], "Signs", self._signs())
        self._explain(columns[-1], "Words", _WORDS)
        page.add_row(*columns)
        return page

    def _explain(self, table: Table, title: str, meanings: Mapping[str, str]) -> None:
        table.add_row(Text(title, style="bold"), "")
        for word, meaning in meanings.items():
            table.add_row(Text(self.charset.safe(word)), Text(self.charset.safe(meaning)))
        table.add_row("", "")

    def _signs(self) -> dict[str, str]:
        """Return what signs in the panes mean."""
        signs, lines = self.charset, self.charset.tree
        return {
            signs.focus: "the chosen row",
            signs.input: "in Graph Execution: an input of the chosen tensor",
            f"{signs.folded} {signs.unfolded}": "folded and unfolded rows: l and h",
            f"{signs.dot}, blank": "among counts: none; not measured",
            "22.6k": "22,600, rounded; 45.1M, 1.2G are millions and more",
            f"{lines.begun} {lines.ended}": "in Graph Structure: above the chosen row what it was "
            "computed from, below it what takes it; a number tells as which input",
            f"{signs.bad} {signs.root}": "in Source Code: ops of the line made NaN or ∞, or a root",
            f"{signs.bars[1]} {signs.bars[-1]}": "on top, and in Timeline: how many of the "
            "executions there are bad; a letter is one, by the name of its op or function",
        }

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
