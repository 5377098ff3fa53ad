"""Doing the actions of the registry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.actions.registry import BY_ID

if TYPE_CHECKING:
    from tfdbg_tui.tui.actions.registry import Action
    from tfdbg_tui.tui.control.commands import Commands
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts

_SEARCHES = ("search_next", "search_previous")
_SHOW_THE_BAD = ("first_alert", "next_alert", "previous_alert", "why")


class Actor:
    """Does actions: moves the focus, or has a command do them.

    Args:
        parts: The app.
        navigator: Moves the focus.
        commands: Do what is more than moving.
    """

    def __init__(self, parts: Parts, navigator: Navigator, commands: Commands) -> None:
        self._parts = parts
        self._navigator = navigator
        self._commands = commands

    def act(self, action_id: str) -> None:
        """Do an action."""
        parts = self._parts
        parts.main.keys.hush()
        self._navigator.drop_target()
        if action_id in _SHOW_THE_BAD:
            parts.session.recording.announcement = ""
        if parts.search.under_way and action_id not in _SEARCHES:
            parts.search.stop()
            if action_id == "close_why":  # Escape ends the search alone
                parts.main.keys.searching = ""
                parts.main.keys.show()
                return
        if action_id == "close_why" and parts.search.end():
            return
        with self._navigator.acting(by_moving=action_id not in ("follow", "pause")):
            self._do(BY_ID[action_id])

    def _do(self, action: Action) -> None:
        if action.rows is not None or action.pages is not None:
            self._navigator.go(partial(navigation.move, by=self._distance(action)), jump=False)
        elif action.navigate is not None:
            self._navigator.go(action.navigate, jump=action.jump)
        else:
            getattr(self._commands, f"do_{action.id}")()

    def _distance(self, action: Action) -> int:
        """Return how many of the things that the pane lists an action moves by."""
        pane = self._parts.main.panes[self._parts.session.focus.pane]
        if action.rows is not None:
            return action.rows * pane.stride
        assert action.pages is not None
        return int(action.pages * max(1, pane.page_rows)) * pane.stride
