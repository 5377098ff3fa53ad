"""All executions in one line, where the timeline is out of sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.panes.overview import overview

if TYPE_CHECKING:
    from tfdbg_tui.tui.widgets.cells import Line


class OverviewBar(SessionBar):
    """All executions in one line, where the timeline is out of sight."""

    def line(self, width: int) -> Line:
        """See `Bar`."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return ()
        focused = self.session.focus.execution
        return ((" ", ""), *overview(snapshot, focused, width - 2, self.charset))
