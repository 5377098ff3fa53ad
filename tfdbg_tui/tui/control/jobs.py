"""Looking at jobs of several processes: at their root first, then at whichever is asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.tui import navigation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.logdir.several import Unlisted
    from tfdbg_tui.tui.background.job_reader import JobsRead
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts


class Jobs:
    """Has the processes of jobs summarised, and opens them.

    Args:
        parts: The app.
        navigator: Moves the focus.
    """

    def __init__(self, parts: Parts, navigator: Navigator) -> None:
        self._parts = parts
        self._session = parts.session
        self._navigator = navigator
        self._root: Literal["unknown", "known", "looked at"] = "unknown"

    def found(self, processes: Sequence[RunFiles], unlisted: Sequence[Unlisted]) -> None:
        """Summarise processes, and tell which logdirs could not be listed."""
        self._parts.job_reader.read(processes, unlisted)

    def read(self, message: JobsRead) -> None:
        """Show what has been summarised; go to the root, once, where nobody has gone anywhere."""
        if self._root != "looked at":
            self._root = "known" if message.complete else "unknown"
        self._session.show_jobs(message.jobs)

    def _open_on_root(self) -> None:
        """Go to the root; what has been summarised may be known before a process can be shown."""
        snapshot = self._session.snapshot
        job = snapshot.job if snapshot else None
        if snapshot is None or job is None:
            return
        self._root = "looked at"
        if not job.report.roots:
            return
        root = job.report.roots[0]
        if self._navigator.is_untouched and snapshot.worker not in root.workers:
            self._open(job.processes[root.workers[0]], "")

    def look(self) -> None:
        """Open the process that has been asked for, if one has, or that of the root."""
        if self._root == "known":
            self._open_on_root()
        snapshot, focus = self._session.snapshot, self._session.focus
        asked = focus.other_process
        if snapshot is None or snapshot.job is None or asked is None:
            return
        self._session.refine(replace(focus, other_process=None))
        self._parts.say(f"opening {snapshot.job.name_of(asked.number)}")
        self._open(snapshot.job.processes[asked.number], asked.target)

    def _open(self, files: RunFiles, target: str) -> None:
        if target:
            self._navigator.aim(partial(navigation.goto, target=target), files)
        self._parts.loader.choose(files)
