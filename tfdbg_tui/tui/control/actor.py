"""Doing the actions of the registry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.actions.registry import BY_ID
from tfdbg_tui.tui.control.counts import Counts
from tfdbg_tui.tui.panes import PANES

if TYPE_CHECKING:
    from tfdbg_tui.tui.actions.registry import Action
    from tfdbg_tui.tui.control.commands import Commands
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts

_SEARCHES = ("search_next", "search_previous")
_STAY = frozenset(
    {
        *("quit", "next_pane", "previous_pane", "zoom", "help", "redraw", "suspend"),
        *("wider", "narrower", "higher", "lower", "usual_sizes"),
        *("notes", "output", "palette", "values", "history", "layers"),
        *("copy", "copy_link", "copy_diagnosis", "edit", "recording", "record_values"),
        *(f"pane_{spec.name}" for spec in PANES),
    }
)  # they lead to no other event
_WITHOUT_RUN = frozenset(
    {
        *("quit", "help", "palette", "redraw", "suspend", "close_why"),
        *("follow", "pause", "output", "runs"),
    }
)
_TO_ROW = {"row": navigation.to_number, "percent": navigation.to_percent}
"""By what a number typed before an action says: what goes there."""
_SHOW_THE_BAD = ("first_alert", "next_alert", "previous_alert", "why")


class Actor:
    """Does actions: moves the focus, or has a command do them.

    Args:
        parts: The app.
        navigator: Moves the focus.
        commands: Do what is more than moving.
        digit_seconds: How long a digit waits for a motion, before it chooses a pane.

    Attributes:
        counts: The number that is being typed.
    """

    def __init__(
        self, parts: Parts, navigator: Navigator, commands: Commands, digit_seconds: float
    ) -> None:
        self._parts = parts
        self._navigator = navigator
        self._commands = commands
        self.counts = Counts(parts, digit_seconds, self.act)

    def act(self, action_id: str) -> None:
        """Do an action."""
        action = BY_ID[action_id]
        if action_id == "close_why" and self.counts.take() is not None:
            self._parts.main.keys.hush()
            return  # Escape ends the number alone
        if not action.takes_number:
            self.counts.end()
        self._act(action, self.counts.take())

    def _act(self, action: Action, number: int | None) -> None:
        parts, action_id = self._parts, action.id
        parts.main.keys.hush()
        if action_id == "why" and parts.session.is_undiagnosed and self._navigator.is_untouched:
            self._navigator.ask_why_of_root()
            return
        waits = action_id == "first_alert" and parts.session.is_undiagnosed
        if waits:
            self._navigator.wait_for_root()
        if action_id in _SHOW_THE_BAD:
            if action_id == "first_alert" and parts.session.recording.announcement:
                parts.session.set_paused(False)  # what is announced may not be shown yet
            parts.session.recording.announcement = ""
        if parts.search.under_way and action_id not in _SEARCHES:
            parts.search.stop()
            if action_id == "close_why":  # Escape ends the search alone
                parts.main.keys.searching = ""
                parts.main.keys.show()
                return
        if action_id == "close_why" and parts.search.end():
            return
        before = parts.session.focus
        with self._navigator.acting(by_moving=action_id not in ("follow", "pause")):
            if parts.session.snapshot is None and action_id not in _WITHOUT_RUN:
                raise navigation.NowhereError("there is no dump yet")
            self._do(action, number)
            if not waits:
                self._navigator.tell_unseen(before)
            if not waits and action_id not in _STAY:  # and has led somewhere
                self._navigator.drop_target()

    def _do(self, action: Action, number: int | None) -> None:
        times = 1 if number is None else number
        if action.rows is not None or action.pages is not None:
            by = self._distance(action, times)
            self._navigator.go(partial(navigation.move, by=by), jump=False)
        elif action.numbered in _TO_ROW and number is not None:
            self._navigator.go(partial(_TO_ROW[action.numbered], number=number), jump=True)
        elif action.numbered == "times" and action.navigate is not None:
            repeated = partial(navigation.repeat, navigate=action.navigate, times=times)
            self._navigator.go(repeated, jump=action.jump)
        elif action.navigate is not None:
            self._navigator.go(action.navigate, jump=action.jump)
        elif action.numbered == "times":
            getattr(self._commands, f"do_{action.id}")(times)
        else:
            getattr(self._commands, f"do_{action.id}")()

    def _distance(self, action: Action, times: int) -> int:
        """Return how many of the things that the pane lists an action moves by.

        Args:
            action: The action.
            times: How often it is done.
        """
        pane = self._parts.main.panes[self._parts.session.focus.pane]
        if action.rows is not None:
            return pane.distance(times * action.rows)
        assert action.pages is not None
        return pane.distance(times * int(action.pages * max(1, pane.page_rows)))
