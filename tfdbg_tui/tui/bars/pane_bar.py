"""The panes as tabs, where there is no room for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.panes import PANES, key_of, pane_named, present_panes
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import width_of

if TYPE_CHECKING:
    from textual import events

    from tfdbg_tui.tui.panes.base import PaneSpec
    from tfdbg_tui.tui.widgets.cells import Line

_WITH_TITLES, _WITH_COUNTS = 60, 70  # columns that there have to be


class PaneBar(SessionBar):
    """The panes as tabs, where there is no room for all of them."""

    @dataclass
    class Chosen(Message):
        """A tab was clicked on."""

        pane: str

    def line(self, width: int) -> Line:
        """See `Bar`."""
        return tuple(cell for _, cells in self._tabs(width) for cell in cells)

    def _tabs(self, width: int) -> list[tuple[str, Line]]:
        """Return the tabs by pane; that of the panes that answer why, while they are open."""
        focus, tabs = self.session.focus, []
        for spec in present_panes(self.session.snapshot):
            if spec.answers_why:
                continue
            count = self._count(spec) if width >= _WITH_COUNTS else ""
            title = spec.short_title if width >= _WITH_TITLES else spec.short_title[:3]
            tabs.append(_tab(spec, f"{title}{count}", chosen=spec.name == focus.pane))
        if focus.why is not None:
            first = next(spec for spec in PANES if spec.answers_why)
            chosen = pane_named(focus.pane).answers_why
            tabs.append(_tab(first, first.short_title, chosen=chosen))
        return tabs

    def _count(self, spec: PaneSpec) -> str:
        snapshot = self.session.snapshot
        return f" {compact(spec.total(snapshot))}" if snapshot and spec.total else ""

    def on_click(self, event: events.Click) -> None:
        """Tell which tab was clicked on."""
        x = 0
        for pane, cells in self._tabs(self.size.width):
            x += width_of(cells)
            if event.x < x:
                self.post_message(self.Chosen(pane))
                return


def _tab(spec: PaneSpec, text: str, *, chosen: bool) -> tuple[str, Line]:
    label = f" {key_of(spec)} {text} "
    return spec.name, ((label, "focus" if chosen else "mark"), (" ", ""))
