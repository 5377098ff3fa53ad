"""What the panes Why and Cause list: the tensors on a chain, and the parts of the cause's card."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH
from tfdbg_tui.diagnosis.report import cards
from tfdbg_tui.tui.panes.matching import first_match, rows_from
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.folding import FoldedRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.report.chains import Chain
    from tfdbg_tui.diagnosis.report.links import Link
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_COPIES = PASS_THROUGH | {"Placeholder", "ReadVariableOp", "Reshape", "Transpose", "ExpandDims"}


def shown_chain(snapshot: Snapshot, focus: Focus) -> Chain | None:
    """Return the chain that is shown; None while it is closed, or has not been found yet."""
    if focus.why is None or snapshot.explanation is None:
        return None
    return snapshot.explanation.known_chain(focus.why)


def fold_copies(chain: Chain, unfolded: Collection[TensorEvent]) -> list[FoldedRow]:
    """Return the rows of a chain; ops in a row that only pass values on are one.

    Args:
        chain: The chain.
        unfolded: The first tensors of the folds that are opened.
    """
    found: list[FoldedRow] = []
    run: list[int] = []
    for position, link in enumerate(chain.links):
        first = chain.start if chain.finding else 0
        inside = first < position < len(chain.links) - 1
        if inside and link.passes_on:
            run.append(position)
            continue
        found += _fold(chain.links, run, unfolded)
        run = []
        found.append(FoldedRow(position, position))
    return found


def fold_name(links: Sequence[Link], row: FoldedRow) -> str:
    """Return what a folded row says: ``3 copies``, ``12 pass-through ops``."""
    inside = links[row.first : row.last + 1]
    copies = all(link.op_type in _COPIES for link in inside)
    return f"{row.folded} {'copies' if copies else 'pass-through ops'}"


def _fold(
    links: Sequence[Link], run: Sequence[int], unfolded: Collection[TensorEvent]
) -> list[FoldedRow]:
    if len(run) > 1 and links[run[0]].event not in unfolded:
        return [FoldedRow(run[0], run[-1])]
    return [FoldedRow(position, position) for position in run]


class ChainList:
    """The tensors on the chain, causes first; runs of copies are one row unless unfolded."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows."""
        shown = shown_chain(snapshot, focus)
        return fold_copies(shown, focus.open_copies) if shown else ()

    def fold_at(self, snapshot: Snapshot, focus: Focus, row: int) -> TensorEvent | None:
        """Return the first tensor of the run of copies that a row is, or is in."""
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        link = self.rows(snapshot, focus)[row].first
        folded = (found for found in fold_copies(shown, ()) if found.folded)
        runs = (found.first for found in folded if found.first <= link <= found.last)
        return next((shown.links[first].event for first in runs), None)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `PaneList`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `PaneList`."""
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        chosen = shown.chosen(focus.link)
        rows = self.rows(snapshot, focus)
        return next((i for i, row in enumerate(rows) if row.first <= chosen <= row.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `PaneList`."""
        shown = shown_chain(snapshot, focus)
        assert shown is not None
        event = shown.links[self.rows(snapshot, focus)[row].first].event
        return focus_event(snapshot, replace(focus, link=event), event)

    def find(
        self, snapshot: Snapshot, focus: Focus, text: str, start: int, step: int
    ) -> int | None:
        """See `PaneList`."""
        shown, rows = shown_chain(snapshot, focus), self.rows(snapshot, focus)

        def name(row: int) -> str:
            inside = shown.links[rows[row].first : rows[row].last + 1] if shown else ()
            return " ".join(f"{link.name} {link.op_type} {link.graph}" for link in inside)

        return first_match(rows_from(start, step, len(rows)), text, name)


class CauseParts:
    """The parts of the cause's card."""

    def parts(self, snapshot: Snapshot, focus: Focus) -> Sequence[cards.Part]:
        """Return the parts."""
        shown = shown_chain(snapshot, focus)
        return cards.parts(shown) if shown else ()

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
