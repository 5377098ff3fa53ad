"""The reactive model: what has been loaded, what is focused, and who wants to know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import findings_within
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.recording import Recording
from tfdbg_tui.tui.session.remap import is_same_run, remapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import Explanation, Finding, TensorEvent
    from tfdbg_tui.tui.session.job import Job
    from tfdbg_tui.tui.session.searched import Searched
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.session.tree import Tree

_HISTORY = 1000
OPENING = "Opening the logdir"
"""Why there is nothing to show at first."""
DIAGNOSING = "Diagnosing the run"
"""Why there is no explanation at first, or none of what is newer."""


class Session:
    """Holds a snapshot and a focus; calls its listeners whenever one of them changes.

    Args:
        settle: Returns a focus that stands on something in a snapshot.
        pane: Name of the pane that has the keys at first.

    Attributes:
        snapshot: The run as far as it is shown; None until something has been read.
        waiting: Why there is nothing to show yet.
        following: Whether the focus moves along with what is being recorded.
        paused: Whether the snapshot stays as it is though the run grows.
        held: The newest snapshot, while paused.
        unexplained: Why there is no explanation yet.
        finding_tree: Whether the tree of what is focused is being found.
        earlier_tree: The one to show meanwhile, from an earlier state of the run; None for none.
        searched: What is searched for, and how much of it there is; None where nothing is.
        recording: What there is to say about a run that is being recorded.
    """

    def __init__(self, settle: Callable[[Snapshot, Focus], Focus], pane: str) -> None:
        self._settle = settle
        self.snapshot: Snapshot | None = None
        self.waiting = OPENING
        self.following = False
        self.paused = False
        self.held: Snapshot | None = None
        self.unexplained = DIAGNOSING
        self.finding_tree = False
        self.earlier_tree: Tree | None = None
        self.searched: Searched | None = None
        self.recording = Recording()
        self._explanation: Explanation | None = None
        self._jobs: Sequence[Job] = ()
        self._retold: Explanation
        self._retold_of: tuple[Explanation | None, dict[TensorEvent, Finding]] = (None, {})
        self._focus = Focus(pane)
        self._tree_rows = self._focus.unfolded
        self._back: list[Focus] = []
        self._forward: list[Focus] = []
        self._kept: Focus | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def focus(self) -> Focus:
        """What is focused."""
        return self._focus

    @focus.setter
    def focus(self, focus: Focus) -> None:
        if self.snapshot is not None:
            focus = self._settle(self.snapshot, focus)
        if not focus.forks:  # they are paths that differ from what is unfolded
            focus = replace(focus, unfolded=self._tree_rows)
        if focus != self._focus:
            self._focus = focus
            self.notify()

    def fit_tree(self, rows: int) -> None:
        """Unfold as many rows of Graph Structure as there is room for."""
        self._tree_rows = rows
        self.focus = self._focus

    @property
    def is_undiagnosed(self) -> bool:
        """Whether a run is shown of which diagnosis has not said anything yet."""
        return self.snapshot is not None and self.snapshot.explanation is None

    def refine(self, focus: Focus) -> None:
        """Focus something more exactly, without telling the listeners: they are about to look."""
        self._focus = focus

    def keep(self) -> None:
        """Keep what is focused, for `kept`, while something is tried."""
        self._kept = self._focus

    @property
    def kept(self) -> Focus:
        """What was focused at the last `keep`, as it is now; the focus where it is gone."""
        return self._kept or self._focus

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change from now on."""
        self._listeners.append(listener)

    def notify(self) -> None:
        """Tell the listeners that something has changed."""
        for listener in self._listeners:
            listener()

    def jump(self, focus: Focus) -> None:
        """Focus something that `back` shall return from."""
        if focus != self._focus:
            self._back = [*self._back[-_HISTORY:], self._focus]
            self._forward = []
            self.focus = focus

    def back(self) -> bool:
        """Return to the focus before the last jump; False where there is none."""
        if not self._back:
            return False
        self._forward.append(self._focus)
        self.focus = self._back.pop()
        return True

    def forward(self) -> bool:
        """Undo `back`; False where there is nothing to undo."""
        if not self._forward:
            return False
        self._back.append(self._focus)
        self.focus = self._forward.pop()
        return True

    def load(self, snapshot: Snapshot) -> None:
        """Show a newer snapshot, or keep it for later while paused.

        What is focused stays focused, unless the snapshot is of another run.
        """
        newest = self.held or self.snapshot
        if newest is not None and not is_same_run(newest.run, snapshot.run):
            self._forget()
        self.recording.note(snapshot.run)
        snapshot = self._completed(snapshot)
        if self.paused and self.snapshot is not None:
            self.held = snapshot
        else:
            self._show(snapshot)
        self.notify()

    def _show(self, snapshot: Snapshot) -> None:
        before, after = self.snapshot, snapshot

        def moved(focus: Focus) -> Focus:
            return self._settle(after, remapped(focus, before.run, after.run) if before else focus)

        self._focus = moved(self._focus)
        self._back = list(map(moved, self._back))
        self._forward = list(map(moved, self._forward))
        self._kept = moved(self._kept) if self._kept else None
        self.snapshot = snapshot

    def _forget(self) -> None:
        """Start over: what comes is another run."""
        self.snapshot = self.held = None
        self.paused = False
        self.unexplained = DIAGNOSING
        self._explanation = None
        self.searched = None
        self._focus = Focus(self._focus.pane, sorts=self._focus.sorts)
        self._back, self._forward, self._kept = [], [], None
        self.recording.forget()

    def follow(self, following: bool) -> None:
        """Move along with what is recorded from now on, or stop where the view is."""
        self.following = following
        self.recording.attached = self.recording.attached or following
        self.recording.mark = None if following else self.recording.total
        if following:
            self.set_paused(False)
        else:
            self.notify()

    def explain(self, explanation: Explanation) -> None:
        """Show what diagnosis says of the run."""
        self.unexplained = DIAGNOSING
        self._explanation = explanation
        self._tell_again()

    def leave_unexplained(self, reason: str) -> None:
        """Show that the run cannot be diagnosed, and why."""
        self.unexplained = reason
        self.notify()

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """Show what is known of jobs of several processes; the shown run may be of one."""
        self._jobs = jobs
        self._tell_again()

    def _tell_again(self) -> None:
        """Show what there is to say by now."""
        self.snapshot = self._completed(self.snapshot) if self.snapshot else None
        self.held = self._completed(self.held) if self.held else None
        self.notify()

    def _completed(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with all that is known of its run."""
        snapshot = snapshot.within(self._jobs)
        if self._explanation is None:
            return snapshot
        job, explanation = snapshot.job, self._explanation
        roots = explanation.report.roots
        findings = findings_within(roots, job.report, snapshot.worker) if job else {}
        if (explanation, findings) != self._retold_of:
            self._retold_of = explanation, findings
            self._retold = explanation.retold(findings) if findings else explanation
        return snapshot.explained(self._retold)

    def set_paused(self, paused: bool) -> None:
        """Stop or resume showing newer snapshots."""
        self.paused = paused
        held, self.held = self.held, None
        if not paused and held is not None:
            self._show(held)
        self.notify()
