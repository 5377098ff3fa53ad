"""The line at the bottom to type a search or a destination into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

Purpose = Literal["search", "goto", "filter", "sort"]

_PLACEHOLDERS: dict[Purpose, str] = {
    "search": "search in this pane",
    "filter": "type=Relu fn=loss line=train.py:19 step=6..9 zero>90% nan bad !word /regex/",
    "sort": "a column, or its beginning; nothing for the list's own order",
    "goto": "index, trace:88, exec:12, alert:3, step:6, op name, file.py:120",
}


class Prompt(Input):
    """Asks for one line; Enter answers, Escape does not.

    Args:
        purpose: What is asked for.
        text: What stands in the line at first.
        known: What was answered before, the newest last.
    """

    @dataclass
    class Answered(Message):
        """The user has typed an answer, or given up, with an empty one."""

        purpose: Purpose
        text: str
        given_up: bool = False

    @dataclass
    class Typed(Message):
        """The user has typed a part of an answer."""

        purpose: Purpose
        text: str

    def __init__(self, purpose: Purpose, text: str = "", known: Sequence[str] = ()) -> None:
        placeholder = _PLACEHOLDERS[purpose]
        super().__init__(
            text, placeholder=placeholder, id="prompt", compact=True, select_on_focus=False
        )
        self._purpose: Purpose = purpose
        self._known = [*known, ""]
        self._shown = len(known)
        self._is_answered = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what has been typed."""
        event.stop()
        self._answer(event.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what has been typed so far."""
        event.stop()
        if not self._is_answered:
            self.post_message(self.Typed(self._purpose, event.value))

    def on_key(self, event: events.Key) -> None:
        """Give up on Escape; go through what was answered before by Up and Down."""
        if event.key in ("up", "down"):
            event.stop()
            self._shown += 1 if event.key == "down" else -1
            self._shown = min(max(0, self._shown), len(self._known) - 1)
            self.value = self._known[self._shown]
            self.cursor_position = len(self.value)
        elif event.key == "escape":
            event.stop()
            self._answer("", given_up=True)

    def _answer(self, text: str, *, given_up: bool = False) -> None:
        """Answer once: keys may come until the prompt has been removed."""
        if not self._is_answered:
            self._is_answered = True
            self.post_message(self.Answered(self._purpose, text, given_up))
