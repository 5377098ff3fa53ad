"""Finding the way of a tensor in a thread: where it is long, the panes say so and stay alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.background.tasks import Errands

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.tui.background.tasks import Errand
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.way import Way


class Wayfinder:
    """Finds the way that Why is to show.

    Args:
        session: Whose focus says which way that is.
        post: Called from another thread with a message when a way has been found.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self._session = session
        self._errands = Errands(post)
        self._under_way: Errand[Way] | None = None
        self._wanted: object = None

    def close(self) -> None:
        """End the thread soon."""
        self._errands.stop()

    def look(self) -> None:
        """Send for the way that is to be shown, unless it is known or being found.

        Where it takes no time, the focus stands on its root afterwards.
        """
        snapshot, event = self._session.snapshot, self._session.focus.why
        explanation = snapshot.explanation if snapshot else None
        if event is None or explanation is None or explanation.known_way(event) is not None:
            return
        if self._wanted == (explanation, event):
            return
        if not self._errands.is_alive():
            self._errands.start()
        self._wanted = explanation, event
        self._under_way = self._errands.send(lambda: explanation.find_way(event))
        if self._under_way.done.is_set():
            self.returned(self._under_way)

    def returned(self, errand: Errand[Way]) -> bool:
        """Stand on the root of the way that was found; close Why where it cannot be found.

        Returns:
            Whether it was waited for.

        Raises:
            NowhereError: It cannot be found; the message says why.
        """
        snapshot = self._session.snapshot
        if errand is not self._under_way or snapshot is None:
            return False
        self._under_way = self._wanted = None
        focus = self._session.focus
        try:
            errand.result()
        except Exception as error:  # a record that cannot be read any more, for example
            self._session.refine(navigation.close_why(snapshot, focus))
            raise navigation.NowhereError(f"the way cannot be found: {error}") from error
        self._session.refine(navigation.stand_on_root(snapshot, focus))
        return True
