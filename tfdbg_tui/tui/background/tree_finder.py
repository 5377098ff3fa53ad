"""Finding the tree of Graph Structure in a thread: of eager ops it may take many records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.tree import Tree


class TreeFinder:
    """Finds the tree around what is focused.

    Args:
        session: Whose focus says which tree that is.
        is_shown: Whether Graph Structure is on the screen.
        post: Called from another thread with a message when a tree has been found.
    """

    def __init__(
        self,
        session: Session,
        is_shown: Callable[[], bool],
        post: Callable[[Message], object],
    ) -> None:
        self._session = session
        self._is_shown = is_shown
        self._tasks = Tasks(post)
        self._under_way: Task[Tree | None] | None = None
        self._wanted: object = None

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def look(self) -> None:
        """Send for the tree that is to be shown, unless it is known or being found.

        Raises:
            NowhereError: It cannot be found; the message says why.
        """
        session = self._session
        snapshot, focus = session.snapshot, session.focus
        session.finding_tree = False
        if snapshot is None or not self._is_shown() or snapshot.known_tree(focus) is not None:
            return
        wanted = snapshot.run, snapshot.tree_key(focus)
        session.finding_tree = wanted[1] is not None
        if self._wanted == wanted or not session.finding_tree:
            return
        self._wanted = wanted
        self._under_way = self._tasks.start_work(lambda: snapshot.tree(focus))
        if self._under_way.done.is_set():
            self.task_done(self._under_way)

    def task_done(self, task: Task[Tree | None]) -> bool:
        """Show the tree that was found.

        Returns:
            Whether it was waited for.

        Raises:
            NowhereError: It cannot be found; the message says why.
        """
        if task is not self._under_way:
            return False
        self._under_way = self._wanted = None
        try:
            task.result()
        except Exception as error:  # a record that cannot be read any more, for example
            raise NowhereError(f"the graph cannot be shown: {error}") from error
        self._session.finding_tree = False
        return True
