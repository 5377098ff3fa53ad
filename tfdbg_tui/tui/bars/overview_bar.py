"""All executions in one line, where the timeline is out of sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.panes import timeline
from tfdbg_tui.tui.panes.overview import overview

if TYPE_CHECKING:
    from textual import events

    from tfdbg_tui.tui.widgets.cells import Line


class OverviewBar(SessionBar):
    """All executions in one line, where the timeline is out of sight."""

    @dataclass
    class Chosen(Message):
        """A place was clicked on: a row of the timeline."""

        row: int

    def line(self, width: int) -> Line:
        """See `Bar`."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return ()
        focused = self.session.focus.execution
        return ((" ", ""), *overview(snapshot, focused, width - 2, self.charset))

    def on_click(self, event: events.Click) -> None:
        """Tell which execution was clicked on."""
        session = self.session
        if session.snapshot is None:
            return
        cell, cells = event.x - 1, self.size.width - 2
        row = timeline.ROWS.at_overview(session.snapshot, session.focus, cell, cells)
        if row is not None:
            self.post_message(self.Chosen(row))
