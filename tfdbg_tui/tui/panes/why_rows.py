"""What the panes Why and Cause list: the tensors on a way, and the parts of the cause's card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui import card, way
from tfdbg_tui.tui.panes.matching import first_match, rows_from
from tfdbg_tui.tui.session.focusing import focus_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.folding import FoldedRow
    from tfdbg_tui.tui.session.snapshot import Snapshot


def shown_way(snapshot: Snapshot, focus: Focus) -> way.Way | None:
    """Return the way that is shown; None while it is closed, or has not been found yet."""
    if focus.why is None or snapshot.explanation is None:
        return None
    return snapshot.explanation.known_way(focus.why)


class WayList:
    """The tensors on the way, causes first; runs of copies are one row unless unfolded."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows."""
        shown = shown_way(snapshot, focus)
        return way.rows(shown, focus.open_copies) if shown else ()

    def fold_at(self, snapshot: Snapshot, focus: Focus, row: int) -> TensorEvent | None:
        """Return the first tensor of the run of copies that a row is, or is in."""
        shown = shown_way(snapshot, focus)
        if shown is None:
            return None
        link = self.rows(snapshot, focus)[row].first
        folded = (found for found in way.rows(shown, ()) if found.folded)
        runs = (found.first for found in folded if found.first <= link <= found.last)
        return next((shown.links[first].event for first in runs), None)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        shown = shown_way(snapshot, focus)
        if shown is None:
            return None
        chosen = shown.chosen(focus.link)
        rows = self.rows(snapshot, focus)
        return next((i for i, row in enumerate(rows) if row.first <= chosen <= row.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        shown = shown_way(snapshot, focus)
        assert shown is not None
        event = shown.links[self.rows(snapshot, focus)[row].first].event
        return focus_event(snapshot, replace(focus, link=event), event)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        shown, rows = shown_way(snapshot, focus), self.rows(snapshot, focus)

        def name(row: int) -> str:
            inside = shown.links[rows[row].first : rows[row].last + 1] if shown else ()
            return " ".join(f"{link.name} {link.op_type} {link.graph}" for link in inside)

        return first_match(rows_from(start, step, len(rows)), text, name)


class CauseParts:
    """The parts of the cause's card."""

    def parts(self, snapshot: Snapshot, focus: Focus) -> Sequence[card.Part]:
        """Return the parts."""
        shown = shown_way(snapshot, focus)
        return card.parts(shown) if shown else ()

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(self.parts(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        count = self.count(snapshot, focus)
        return min(focus.part, count - 1) if count else None

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        return replace(focus, part=row)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        parts = self.parts(snapshot, focus)
        return first_match(
            rows_from(start, step, len(parts)), text, lambda i: f"{parts[i].label} {parts[i].text}"
        )
