"""The keys of a list that takes the whole screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.table import Table
from rich.text import Text
from textual.binding import Binding

from tfdbg_tui.tui.screens.box import BoxScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from tfdbg_tui.tui.terminal.text import Charset


class ListKey(NamedTuple):
    """A key, or several, of a list.

    Attributes:
        key: The key.
        label: What it does, in a word or two; "" for what is only told in full.
        help: What it does.
    """

    key: str
    label: str
    help: str


IN_ALL = (
    ListKey("N", "", "go to the bad one before"),
    ListKey("Up Down PgUp PgDn", "", "move"),
    ListKey("g G", "", "go to the beginning, to the end"),
    ListKey("Esc q", "", "close"),
)
"""The keys that all of them have."""


class ListKeysScreen(BoxScreen):
    """The keys of a list.

    Args:
        keys: The keys.
        charset: The characters to draw with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "dismiss", "close")]

    def __init__(self, keys: Sequence[ListKey], charset: Charset) -> None:
        super().__init__("Keys", charset)
        self._keys = keys

    def text(self) -> Table:
        """See `BoxScreen`."""
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        style = self.app.get_css_variables()["rule-active"]
        for key in (*self._keys, *IN_ALL):
            table.add_row(Text(key.key, style=style), Text(self.charset.safe(key.help)))
        return table
