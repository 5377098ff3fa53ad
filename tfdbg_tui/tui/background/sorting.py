"""Sorted lists: in which order their tensors stand is found in a thread.

Of a list that has only become longer the new tensors alone are read, of one turned round none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.query import Outputs, in_order, sort_keys
from tfdbg_tui.query.language import NUMBERS
from tfdbg_tui.tui.background.tasks import Tasks
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.session.remap import keeps_rows
from tfdbg_tui.tui.session.snapshot import Sorted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from textual.message import Message

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.tui.background.tasks import Task
    from tfdbg_tui.tui.panes.rows import ToSort
    from tfdbg_tui.tui.session.focus import Sort
    from tfdbg_tui.tui.session.session import Session

    Floats = npt.NDArray[np.float64]
    KeysOf = Callable[[str, Sequence[Outputs]], Floats]


@dataclass(frozen=True, slots=True)
class Found:
    """A sorted list, and what is needed to sort a longer one.

    Attributes:
        listed: What the pane shows.
        ids: What it lists, in its own order.
        keys: The key of each.
    """

    listed: Sorted
    ids: npt.NDArray[np.int64]
    keys: Floats


class Sorting:
    """Has the snapshot hold the lists that the focus wants sorted.

    Args:
        session: What is shown.
        post: Called from another thread with a message when a list has been sorted.
    """

    def __init__(self, session: Session, post: Callable[[Message], object]) -> None:
        self._session = session
        self._tasks = Tasks(post)
        self._run: Run | None = None
        self._used_in: dict[int, int] = {}
        self._found: dict[str, Found] = {}
        self._under_way: tuple[Task[Found], str] | None = None

    def close(self) -> None:
        """End the thread soon."""
        self._tasks.stop()

    def look(self) -> None:
        """Show what has been sorted, and send for what has not.

        Raises:
            NowhereError: A list cannot be sorted.
        """
        snapshot = self._session.snapshot
        if snapshot is None:
            return
        keeps = self._run is not None and keeps_rows(self._run, snapshot.run)
        if not keeps or snapshot.used_in != self._used_in:
            self._found, self._under_way = {}, None
        self._run, self._used_in = snapshot.run, snapshot.used_in
        for pane, _ in self._session.focus.sorts:
            self._sort(pane)
        shown = {pane: found.listed for pane, found in self._found.items()}
        if snapshot.sorted != shown:
            self._session.snapshot = snapshot.sorting(shown)

    def _sort(self, pane: str) -> None:
        """Have the list of a pane sorted, where it has changed and no other is being sorted."""
        snapshot, focus = self._session.snapshot, self._session.focus
        sort, filtered = focus.sort_of(pane), focus.filter_of(pane)
        if snapshot is None or sort is None or self._under_way is not None:
            return
        rows, known = pane_named(pane).rows, self._found.get(pane)
        if known and (known.listed.sort.column, known.listed.filter) != (sort.column, filtered):
            known = None
        is_same = known is not None and known.listed.sort == sort
        if known and is_same and len(known.ids) == rows.num_listed(snapshot, focus):
            return
        to_sort = rows.to_sort(snapshot, focus)
        if to_sort is None:
            return
        keys = partial(sort_keys, snapshot.run, used_in=self._used_in)
        work = partial(sorted_list, keys, sort, filtered, to_sort, known)
        task = self._tasks.start_work(work)
        self._under_way = task, pane
        if task.done.is_set():
            self.task_done(task)

    def task_done(self, task: Task[Found]) -> bool:
        """Take in a list that has been sorted.

        Returns:
            Whether it was waited for.

        Raises:
            NowhereError: It cannot be sorted; the message says why.
        """
        if self._under_way is None or task is not self._under_way[0]:
            return False
        _, pane = self._under_way
        self._under_way = None
        try:
            self._found[pane] = task.result()
        except Exception as error:  # a file that cannot be read any more, for example
            self._session.refine(self._session.focus.sorted_by(pane, None))
            raise NowhereError(f"the list cannot be sorted: {error}") from error
        return True


def sorted_list(
    keys_of: KeysOf, sort: Sort, filtered: str, to_sort: ToSort, known: Found | None
) -> Found:
    """Return a list in another order.

    Args:
        keys_of: Returns the key of each of some tensors in a column; see `sort_keys`.
        sort: By what.
        filtered: The filter of the list.
        to_sort: What it lists.
        known: A list sorted by the same column that may be its beginning, or all of it; None for
            none.
    """
    keys = _keys(keys_of, sort.column, to_sort, known)
    rows = in_order(to_sort.ids, keys, reverse=sort.reverse)
    unknown = int(np.isnan(keys).sum()) if sort.column in NUMBERS else 0
    return Found(Sorted(sort, filtered, rows, unknown), to_sort.ids, keys)


def _keys(keys_of: KeysOf, column: str, to_sort: ToSort, known: Found | None) -> Floats:
    """Return the key of each tensor to sort; those that are known are not read again."""
    ids, tensors = to_sort
    if known is None:
        return keys_of(column, tensors)
    if np.array_equal(known.ids, ids):
        return known.keys
    start = len(known.ids)
    if column not in NUMBERS or len(tensors) != 1 or not np.array_equal(known.ids, ids[:start]):
        return keys_of(column, tensors)
    (only,) = tensors
    rest = Outputs(only.kind, only.rows[start:], only.slots[start:])
    return np.concatenate([known.keys, keys_of(column, [rest])])
