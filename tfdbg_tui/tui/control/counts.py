"""Numbers typed before a motion: `5j`, `10G`.

A digit is also the key of a pane.  So it waits a moment for a motion, or for more digits; nothing
on the screen moves until it is known which of the two it is.  Any other key settles that at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.actions.registry import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from tfdbg_tui.tui.control.parts import Parts

_MOST_DIGITS = 12


class Counts:
    """The number that is being typed.

    Args:
        parts: The app.
        seconds: How long a digit waits before it does what its key does; 0 for no numbers at all.
        act: Does an action.
    """

    def __init__(self, parts: Parts, seconds: float, act: Callable[[str], None]) -> None:
        self._parts = parts
        self._seconds = seconds
        self._act = act
        self._digits = ""
        self._timer: Timer | None = None

    def typed(self, key: str) -> bool:
        """Take a key in; return whether it is a digit of a number."""
        if not self._seconds or not (key.isdecimal() and len(key) == 1):
            return False
        if not self._digits and key == "0":
            return False
        self._digits = (self._digits + key)[:_MOST_DIGITS]
        self._stop_waiting()
        if self._action_of_digit:
            self._timer = self._parts.main.set_timer(self._seconds, self.end)
        else:
            self._parts.say(f"{self._digits}: how often, or which row? A motion tells, as j or G")
        return True

    def take(self) -> int | None:
        """Return the number that a motion was typed behind, which ends it; None for none."""
        self._stop_waiting()
        digits, self._digits = self._digits, ""
        return int(digits) if digits else None

    def end(self) -> None:
        """End the number, as no motion follows: a digit alone does what its key does."""
        action = self._action_of_digit
        self.take()
        if action:
            self._act(action)

    @property
    def _action_of_digit(self) -> str:
        """The action of a digit alone; "" for a longer number, and for a digit that has none."""
        keymap = self._parts.keymap
        found = (action.id for action in ACTIONS if self._digits in keymap.keys(action))
        return next(found, "")

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
