"""The line above all: which run, how much of it, its alerts and roots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.bars.key_bar import KeyBar
from tfdbg_tui.tui.bars.session_bar import SessionBar
from tfdbg_tui.tui.session.session import DIAGNOSING
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import joined, width_of

if TYPE_CHECKING:
    from textual import events

    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_AROUND = 17  # cells for " tfdbg-tui ", gaps, the edge
_PATH = 8  # cells of the logdir's name, at least
_OTHERS = 34  # cells for the program's name, some of the logdir's, and gaps


class StatusLine(SessionBar):
    """Which run, how much of it, how far it has been read.

    Args:
        session: What is shown and focused.
        charset: The characters to draw with.
        logdir: Where runs are looked for.
        id: Its id in the style sheet.
    """

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
        logdir = self._where(snapshot)
        whens = _when_first_bad(snapshot)
        right = self._right(snapshot, whens[0])
        left: list[Cell] = []
        if snapshot is not None:
            run = snapshot.run
            version = run.files.tensorflow_version
            left = [
                (self._worker(snapshot), "strong"),
                (_counted(len(run.executions), "execution"), "dim"),
                (_counted(len(run.graph_executions), "graph execution"), "dim"),
                (self._notes(snapshot), "match"),
                (self.charset.safe(run.files.label), "faint"),
                (self.charset.safe(f"TensorFlow {version}") if version else "", "faint"),
            ]
        if snapshot is not None and snapshot.job and not _fit(left[:1], right, width):
            whens = ("",)  # which process it is tells more
            right = self._right(snapshot, "")
        while left and not _fit(left, right, width):
            left.pop()
        for when in whens[1:]:
            if width - width_of(right) - _AROUND < min(_PATH, len(logdir)):
                right = self._right(snapshot, when)
        facts = joined(left, f" {self.charset.dot} ")
        room = width - width_of(facts) - width_of(right) - _AROUND
        path = self.charset.fit_path(logdir, max(_PATH, room))
        start: Line = ((" tfdbg-tui ", "key"), (f" {path}  ", "strong"), *facts)
        gap = max(1, width - width_of(start) - width_of(right) - 1)
        return (*start, (" " * gap, ""), *right)

    def on_click(self, event: events.Click) -> None:
        """Go from the number of alerts, and of roots, to the first; show the notes from theirs."""
        snapshot, x = self.session.snapshot, 0
        for number, (text, style) in enumerate(line := self.line(self.size.width), 1):
            x += width_of(((text, style),))
            if snapshot is None or event.x >= x:
                continue
            tells_roots = number == len(line) and snapshot.explanation is not None
            if style == "chip-bad" or tells_roots:
                self.post_message(KeyBar.Pressed("first_alert"))
            elif text and text == self._notes(snapshot):
                self.post_message(KeyBar.Pressed("notes"))
            return

    def _where(self, snapshot: Snapshot | None) -> str:
        """Return where the run is; of a job, and before there is one, where it is looked for."""
        if snapshot is None or snapshot.job:
            return self._logdir
        return snapshot.run.files.directory

    def _worker(self, snapshot: Snapshot) -> str:
        """Return which process of a job the panes show."""
        job = snapshot.job
        if job is None:
            return ""
        return f"{job.name_of(snapshot.worker)}, one of {len(job.processes):,}"

    def _notes(self, snapshot: Snapshot) -> str:
        number = len(snapshot.notes)
        return "" if not number else f"{number} note{'s' if number > 1 else ''}: !"

    def _right(self, snapshot: Snapshot | None, when: str) -> Line:
        """Return what is going on: reading, paused, following; and the number of alerts.

        Args:
            snapshot: What is shown.
            when: When the first was bad.
        """
        if snapshot is None:
            program = self.session.recording.program
            is_over = program is not None and program.exit_code is not None
            return (("no data" if is_over else "no data yet", "dim"),)
        progress = snapshot.run.progress
        cells: list[Cell] = []
        if not progress.complete:
            share = progress.bytes_read * 100 // max(1, progress.bytes_total)
            filled = share // 10
            bar = self.charset.bars[-1] * filled + self.charset.dot * (10 - filled)
            cells.append((f"reading {bar} {share}%", "match"))
        if self.session.paused:
            cells.append(("paused", "match"))
        elif self.session.following:
            cells.append(("following", "live"))
        count = len(snapshot.alerts)
        if count:
            cells.append((f" {count:,} alert{'s' if count > 1 else ''} ", "chip-bad"))
        elif snapshot.is_blind:
            cells.append(("alerts unknown", "match"))
        elif progress.complete:
            is_clean = not snapshot.gaps and not self.session.is_undiagnosed
            cells.append(("no alerts", "good" if is_clean else "dim"))
        if snapshot.gaps:
            cells.append(("incomplete", "match"))
        return (*joined(cells, " "), *self._causes(snapshot, when))

    def _causes(self, snapshot: Snapshot, when: str) -> Line:
        """Return how many causes there are, and when the first was bad, once that is known."""
        explanation = snapshot.explanation
        if explanation is None:
            return ((self._undiagnosed(), "dim"),) if snapshot.run.progress.complete else ()
        report = explanation.report
        if not report.roots and len(explanation.alerts) != len(snapshot.alerts):
            return ((self._undiagnosed(), "dim"),)  # It says nothing about the newer ones.
        if not (report.roots or report.suspects):
            return ((" harmless", "good"),) if len(snapshot.alerts) else ()
        number, word = len(report.roots), "root"
        if not number:
            number, word = len(report.suspects), "suspect"
        first = f", {when}" if when else ""
        return ((f" {number:,} {word}{'s' if number > 1 else ''}{first}", "match"),)

    def _undiagnosed(self) -> str:
        is_pending = self.session.unexplained == DIAGNOSING
        return " diagnosing" if is_pending else " not diagnosed"


def _counted(number: int, what: str) -> str:
    return f"{compact(number)} {what}{'s' * (number != 1)}"


def _when_first_bad(snapshot: Snapshot | None) -> tuple[str, ...]:
    """Return when the first was bad, in more and in fewer words."""
    explanation = snapshot.explanation if snapshot else None
    when = explanation.report.first_bad if explanation else ""
    step, comma, batch = when.partition(", ")
    brief = step.partition(" of ")[0]
    return when, brief + comma + batch if batch else when, step, brief


def _fit(facts: list[Cell], right: Line, width: int) -> bool:
    """Whether some facts have room beside the name of the logdir and what is going on."""
    return width_of(joined(facts, " . ")) + width_of(right) + _OTHERS <= width
