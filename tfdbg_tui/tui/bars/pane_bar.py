"""The panes as tabs, where there is no room for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.session.focus import PANES, WHY_PANES, PaneName
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import width_of

if TYPE_CHECKING:
    from textual import events

    from tfdbg_tui.tui.widgets.cells import Line

_SHORT_TITLES: dict[PaneName, str] = {
    "alerts": "Alerts",
    "timeline": "Exec",
    "graph_execution": "Graph",
    "graph_structure": "Op",
    "source_code": "Src",
    "stack_trace": "Stk",
}


class PaneBar(SessionBar):
    """The panes as tabs, where there is no room for all of them."""

    class Chosen(Message):
        """A tab was clicked on."""

        def __init__(self, pane: PaneName) -> None:
            super().__init__()
            self.pane = pane

    def line(self, width: int) -> Line:
        """See `Bar`."""
        return tuple(cell for _, cells in self._tabs(width) for cell in cells)

    def _tabs(self, width: int) -> list[tuple[PaneName, Line]]:
        tabs: list[tuple[PaneName, Line]] = []
        for number, pane in enumerate(PANES, 1):
            current = pane == self.session.focus.pane
            count = self._count(pane) if width >= 70 else ""
            title = _SHORT_TITLES[pane] if width >= 60 else _SHORT_TITLES[pane][:3]
            label = f" {number} {title}{count} "
            tabs.append((pane, ((label, "focus" if current else "mark"), (" ", ""))))
        if self.session.focus.why is not None:
            current = self.session.focus.pane in WHY_PANES
            tabs.append(("why", ((" w Why ", "focus" if current else "mark"), (" ", ""))))
        return tabs

    def _count(self, pane: PaneName) -> str:
        snapshot = self.session.snapshot
        if snapshot is None or pane not in ("alerts", "timeline", "graph_execution"):
            return ""
        counts = {
            "alerts": len(snapshot.alerts),
            "timeline": len(snapshot.run.executions),
            "graph_execution": len(snapshot.run.graph_executions),
        }
        return f" {compact(counts[pane])}"

    def on_click(self, event: events.Click) -> None:
        """Tell which tab was clicked on."""
        x = 0
        for pane, cells in self._tabs(self.size.width):
            x += width_of(cells)
            if event.x < x:
                self.post_message(self.Chosen(pane))
                return
