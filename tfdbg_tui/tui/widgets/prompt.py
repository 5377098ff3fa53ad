"""The line at the bottom to type a search or a destination into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from textual import events

Purpose = Literal["search", "goto"]

_PLACEHOLDERS: dict[Purpose, str] = {
    "search": "search in this pane",
    "goto": "index, trace:88, exec:12, alert:3, op name, file.py:120",
}


class Prompt(Input):
    """Asks for one line; Enter answers, Escape does not."""

    @dataclass
    class Answered(Message):
        """The user has typed an answer; an empty one for Escape."""

        purpose: Purpose
        text: str

    def __init__(self, purpose: Purpose) -> None:
        super().__init__(placeholder=_PLACEHOLDERS[purpose], id="prompt", compact=True)
        self._purpose: Purpose = purpose

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what has been typed."""
        event.stop()
        self.post_message(self.Answered(self._purpose, event.value))

    def on_key(self, event: events.Key) -> None:
        """Give up on Escape."""
        if event.key == "escape":
            event.stop()
            self.post_message(self.Answered(self._purpose, ""))
