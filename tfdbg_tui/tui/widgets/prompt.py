"""The line at the bottom to type a search or a destination into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events

    from tfdbg_tui.tui.widgets.candidates import Candidate, Candidates

Purpose = Literal["search", "goto", "filter", "sort", "mark", "to_mark"]

_PLACEHOLDERS: dict[Purpose, str] = {
    "search": "search in this pane",
    "filter": "type=Relu fn=loss line=train.py:19 step=6..9 zero>90% nan bad !word /regex/",
    "sort": "a column, or its beginning; nothing for the list's own order",
    "mark": "a letter, and a note if you like: a the loss scale drops here",
    "to_mark": "the letter of a mark",
    "goto": "index, trace:88, exec:12, alert:3, step:6, fn:loss, op name, file.py:120",
}

ASKED: dict[Purpose, str] = {
    "search": "search",
    "filter": "filter",
    "sort": "sort by",
    "mark": "mark",
    "to_mark": "go to the mark",
    "goto": "go to",
}
"""What each purpose asks for, in words."""


class Prompt(Input):
    """Asks for one line; Enter answers, Escape does not.

    Its messages go to the app itself, as they have to come in order.

    Args:
        purpose: What is asked for.
        text: What stands in the line at first.
        known: What was answered before, the newest last.
        suggest: Returns what a text may become.
        candidates: Shows that; Tab goes through it.
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

    @dataclass
    class KeyAfterAnswer(Message):
        """A key was pressed after the answer, before the prompt was removed."""

        key: str
        character: str | None

    def __init__(
        self,
        purpose: Purpose,
        text: str,
        known: Sequence[str],
        suggest: Callable[[str], Sequence[Candidate]],
        candidates: Candidates,
    ) -> None:
        placeholder = _PLACEHOLDERS[purpose]
        super().__init__(
            text, placeholder=placeholder, id="prompt", compact=True, select_on_focus=False
        )
        self._purpose: Purpose = purpose
        self._known = [*known, ""]
        self._shown = len(known)
        self._suggest = suggest
        self._candidates = candidates
        self._completed: str | None = None
        self._told = text  # what stands there at first nobody has typed
        self._is_answered = False

    def ask_again(self) -> None:
        """Take another answer: what was typed cannot be done, and stays to be corrected."""
        self._is_answered = False

    def on_mount(self) -> None:
        """Show what may be typed."""
        self._candidates.offer(self._suggest(self.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what has been typed so far, unless more has been since: that is told next."""
        event.stop()
        if self._is_answered or event.value != self.value or event.value == self._told:
            return
        self._told = event.value
        if self._purpose == "to_mark" and event.value:
            self._answer(event.value)
            return
        if event.value != self._completed:
            self._completed = None
            self._candidates.offer(self._suggest(event.value))
        self.app.post_message(self.Typed(self._purpose, event.value))

    def on_key(self, event: events.Key) -> None:
        """Give up on Escape; Up and Down have what was answered before, Tab what may be meant."""
        if self._is_answered:
            event.stop()
            event.prevent_default()
            self.app.post_message(self.KeyAfterAnswer(event.key, event.character))
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._answer(self.value)
        elif event.key in ("up", "down"):
            event.stop()
            self._shown += 1 if event.key == "down" else -1
            self._shown = min(max(0, self._shown), len(self._known) - 1)
            self.value = self._known[self._shown]
            self.cursor_position = len(self.value)
        elif event.key in ("tab", "shift+tab"):
            event.stop()
            event.prevent_default()
            self._complete(1 if event.key == "tab" else -1)
        elif event.key == "escape":
            event.stop()
            self._answer("", given_up=True)

    def _complete(self, step: int) -> None:
        completed = self._candidates.choose(step)
        if completed is not None:
            self._completed = self.value = completed
            self.cursor_position = len(completed)

    def _answer(self, text: str, *, given_up: bool = False) -> None:
        """Answer once: keys may come until the prompt has been removed."""
        if not self._is_answered:
            self._is_answered = True
            self.app.post_message(self.Answered(self._purpose, text, given_up))
