"""What Why and Cause have in common: they show the chain of the tensor that was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import cards
from tfdbg_tui.tui.panes.base import Pane

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Chain
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def shown_chain(snapshot: Snapshot, focus: Focus) -> Chain | None:
    """Return the chain that is shown; None while it is closed, or has not been found yet."""
    if focus.why is None or snapshot.explanation is None:
        return None
    return snapshot.explanation.known_chain(focus.why)


def fix_of(snapshot: Snapshot, focus: Focus) -> str:
    """Return the fix of the finding that the shown chain begins with; "" where there is none."""
    chain = shown_chain(snapshot, focus)
    return cards.fix(chain.finding) if chain and chain.finding else ""


class ChainPane(Pane):
    """A pane that is empty until the chain has been found."""

    EMPTY = "Press w on a tensor to see what made it."

    @property
    def reason_when_empty(self) -> str:
        """See `Pane`."""
        snapshot = self.session.snapshot
        if self.session.focus.why is None or snapshot is None:
            return super().reason_when_empty
        if snapshot.explanation is None:
            return self.session.unexplained
        return f"Finding what made it{self.charset.ellipsis}"

    @property
    def found_chain(self) -> Chain | None:
        """The chain; None until it has been found."""
        snapshot = self.session.snapshot
        return shown_chain(snapshot, self.session.focus) if snapshot else None

    @property
    def chain(self) -> Chain:
        """The chain, where there are rows."""
        chain = self.found_chain
        assert chain is not None
        return chain
