"""A list that takes the whole screen, in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tfdbg_tui.tui.screens.list_keys import ListKeysScreen
from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen, unknown_key
from tfdbg_tui.tui.widgets.names import least_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.tui.screens.list_keys import ListKey
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.virtual_list import VirtualList

Result = TypeVar("Result")

_NO_FURTHER = {1: "no later one", -1: "no earlier one"}
_ALWAYS = ("? keys", "Esc closes")
_LEAST_SHARE = 3  # of a title is for its name, so that what follows tells something
_CORNERS = 8  # cells of the frame beside its title, and between a name and what follows it


class ListScreen(OnlyWhileOpen, ModalScreen[Result]):
    """A list in a frame; subclasses say which.

    Args:
        shown: The list.
        keys: The keys that it has, besides those that all such lists have.
        charset: The characters to draw with.
    """

    AUTO_FOCUS = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace", "leave", "close"),
        Binding("n", "to_bad(1)", show=False),
        Binding("N", "to_bad(-1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("question_mark,f1", "keys", show=False),
    ]

    DEFAULT_CSS = """
    ListScreen { align: center middle; }
    ListScreen > Vertical {
        width: 100%;
        height: 100%;
        border: round $rule-active;
        background: $surface;
    }
    ListScreen > Vertical.-ascii { border: ascii $rule-active; }
    ListScreen VirtualList { height: 1fr; background: $surface; }
    """

    def __init__(self, shown: VirtualList, keys: Sequence[ListKey], charset: Charset) -> None:
        super().__init__()
        self._list = shown
        self._keys = keys
        self._charset = charset
        self._box = Vertical(classes="-ascii" if charset.ascii_only else "")
        self._told = ""

    def compose(self) -> ComposeResult:
        """See Textual."""
        self._box.border_title = self._title()
        self._box.border_subtitle = self._labels()
        with self._box:
            yield self._list

    def _title(self) -> Content:
        text = self._charset.safe(self.title_text())
        name, room = self._charset.safe(self.title_name()), self.app.size.width - _CORNERS
        least = min(least_width(name), room // _LEAST_SHARE)
        name = self._charset.fit_name(name, max(room - cell_len(text), least)).rstrip()
        text = self._charset.fit(text, min(cell_len(text), max(0, room - cell_len(name))))
        return Content(f"{name}  {text}" if name else text)

    def _labels(self) -> Content:
        """Return as many keys that do something as there is room for; the last ones always.

        In place of the others what there is to say about the last key.
        """
        idle = self.idle_keys()
        named = [key for key in self._keys if key.label and key.key not in idle]
        labels = [self._told] if self._told else [f"{key.key} {key.label}" for key in named]
        room = self.app.size.width - _CORNERS
        while len(told := "  ".join([*labels, *_ALWAYS])) > room and labels:
            labels.pop()
        return Content(told)

    def idle_keys(self) -> Mapping[str, str]:
        """Return the keys that do nothing with what is shown, and why."""
        return {}

    def on_key(self, event: events.Key) -> None:
        """Say so of a key that does nothing in any such list."""
        key = unknown_key(self, event)
        if key:
            self.show(f"{key} does nothing here")

    def tell_idle(self, key: str) -> bool:
        """Say why a key does nothing with what is shown; return whether it does nothing."""
        why = self.idle_keys().get(key, "")
        if why:
            self.show(why)
        return bool(why)

    def show_moved(self, moved: bool, direction: int) -> None:
        """Show the present state; where it is the same as before, say that there is no other.

        Args:
            moved: Whether another place is looked at.
            direction: Which one was asked for: 1 or -1.
        """
        self.show("" if moved else _NO_FURTHER[direction])

    def title_name(self) -> str:
        """Return the name that stands on the frame, before `title_text`; "" for none."""
        return ""

    def title_text(self) -> str:
        """Return what else stands on the frame."""
        raise NotImplementedError

    def action_to_bad(self, step: int) -> None:
        """Go to the next bad one, or the one before."""
        raise NotImplementedError

    def action_page(self, pages: int) -> None:
        """Go some pages on."""
        raise NotImplementedError

    def show(self, told: str = "") -> None:
        """Show the present state, and until that is shown again what there is to say."""
        self._told = self._charset.sentence(told)
        self._box.border_title, self._box.border_subtitle = self._title(), self._labels()
        self._list.update()

    def action_keys(self) -> None:
        """Show all keys."""
        self.app.push_screen(ListKeysScreen(self._keys, self._charset))

    async def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
