"""The lines around the panes: status above; on small screens a pane bar and an overview; keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.actions import footer_actions
from tfdbg_tui.tui.focus import PANES, WHY_PANES, PaneName
from tfdbg_tui.tui.keys import shown_key
from tfdbg_tui.tui.text import compact
from tfdbg_tui.tui.widgets.cells import Bar, joined, width_of
from tfdbg_tui.tui.widgets.overview import overview

if TYPE_CHECKING:
    from textual import events
    from textual.timer import Timer

    from tfdbg_tui.tui.keymap import Keymap
    from tfdbg_tui.tui.session import Session
    from tfdbg_tui.tui.snapshot import Snapshot
    from tfdbg_tui.tui.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MESSAGE_SECONDS = 5.0

_SHORT_TITLES: dict[PaneName, str] = {
    "alerts": "Alerts",
    "timeline": "Exec",
    "graph_execution": "Graph",
    "graph_structure": "Op",
    "source_code": "Src",
    "stack_trace": "Stk",
}


class SessionBar(Bar):
    """A line that shows something of the session."""

    def __init__(self, session: Session, charset: Charset, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.session = session
        self.charset = charset


class StatusLine(SessionBar):
    """Which run, how much of it, how far it has been read."""

    def __init__(
        self,
        session: Session,
        charset: Charset,
        logdir: str,
        *,
        id: str,  # noqa: A002
    ) -> None:
        super().__init__(session, charset, id=id)
        self._logdir = logdir

    def line(self, width: int) -> Line:
        """See `Bar`."""
        snapshot = self.session.snapshot
        right = self._right(snapshot)
        left: list[Cell] = []
        if snapshot is not None:
            run = snapshot.run
            version = run.files.tensorflow_version
            left = [
                (f"{compact(len(run.executions))} executions", "dim"),
                (f"{compact(len(run.graph_executions))} graph executions", "dim"),
                (self._notes(snapshot), "match"),
                (self.charset.safe(run.files.label), "faint"),
                (self.charset.safe(f"TensorFlow {version}") if version else "", "faint"),
            ]
        while left and width_of(joined(left, " . ")) + width_of(right) + 34 > width:
            left.pop()
        facts = joined(left, f" {self.charset.dot} ")
        room = width - width_of(facts) - width_of(right) - 16  # " tfdbg-tui ", gaps, the edge
        path = self.charset.fit_path(self._logdir, max(8, room))
        start: Line = ((" tfdbg-tui ", "key"), (f" {path}  ", "strong"), *facts)
        gap = max(1, width - width_of(start) - width_of(right) - 1)
        return (*start, (" " * gap, ""), *right)

    def _notes(self, snapshot: Snapshot) -> str:
        number = len(snapshot.notes)
        return "" if not number else f"{number} note{'s' if number > 1 else ''}: !"

    def _right(self, snapshot: Snapshot | None) -> Line:
        """Return what is going on: reading, paused, following; and the number of alerts."""
        if snapshot is None:
            return (("no data yet", "dim"),)
        progress = snapshot.run.progress
        cells: list[Cell] = []
        if not progress.complete:
            share = progress.bytes_read * 100 // max(1, progress.bytes_total)
            filled = share // 10
            bar = self.charset.bars[-1] * filled + self.charset.dot * (10 - filled)
            cells.append((f"reading {bar} {share}%", "match"))
        if self.session.paused:
            cells.append(("paused", "match"))
        if self.session.following:
            cells.append(("following", "live"))
        count = len(snapshot.alerts)
        if count:
            cells.append((f" {count:,} alert{'s' if count > 1 else ''} ", "chip-bad"))
        elif snapshot.is_blind:
            cells.append(("alerts unknown", "match"))
        elif progress.complete:
            cells.append(("no alerts", "dim" if snapshot.gaps else "good"))
        if snapshot.gaps:
            cells.append(("incomplete", "match"))
        return (*joined(cells, " "), *self._causes(snapshot))

    def _causes(self, snapshot: Snapshot) -> Line:
        """Return how many causes there are, once the run has been diagnosed."""
        report = snapshot.explanation.report if snapshot.explanation else None
        if report is None:
            return ()
        if not (report.roots or report.suspects):
            return ((" harmless", "good"),) if len(snapshot.alerts) else ()
        number, word = len(report.roots), "root"
        if not number:
            number, word = len(report.suspects), "suspect"
        return ((f" {number:,} {word}{'s' if number > 1 else ''}", "match"),)


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


class OverviewBar(SessionBar):
    """All executions in one line, where the timeline is out of sight."""

    def line(self, width: int) -> Line:
        """See `Bar`."""
        snapshot = self.session.snapshot
        if snapshot is None:
            return ()
        focused = self.session.focus.execution
        return ((" ", ""), *overview(snapshot, focused, width - 2, self.charset))


class KeyBar(SessionBar):
    """The keys of the focused pane, or a message for a while.

    Attributes:
        message: The message; "" while the keys are shown.
        searching: What is being searched for; "" where nothing is.
    """

    class Pressed(Message):
        """A key's label was clicked on."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(
        self,
        session: Session,
        charset: Charset,
        keymap: Keymap,
        *,
        id: str,  # noqa: A002
    ) -> None:
        super().__init__(session, charset, id=id)
        self.message = ""
        self.searching = ""
        self._keymap = keymap
        self._timer: Timer | None = None

    def say(self, message: str) -> None:
        """Show a message in place of the keys for some seconds."""
        self.message = message
        self.show()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_MESSAGE_SECONDS, self.hush)

    def hush(self) -> None:
        """Show the keys again."""
        if self.message:
            self.message = ""
            self.show()

    def line(self, width: int) -> Line:
        """See `Bar`."""
        if self.message:
            return ((f" {self.charset.fit(self.message, width - 2)}", "match"),)
        if self.searching:
            text = f"searching for {self.searching}{self.charset.ellipsis}"
            return (
                (f" {self.charset.fit(text, width - 13)}", "match"),
                (" Esc", "key"),
                (" stops", "dim"),
            )
        return tuple(cell for _, cells in self._labels(width) for cell in cells)

    def _labels(self, width: int) -> list[tuple[str, Line]]:
        """Return the labels that there is room for; the last two, help and quit, always."""
        labels: list[tuple[str, Line]] = [
            (
                action.id,
                (
                    (f" {self._key(keys[0])}", "key"),
                    (f" {self.charset.safe(action.label)} ", "dim"),
                ),
            )
            for action in footer_actions(self.session.focus.pane)
            if (keys := self._keymap.keys(action))
        ]
        while len(labels) > 2 and sum(width_of(cells) for _, cells in labels) > width:
            del labels[-3]
        return labels

    def _key(self, key: str) -> str:
        return self.charset.safe(shown_key(key))

    def on_click(self, event: events.Click) -> None:
        """Tell which label was clicked on."""
        x = 0
        for action_id, cells in self._labels(self.size.width):
            x += width_of(cells)
            if event.x < x:
                self.post_message(self.Pressed(action_id))
                return
