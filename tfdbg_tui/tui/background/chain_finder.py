"""Finding the chain of a tensor in a thread: where it is long, the panes say so and stay alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.background.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.diagnosis import Chain
    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.session.session import Session


class ChainFinder:
    """Finds the chain that Why is to show.

    Args:
        session: Whose focus says which chain that is.
        post: Called from another thread with a message when a chain has been found.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self._session = session
        self._tasks = Tasks(post)
        self._under_way: Task[Chain] | None = None
        self._wanted: object = None

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def look(self) -> None:
        """Send for the chain that is to be shown, unless it is known or being found.

        Where it takes no time, the focus stands on its root afterwards.
        """
        snapshot, event = self._session.snapshot, self._session.focus.why
        if event is None or snapshot is None or snapshot.explanation is None:
            return
        explanation, run = snapshot.explanation, snapshot.run
        if explanation.known_chain(event) is not None:
            return
        if self._wanted == (explanation, event):
            return
        self._wanted = explanation, event
        self._under_way = self._tasks.start_work(lambda: explanation.find_chain(event, run))
        if self._under_way.done.is_set():
            self.task_done(self._under_way)

    def task_done(self, task: Task[Chain]) -> bool:
        """Stand on the root of the chain that was found; close Why where it cannot be found.

        Returns:
            Whether it was waited for.

        Raises:
            NowhereError: It cannot be found; the message says why.
        """
        snapshot = self._session.snapshot
        if task is not self._under_way or snapshot is None:
            return False
        self._under_way = self._wanted = None
        focus = self._session.focus
        try:
            task.result()
        except Exception as error:  # a record that cannot be read any more, for example
            self._session.refine(navigation.close_why(snapshot, focus))
            raise navigation.NowhereError(f"the chain cannot be found: {error}") from error
        self._session.refine(navigation.stand_on_root(snapshot, focus))
        return True
