"""The line at the bottom: keys of the focused pane or of a prompt, or a message for a while."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import BY_ID, footer_actions
from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.widgets.cells import width_of

if TYPE_CHECKING:
    from textual import events
    from textual.strip import Strip
    from textual.timer import Timer

    from tfdbg_tui.tui.actions.keymap import Keymap
    from tfdbg_tui.tui.actions.registry import Action
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Line

_MESSAGE_SECONDS = 5.0
_READ_IN_A_SECOND = 12  # characters of a message that takes longer
_MESSAGE_LINES = 3
_ALWAYS = 3  # labels: all actions, help and quit
_OF_ROWS = frozenset({"enter", "filter", "sort", "search"})
_KEYS_OF_PROMPT = (
    ("enter", "does it"),
    ("tab", "completes"),
    ("up", "what was typed before"),
    ("escape", "leaves"),
)


class KeyBar(SessionBar):
    """The keys of the focused pane, or of the prompt below; or a message for a while.

    Attributes:
        message: The message; "" while the keys are shown.
        asked: What the line below asks for; "" where there is none.
        searching: What is being searched for; "" where nothing is.
        zoomed: Whether the focused pane has the whole screen; how to leave that comes first.

    Args:
        session: What is shown and focused.
        charset: The characters to draw with.
        keymap: Which keys actions have.
        id: Its id in the style sheet.
    """

    @dataclass
    class Pressed(Message):
        """A key's label was clicked on."""

        action_id: str

    def __init__(
        self,
        session: Session,
        charset: Charset,
        keymap: Keymap,
        *,
        id: str,  # noqa: A002
    ) -> None:
        super().__init__(session, charset, id=id)
        self.message = ""
        self.asked = ""
        self.searching = ""
        self.zoomed = False
        self._keymap = keymap
        self._message_lines: list[str] = []
        self._timer: Timer | None = None

    def say(self, message: str) -> None:
        """Show a message in place of the keys for some seconds."""
        self.message = message
        self.show()
        if self._timer is not None:
            self._timer.stop()
        seconds = max(_MESSAGE_SECONDS, len(message) / _READ_IN_A_SECOND)
        self._timer = self.set_timer(seconds, self.hush)

    def show(self) -> None:
        """See `Bar`: a message has as many lines as it needs."""
        room = max(1, self.size.width - 2)
        lines = self.charset.wrapped(self.message, room, _MESSAGE_LINES) if self.message else []
        if lines != self._message_lines:
            self._message_lines = lines
            self.styles.height = max(1, len(lines))
            self.refresh()
        super().show()

    def render_line(self, y: int) -> Strip:
        """See `Bar`."""
        more = self._message_lines[y : y + 1] if y else []
        return self.strip(((f" {more[0]}", "match"),)) if more else super().render_line(y)

    def ask(self, what: str) -> None:
        """Tell what is asked for below, and its keys; "" for nothing more."""
        self.asked = what
        self.show()

    def hush(self) -> None:
        """Show the keys again."""
        if self.message:
            self.message = ""
            self.show()

    def line(self, width: int) -> Line:
        """See `Bar`."""
        if self._message_lines:
            return ((f" {self._message_lines[0]}", "match"),)
        if self.asked:
            return self._prompt_line(width)
        if self.searching:
            text = f"searching for {self.searching}{self.charset.ellipsis}"
            return (
                (f" {self.charset.fit(text, width - 13)}", "match"),
                (" Esc", "key"),
                (" stops", "dim"),
            )
        return tuple(cell for _, cells in self._labels(width) for cell in cells)

    def _prompt_line(self, width: int) -> Line:
        """Return what the prompt below asks for, and as many of its keys as there is room for."""
        cells: Line = ((f" {self.asked} ", "match"), (" ", ""))
        for key, label in _KEYS_OF_PROMPT:
            more: Line = ((f" {self._key(key)}", "key"), (f" {label} ", "dim"))
            if width_of((*cells, *more)) <= width:
                cells = (*cells, *more)
        return cells

    def _labels(self, width: int) -> list[tuple[str, Line]]:
        """Return the labels that there is room for; the last ones always."""
        labels: list[tuple[str, Line]] = [
            (
                action.id,
                (
                    (f" {self._key(keys[0])}", "key"),
                    (f" {self.charset.safe(action.label)} ", "dim"),
                ),
            )
            for action in self._actions()
            if (keys := self._keymap.keys(action))
        ]
        while len(labels) > _ALWAYS and sum(width_of(cells) for _, cells in labels) > width:
            del labels[-_ALWAYS - 1]
        return labels

    def _actions(self) -> list[Action]:
        focus = self.session.focus
        actions = [
            self._labelled(action)
            for action in footer_actions(focus.pane)
            if self._does_something(action)
        ]
        searched = self.session.searched
        if searched is not None and searched.pane == focus.pane:
            ends = replace(BY_ID["close_why"], label="ends the search")
            actions[:0] = [BY_ID["search_next"], ends, BY_ID["search_previous"]]
        elif focus.sort_of(focus.pane):
            actions.insert(0, replace(BY_ID["close_why"], label="unsorted"))
        elif focus.filter_of(focus.pane):
            actions.insert(0, replace(BY_ID["close_why"], label="all rows"))
        return [replace(BY_ID["zoom"], label="all panes"), *actions] if self.zoomed else actions

    def _labelled(self, action: Action) -> Action:
        """Return an action with what it does now as its label."""
        if self._is_of_suspects(action):
            return replace(action, label="first suspect")
        if action.id == "bad_branches" and self.session.focus.bad_branches:
            return replace(action, label="all branches")
        return action

    def _does_something(self, action: Action) -> bool:
        """Whether an action does something in the run that is shown."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return action.group == BY_ID["quit"].group
        if action.id in _OF_ROWS and self._lists_nothing(snapshot):
            return False
        return len(snapshot.alerts) > 0 or not action.of_alerts or self._is_of_suspects(action)

    def _lists_nothing(self, snapshot: Snapshot) -> bool:
        """Whether Alerts has the keyboard, and nothing to list."""
        focus = self.session.focus
        if focus.pane != ALERTS.PANE or focus.filter_of(focus.pane):
            return False
        return snapshot.run.progress.complete and not ALERTS.count(snapshot, focus)

    def _is_of_suspects(self, action: Action) -> bool:
        """Whether an action goes to a suspect, as there are no alerts."""
        snapshot = self.session.snapshot
        explanation = snapshot.explanation if snapshot else None
        return (
            action.id == "first_alert"
            and explanation is not None
            and not explanation.report.roots
            and explanation.first is not None
        )

    def _key(self, key: str) -> str:
        return self.charset.safe(shown_key(key))

    def on_click(self, event: events.Click) -> None:
        """Tell which label was clicked on."""
        if self.asked:
            return
        x = 0
        for action_id, cells in self._labels(self.size.width):
            x += width_of(cells)
            if event.x < x:
                self.post_message(self.Pressed(action_id))
                return
