"""The rows of Why: the tensors on a chain, with copies folded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import PASS_THROUGH
from tfdbg_tui.tui.panes.chain_origin import chain_origin
from tfdbg_tui.tui.panes.chain_pane import fix_of, shown_chain
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.folding import FoldedRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tfdbg_tui.diagnosis import Chain, Link, TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_COPIES = PASS_THROUGH | {"Placeholder", "ReadVariableOp", "Reshape", "Transpose", "ExpandDims"}


class ChainRows(Rows):
    """The tensors on the chain, causes first; runs of copies are one row unless unfolded."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows."""
        shown = shown_chain(snapshot, focus)
        return fold_copies(shown, focus.open_copies) if shown else ()

    def fold_at(self, snapshot: Snapshot, focus: Focus, row: int) -> TensorEvent | None:
        """Return the first tensor of the run of copies that a row is, or is in.

        Args:
            snapshot: What is shown.
            focus: What is focused.
            row: The row, from 0.
        """
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        link = self.rows(snapshot, focus)[row].first
        folded = (found for found in fold_copies(shown, ()) if found.folded)
        runs = (found.first for found in folded if found.first <= link <= found.last)
        return next((shown.links[first].event for first in runs), None)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        chosen = shown.chosen(focus.link)
        rows = self.rows(snapshot, focus)
        return next((i for i, row in enumerate(rows) if row.first <= chosen <= row.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        assert shown is not None
        event = shown.links[self.rows(snapshot, focus)[row].first].event
        return focus_event(snapshot, replace(focus, link=event), event)

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        return shown.links[shown.chosen(focus.link)].event if shown else None

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        names = [f"{k.name} {k.op_type} {k.graph}" for k in shown.links] if shown else []
        return [" ".join(names[r.first : r.last + 1]) for r in self.rows(snapshot, focus)]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: unfold a run of copies, or go to the pane that lists the tensor."""
        row = self.position(snapshot, focus)
        if row is None:
            return focus
        if self.rows(snapshot, focus)[row].folded:
            return self.unfold(snapshot, focus, unfolded=True)
        shown = shown_chain(snapshot, focus)
        origin = chain_origin(snapshot, shown) if shown else None
        if shown and origin and self.rows(snapshot, focus)[row].first == shown.start:
            return replace(focus, other_process=origin.process)
        focus = self.select(snapshot, focus, row)
        return replace(focus, pane=pane_of_subject(focus))

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """See `Rows`: a run of copies."""
        row = self.position(snapshot, focus)
        copies = None if row is None else self.fold_at(snapshot, focus, row)
        if copies is None:
            return focus
        opened = focus.open_copies | {copies} if unfolded else focus.open_copies - {copies}
        return replace(focus, open_copies=opened)

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: a chain stays as it is."""
        return focus

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the fix."""
        return fix_of(snapshot, focus)


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


ROWS = ChainRows()
