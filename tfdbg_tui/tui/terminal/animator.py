"""Setting at once what Textual would animate: frames in between only cost time over SSH.

Without animations, Textual still sets values in its next tick.  Where setting one of them ends
an animation of the same value, as when a list that is scrolled turns out to be shorter, the tick
raises an error, and the app ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual._animator import Animator

if TYPE_CHECKING:
    from textual._types import CallbackType


class AtOnce(Animator):
    """Has no animations."""

    def animate(
        self,
        obj: object,
        attribute: str,
        value: Any,
        *,
        final_value: object = ...,
        on_complete: CallbackType | None = None,
        **_: Any,
    ) -> None:
        """See Textual."""
        setattr(obj, attribute, value if final_value is ... else final_value)
        if on_complete is not None:
            self.app.call_later(on_complete)
