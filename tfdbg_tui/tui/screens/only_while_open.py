"""Screens that answer only while they are open, however fast keys and clicks come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete

from tfdbg_tui.tui.actions.keys import pressed_key

if TYPE_CHECKING:
    from textual.events import Key
    from textual.screen import Screen

    _Base = Screen[Any]
else:
    _Base = object


class OnlyWhileOpen(_Base):
    """Comes before the class of a screen; what reaches that before or after is not answered.

    The app takes keys to the topmost screen, which may not have made its widgets yet.
    """

    _is_closing = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """See Textual."""
        is_removed = not self.display  # as when the app ends: its widgets are gone before it
        is_open = self.is_mounted and not self._is_closing and not is_removed
        return is_open and super().check_action(action, parameters)

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """See Textual, which raises an error at the second time."""
        if self._is_closing:
            return AwaitComplete()
        self._is_closing = True
        return super().dismiss(result)


def unknown_key(screen: Screen[Any], event: Key) -> str:
    """Return the key that was pressed, if it does nothing on a screen; "" where it does."""
    return pressed_key(event) if screen.active_bindings.keys().isdisjoint(event.aliases) else ""
