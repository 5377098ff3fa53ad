"""What all bars have in common: they show a line of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.widgets.cells import Bar

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset


class SessionBar(Bar):
    """A line that shows something of the session.

    Args:
        session: What is shown and focused.
        charset: The characters to draw with.
        id: Its id in the style sheet.
    """

    def __init__(self, session: Session, charset: Charset, *, id: str) -> None:  # noqa: A002
        super().__init__(charset, id=id)
        self.session = session
