"""Closing a screen once, however fast the keys and clicks come that ask for it."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete


class ClosesOnce:
    """Comes before the class of a screen; what reaches that while it closes is not answered."""

    _is_closing = False

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """See Textual, which raises an error at the second time."""
        if self._is_closing:
            return AwaitComplete()
        self._is_closing = True
        closed: AwaitComplete = super().dismiss(result)  # type: ignore[misc]  # of the screen
        return closed
