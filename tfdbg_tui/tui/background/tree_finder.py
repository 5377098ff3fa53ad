"""Finding the tree of Graph Structure in a thread: of eager ops it may take many records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.session.remap import keeps_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import TreeKey
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
        self._wanted: tuple[Run, TreeKey] | None = None
        self._found: tuple[Run, TreeKey] | None = None  # what the session's earlier tree is of

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
        key = snapshot.tree_key(focus)
        if key is None:
            return
        session.finding_tree = True
        if self._found is None or not _is_earlier(self._found, snapshot.run, key):
            session.earlier_tree = self._found = None
        # A run may grow faster than trees of it are found: what is under way is waited for.
        if self._wanted is not None and _is_earlier(self._wanted, snapshot.run, key):
            return
        self._wanted = snapshot.run, key
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
        self._found, self._under_way, self._wanted = self._wanted, None, None
        try:
            self._session.earlier_tree = task.result()
        except Exception as error:  # a record that cannot be read any more, for example
            raise NowhereError(f"the graph cannot be shown: {error}") from error
        self.look()
        return True


def _is_earlier(known: tuple[Run, TreeKey], run: Run, key: TreeKey) -> bool:
    """Whether a tree is, or will be, the one that is to be shown, or of an earlier state of it."""
    return known[1] == key and keeps_rows(known[0], run)
