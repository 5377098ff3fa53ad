"""What a pane lists, and what keys do there, whatever it looks like.

Pure functions of a snapshot and a focus.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from tfdbg_tui.diagnosis import name_of
from tfdbg_tui.tui.panes.matching import Matches
from tfdbg_tui.tui.panes.titles import field_of_title
from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.tui.session.focusing import focus_newest, focused_event

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    import numpy.typing as npt

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.query import Kind, Outputs, TextTerm, Vocabulary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

    Positions = npt.NDArray[np.int64]


class ToSort(NamedTuple):
    """What a pane lists, to be sorted.

    Attributes:
        ids: What it lists, in its own order: rows of the run's list, or positions of alerts.
        tensors: The tensor of each.
    """

    ids: Positions
    tensors: Sequence[Outputs]


class Rows(ABC):
    """The rows of a pane.

    Subclasses say how many there are, which is focused and what focusing one means, and whatever
    keys do there besides moving.
    """

    LISTS_EVENTS: ClassVar[bool] = False
    """Whether rows are tensors: following the numbers then goes to the pane that lists them."""
    ALL_BAD: ClassVar[bool] = False
    """Whether nothing but tensors with NaN or ∞ is listed."""
    VOCABULARY: ClassVar[Vocabulary | None] = None
    """What the terms of its filter can be about; None where it has none."""
    CLICK_ENTERS: ClassVar[bool] = True
    """Whether a click on the focused row drills in."""

    @abstractmethod
    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """Return the number of rows."""

    @abstractmethod
    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """Return the focused row."""

    @abstractmethod
    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """Focus a row.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            row: The row, from 0.
        """

    def look(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """Return the focus where the pane gets the keys: on the tensor that it shows as chosen."""
        return focus

    def selections(self, focus: Focus) -> Sequence[tuple[Kind, str]]:
        """Return the lists of the run that a filter of the pane selects from, and the filters."""
        return ()

    def columns(self, snapshot: Snapshot) -> Sequence[str]:
        """Return the columns that the list can be sorted by; none where it has its own order."""
        return ()

    def to_sort(self, snapshot: Snapshot, focus: Focus) -> ToSort | None:
        """Return what has to be read to sort the list; None where that takes no reading."""
        return None

    def click_title(self, snapshot: Snapshot, focus: Focus, title: str) -> Focus:
        """Do what a click on a title does: sort by that column, reverse that, and end it.

        Args:
            snapshot: What is shown.
            focus: What is focused: this pane.
            title: What was clicked on.
        """
        column, sort = field_of_title(title), focus.sort_of(focus.pane)
        if column not in self.columns(snapshot):
            return focus
        if sort is None or sort.column != column:
            return focus.sorted_by(focus.pane, Sort(column))
        return focus.sorted_by(focus.pane, None if sort.reverse else Sort(column, reverse=True))

    def num_listed(self, snapshot: Snapshot, focus: Focus) -> int:
        """Return how many of what the pane lists a filter leaves, sorted or not yet."""
        return self.count(snapshot, focus)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """Return what a search looks at, of each row."""
        return ()

    def matches(self, snapshot: Snapshot, focus: Focus, term: TextTerm) -> Matches:
        """Return the rows that a search finds; to be replaced where there may be millions.

        Args:
            snapshot: The run.
            focus: What decides which rows there are, as `for_search` returns it.
            term: What to search for.
        """
        return Matches.of_texts(term, self.texts(snapshot, focus))

    def listing(self, snapshot: Snapshot, focus: Focus) -> Hashable:
        """Return what decides which rows of a run there are: searches remember what they found."""
        return focus

    def for_search(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """Return the focus that lists all that a search looks at: what is folded as well."""
        return focus

    def select_found(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """Focus a row of the list that a search looks at.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            row: The row, from 0.
        """
        return self.select(snapshot, focus, row)

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """Go one level deeper.

        Raises:
            NowhereError: There is nothing deeper.
        """
        return focus

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """Unfold or fold the focused row.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            unfolded: Whether it is to be unfolded.

        Raises:
            NowhereError: Nothing can be folded as it is listed now.
        """
        return focus

    def step_sideways(self, snapshot: Snapshot, focus: Focus, step: int) -> Focus:
        """Do what left (-1) and right (1) do.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            step: -1 or 1.

        Raises:
            NowhereError: There is nothing to go to.
        """
        return self.unfold(snapshot, focus, unfolded=step > 0)

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """Focus what was recorded last."""
        return focus_newest(snapshot, focus)

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """Return the tensor that the user looks at; None where no tensor is focused.

        Raises:
            NowhereError: What is focused has no tensor on record.
        """
        return focused_event(snapshot, focus)

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """Return what copying puts on the clipboard; "" for nothing."""
        event = self.tensor(snapshot, focus)
        return name_of(snapshot.run, event) if event else ""

    def place(self, snapshot: Snapshot, focus: Focus) -> str:
        """Return what is focused as it is typed after ``:``; "" for nothing."""
        event = self.tensor(snapshot, focus)
        return place_of_event(event) if event else ""

    def go_to_number(self, snapshot: Snapshot, focus: Focus, number: int) -> Focus | None:
        """Go to the row that a typed number means; None where rows have no numbers.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            number: The number.

        Raises:
            NowhereError: There is no such row.
        """
        return None

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        """Go to what a typed name means; None where nothing here is called so.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            name: The name.
        """
        return None


def place_of_event(event: TensorEvent) -> str:
    """Return a tensor as it is typed after ``:``."""
    if event.kind == "graph_execution":
        return f"trace:{event.index}"
    return f"exec:{event.index}:{event.slot}" if event.slot else f"exec:{event.index}"
