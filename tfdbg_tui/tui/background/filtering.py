"""Filters: what they select is found in a thread, part by part, and shown as it is found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.query import QueryError, Selection, parse
from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.panes import PANES
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.session.remap import keeps_rows
from tfdbg_tui.tui.session.snapshot import NOTHING_YET, Listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.query import Kind
    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.session.session import Session

    Key = tuple[Kind, str]

_PART_SECONDS = 0.1  # how often what has been found is shown


class Filtering:
    """Has the snapshot list what the filters of the focus select.

    Args:
        session: What is shown.
        post: Called from another thread with a message when a part has been found.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self._session = session
        self._tasks = Tasks(post)
        self._run: Run | None = None
        self._used_in: dict[int, int] = {}
        self._selections: dict[Key, Selection] = {}
        self._listed: dict[Key, Listed] = {}
        self._under_way: tuple[Task[Listed], Key, Selection] | None = None

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def look(self) -> None:
        """Show what is known of the filters, and send for what is not.

        Where that takes no time, the snapshot lists it afterwards.

        Raises:
            NowhereError: A filter cannot be used.
        """
        snapshot = self._session.snapshot
        if snapshot is None:
            return
        if snapshot.run is not self._run:
            self._start_over(snapshot.run)
        if snapshot.used_in != self._used_in:
            self._used_in = snapshot.used_in
            self._forget()
        focus = self._session.focus
        wanted = [key for spec in PANES for key in spec.rows.selections(focus)]
        self._selections = {key: self._selection(snapshot.run, key) for key in wanted}
        self._listed = {key: self._listed.get(key, NOTHING_YET) for key in wanted}
        self._go_on()
        if snapshot.listed != self._listed:
            self._session.snapshot = snapshot.listing(self._listed)

    def task_done(self, task: Task[Listed]) -> bool:
        """Take in a part that has been found.

        Returns:
            Whether it was waited for.

        Raises:
            NowhereError: It cannot be found; the message says why.
        """
        if self._under_way is None or task is not self._under_way[0]:
            return False
        _, key, selection = self._under_way
        self._under_way = None
        try:
            found = task.result()
        except Exception as error:  # a file that cannot be read any more, for example
            raise NowhereError(f"the filter cannot be used: {error}") from error
        if self._selections.get(key) is selection:
            self._listed[key] = found
        elif key in self._listed and self._run is not None:  # the run has grown meanwhile
            self._listed[key] = replace(found, complete=False)
            self._selections.pop(key, None)
            self._selections[key] = self._selection(self._run, key)
        return True

    def _start_over(self, run: Run) -> None:
        """Forget what was selected in an earlier state of the run, but for rows that stay."""
        if self._run is None or not keeps_rows(self._run, run):
            self._forget()
        self._run = run
        self._selections = {}
        self._listed = {
            key: replace(listed, complete=False) for key, listed in self._listed.items()
        }

    def _forget(self) -> None:
        """Forget what was selected."""
        self._selections, self._listed, self._under_way = {}, {}, None

    def _selection(self, run: Run, key: Key) -> Selection:
        if key not in self._selections:
            kind, text = key
            before = self._listed.get(key, NOTHING_YET)
            try:
                query = parse(text)
            except QueryError as error:
                raise NowhereError(str(error)) from error
            selection = Selection(
                run, kind, query, before.rows, before.next_row, used_in=self._used_in
            )
            selection.unfit.update(before.unfit)
            selection.unknown = before.unknown
            return selection
        return self._selections[key]

    def _go_on(self) -> None:
        """Find the next parts, until one takes its time."""
        while self._under_way is None:
            key = next((key for key, listed in self._listed.items() if not listed.complete), None)
            if key is None:
                return
            selection = self._selections[key]
            task = self._tasks.start_work(partial(_part, selection))
            self._under_way = task, key, selection
            if task.done.is_set():
                self.task_done(task)


def _part(selection: Selection) -> Listed:
    selection.advance(_PART_SECONDS)
    complete, unfit = selection.complete, frozenset(selection.unfit)
    return Listed(
        selection.rows,
        selection.next_row,
        complete=complete,
        unfit=unfit,
        unknown=selection.unknown,
    )
