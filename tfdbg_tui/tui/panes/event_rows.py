"""The rows of panes that list events of the run."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tfdbg_tui.query import OF_TENSORS, Outputs
from tfdbg_tui.tui.panes.matching import Matches
from tfdbg_tui.tui.panes.rows import Rows, ToSort
from tfdbg_tui.tui.session.focusing import focused_event
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.session.snapshot import NOTHING_YET

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.query import Kind, TextTerm
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Listed, Snapshot

    Positions = npt.NDArray[np.int64]


class EventRows(Rows):
    """The events of one list of the run, or those of them that a filter selects, in any order.

    Attributes:
        PANE: Name of the pane.
        KIND: Which list it is.
    """

    LISTS_EVENTS = True
    VOCABULARY = OF_TENSORS
    PANE: ClassVar[str]
    KIND: ClassVar[Kind]

    @abstractmethod
    def total(self, snapshot: Snapshot) -> int:
        """Return how many events there are, listed or not."""

    @abstractmethod
    def focused(self, focus: Focus) -> int | None:
        """Return the focused event."""

    @abstractmethod
    def focus_on(self, snapshot: Snapshot, focus: Focus, index: int) -> Focus:
        """Focus an event, listed or not.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            index: The event.
        """

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        return self.focus_on(snapshot, focus, self.index(snapshot, focus, row))

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """See `Rows`: the one in this list."""
        return focused_event(snapshot, self.look(snapshot, focus))

    def go_to_number(self, snapshot: Snapshot, focus: Focus, number: int) -> Focus:
        """See `Rows`: the event of that number, which a filter may leave out."""
        total = self.total(snapshot)
        if number >= total:
            raise NowhereError(f"there is no {number:,}: the last one is {total - 1:,}")
        return self.focus_on(snapshot, focus.filtered(self.PANE, ""), number)

    def selections(self, focus: Focus) -> Sequence[tuple[Kind, str]]:
        """See `Rows`."""
        text = focus.filter_of(self.PANE)
        return ((self.KIND, text),) if text else ()

    def listed(self, snapshot: Snapshot, focus: Focus) -> Listed | None:
        """Return what the filter has selected so far; None where there is no filter."""
        keys = self.selections(focus)
        return snapshot.listed.get(keys[0], NOTHING_YET) if keys else None

    def num_listed(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        listed = self.listed(snapshot, focus)
        return self.total(snapshot) if listed is None else len(listed.rows)

    def to_sort(self, snapshot: Snapshot, focus: Focus) -> ToSort | None:
        """See `Rows`."""
        listed = self.listed(snapshot, focus)
        rows = np.arange(self.total(snapshot)) if listed is None else listed.rows
        return ToSort(rows, [Outputs(self.KIND, rows, np.zeros(len(rows), np.int64))])

    def events(self, snapshot: Snapshot, focus: Focus) -> Positions | None:
        """Return which events are listed, row by row; None for all of them in order."""
        in_order = snapshot.sorted_in(self.PANE, focus)
        if in_order is not None:
            return in_order.rows
        listed = self.listed(snapshot, focus)
        return None if listed is None else listed.rows

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        events = self.events(snapshot, focus)
        return self.total(snapshot) if events is None else len(events)

    def index(self, snapshot: Snapshot, focus: Focus, row: int) -> int:
        """Return which event is in a row.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            row: The row, from 0.
        """
        events = self.events(snapshot, focus)
        return row if events is None else int(events[row])

    def matches(self, snapshot: Snapshot, focus: Focus, term: TextTerm) -> Matches:
        """See `Rows`."""
        (test,) = snapshot.row_tests(self.KIND).of([term])
        events = self.events(snapshot, focus)
        if events is None:
            return Matches(self.total(snapshot), test)
        return Matches(len(events), lambda rows: test(events[rows]))

    def listing(self, snapshot: Snapshot, focus: Focus) -> Hashable:
        """See `Rows`."""
        count, in_order = self.count(snapshot, focus), snapshot.sorted_in(self.PANE, focus)
        return focus.filter_of(self.PANE), count, in_order

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        in_order = snapshot.sorted_in(self.PANE, focus) is None
        return row_of(self.focused(focus), self.events(snapshot, focus), in_order=in_order)


def row_of(focused: int | None, listed: Positions | None, *, in_order: bool) -> int | None:
    """Return the row of what is focused in a list; None where that is not listed.

    Args:
        focused: What is focused; None for nothing.
        listed: What each row holds; None where each holds its own number.
        in_order: Whether the list is in its own order: the row before what is not listed counts.
    """
    if listed is None or focused is None:
        return focused
    if not in_order:
        found = np.flatnonzero(listed == focused)
        return int(found[0]) if found.size else None
    before = int(listed.searchsorted(focused, side="right")) - 1
    return max(0, before) if listed.size else None
