"""What there is to say about a run that is being recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import RecordingStatus, StatusTracker, duration
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Phase
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.widgets.cells import Cell

_JUST_NOW_SECONDS = 3.0


@dataclass(slots=True)
class Recording:
    """How a run that is being recorded is doing.

    Attributes:
        program: The program that this debugger has started.
        tracker: How the recording is doing.
        attached: Whether the user has asked to follow the run.
        growing: Whether the run has grown since it was opened.
        mark: Number of events when the view last stood at the newest; None until all was read.
        total: Number of events now, whether shown or not.
        announcement: What has happened that the user has not looked at yet.
        was_bad: Whether something bad was on record at the last diagnosis.
        newer_run: Label of a run that has begun since this one was opened.
    """

    program: Program | None = None
    tracker: StatusTracker = field(default_factory=StatusTracker)
    attached: bool = False
    growing: bool = False
    mark: int | None = None
    total: int = 0
    announcement: str = ""
    was_bad: bool = False
    newer_run: str = ""
    _run: Run | None = None
    _generation: int = 0
    _suspended: bool = False
    _off_because: str = ""
    _only_bad_because: str = ""
    _killed: bool = False
    _shortened: bool = False

    def note(self, run: Run) -> None:
        """Take notice of the newest state of the run."""
        self.tracker.note(run)
        self._run = run
        self._suspended = run.state.suspended
        is_over = run.state.writing is False
        self._off_because = "" if is_over else run.pause_reason
        self._only_bad_because = "" if is_over or self._off_because else run.only_bad_reason
        self._killed = run.state.killed
        self._shortened = run.state.shortened
        if run.state.generation != self._generation:
            self._generation = run.state.generation
            self.growing = True
            self.mark = None
        if self.mark is None and run.progress.complete:
            self.mark = run.num_events
        elif self.mark is not None and run.num_events > self.total:
            self.growing = True
        self.total = run.num_events

    @property
    def phase(self) -> Phase | None:
        """What is going on; None before anything has been read."""
        status = self.tracker.status()
        return status.phase if status else None

    def forget(self) -> None:
        """Start over, for another run."""
        self.tracker = StatusTracker()
        self.growing = self.was_bad = False
        self.mark, self.total = None, 0
        self.announcement = self.newer_run = ""
        self._generation = 0
        self._off_because = self._only_bad_because = ""

    def facts(self, *, following: bool, shown: int | None, brief: bool = False) -> list[Cell]:
        """Return what to say, the most important last; nothing for a run that is at rest.

        Args:
            following: Whether the view stands at the newest event.
            shown: Number of events that the view stops at, while it is paused.
            brief: Whether there is no room for reasons.
        """
        problem = self._run.connection_problem if self._run else ""
        if problem:  # then nobody knows more
            return [(f"trying again, {problem}", "match")]
        status = self.tracker.status()
        cells: list[Cell] = []
        if self._off_because:  # nothing new is what one expects then
            cells.append((self._off(brief=brief), "match"))
        elif status is not None and (self.attached or self.growing or self.program):
            cells.append(self._words(status))
        elif self.program is not None:
            cells.append(_program_words(self.program))
        if self._only_bad_because:
            words = f"only what is bad is recorded, as {self._only_bad_because}"
            cells.append((words, "match"))
        mark = shown if shown is not None else self.mark
        if not following and self.growing and mark is not None and self.total > mark:
            cells.append((f"+{self.total - mark:,} new, F follows", "match"))
        if self.newer_run:
            cells.append(("a newer run, R opens it", "match"))
        if self.announcement:
            cells.append((self.announcement, "chip-bad"))
        return cells

    def _off(self, *, brief: bool) -> str:
        if not brief:
            return f"recording is off, as {self._off_because}: P switches it on"
        is_asked_for = self._off_because == omissions.BY_THE_USER
        return f"recording is off: {'' if is_asked_for else '! tells why, '}P switches it on"

    def _words(self, status: RecordingStatus) -> Cell:
        silent, program = duration(status.silent), self.program
        if self._shortened:
            return "a file became shorter; what was read stays: ! tells", "match"
        if status.phase == "recording":
            return self._recording(status), "live"
        if status.phase == "deleted":
            return "the logdir has been deleted; what was read stays", "match"
        if self._suspended:
            return f"nothing new for {silent}, the program is stopped (Ctrl-Z, SIGSTOP)", "match"
        if program is not None:
            state, style = _program_words(program)
            return f"{state}, nothing new for {silent}" if program.running else state, style
        if status.phase == "buffering":
            words = "TensorFlow's ring buffer holds the events back: circular_buffer_size=-1"
            return words, "match"
        if status.phase == "quiet":
            return f"nothing new for {silent}, the program lives", "dim"
        if status.phase == "ended":
            how = "was killed or crashed" if self._killed else "ended"
            return f"the program {how} {silent} ago", "match"
        if status.silent < _JUST_NOW_SECONDS:
            return "nothing new yet", "dim"
        return f"silent {silent}: idle, ended or killed", "dim"

    def _recording(self, status: RecordingStatus) -> str:
        words = "recording"
        if self._run and self._run.files.circular_buffer_size:
            words += " into a ring buffer"
        elif status.events_per_second:
            words += f" {compact(round(status.events_per_second))} events/s"
        return words if status.lag is None else f"{words}, lag {_span(status.lag)}"


def _program_words(program: Program) -> Cell:
    return f"the program {program.brief}", "live" if program.running else "match"


def _span(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
