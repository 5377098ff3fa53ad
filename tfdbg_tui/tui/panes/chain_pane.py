"""What Why and Cause have in common: they show the way of the tensor that was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.panes.why_rows import shown_way

if TYPE_CHECKING:
    from tfdbg_tui.tui.way import Way


class WayPane(Pane):
    """A pane that is empty until the way has been found."""

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
    def found_way(self) -> Way | None:
        """The way; None until it has been found."""
        snapshot = self.session.snapshot
        return shown_way(snapshot, self.session.focus) if snapshot else None

    @property
    def way(self) -> Way:
        """The way, where there are rows."""
        way = self.found_way
        assert way is not None
        return way
