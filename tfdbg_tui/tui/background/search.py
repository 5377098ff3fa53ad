"""A search: it goes on in a thread while the panes stay alive, and ends where the user moves on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.session.remap import is_same_run, remapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot

Outcome = tuple["Snapshot", "Focus"]


class Search:
    """Searches the focused pane's list.

    Args:
        session: Where to search from; the focus goes to what is found.
        post: Called from another thread with a message when something has been found.

    Attributes:
        text: What is searched for; "" before the first search.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self.text = ""
        self._session = session
        self._tasks = Tasks(post)
        self._under_way: Task[Outcome] | None = None
        self._steps: list[int] = []

    @property
    def under_way(self) -> bool:
        """Whether something is being searched for."""
        return self._under_way is not None

    def stop(self) -> None:
        """Give up what is being searched for."""
        self._under_way = None
        self._steps.clear()

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def begin(self, text: str) -> None:
        """Search for a text, from the focused row on.

        Raises:
            NowhereError: No row matches.
        """
        self.stop()
        self.text = text
        self._send(1, inclusive=True)

    def go_on(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match, or do so after the search under way.

        Raises:
            NowhereError: No row matches, or nothing has been searched for yet.
        """
        if not self.text:
            raise navigation.NowhereError("search with / first")
        if self.under_way:
            self._steps.append(step)
        else:
            self._send(step, inclusive=False)

    def task_done(self, task: Task[Outcome]) -> None:
        """Go to what has been found, unless it is not wanted any more.

        Raises:
            NowhereError: No row matches.
        """
        if task is not self._under_way:
            return
        self._under_way = None
        try:
            self._arrive(*task.result())
        except navigation.NowhereError:
            self._steps.clear()
            raise
        if self._steps:
            self._send(self._steps.pop(0), inclusive=False)

    def _send(self, step: int, *, inclusive: bool) -> None:
        snapshot, focus = self._session.snapshot, self._session.focus
        if snapshot is None:
            return
        if not self._tasks.is_alive():
            self._tasks.start()
        search = partial(navigation.search, text=self.text, step=step, inclusive=inclusive)
        self._under_way = self._tasks.start_work(lambda: (snapshot, search(snapshot, focus)))
        if self._under_way.done.is_set():
            self.task_done(self._under_way)

    def _arrive(self, snapshot: Snapshot, focus: Focus) -> None:
        """Focus what was found in a snapshot, which may be an older state of the run."""
        now = self._session.snapshot
        if now is not None and is_same_run(snapshot.run, now.run):
            self._session.jump(remapped(focus, snapshot.run, now.run))
