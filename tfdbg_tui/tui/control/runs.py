"""Choosing a run, and going on to runs that begin meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.await_complete import AwaitComplete

from tfdbg_tui.logdir.processes import are_of_a_cluster, processes_of
from tfdbg_tui.logdir.several import common_path, list_runs_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.tui.background.surveyor import Reports
    from tfdbg_tui.tui.control.parts import Parts
    from tfdbg_tui.tui.session.snapshot import Snapshot


class Runs:
    """Opens runs of the logdir.

    Args:
        parts: The app.
        chosen: Label of the run that the command line names; None where it names none.
    """

    def __init__(self, parts: Parts, chosen: str | None) -> None:
        self._parts = parts
        self._chosen = chosen
        self._found: Reports = {}

    def choose(self, runs: Sequence[RunFiles]) -> Awaitable[object]:
        """Show some runs and open the one that the user chooses; await that they are shown."""
        from tfdbg_tui.tui.screens.runs import RunsScreen

        def chosen(files: RunFiles | None) -> None:
            if files is not None:
                self._open(files)

        app = self._parts.app
        if not isinstance(app.screen, RunsScreen):
            snapshot = self._parts.session.snapshot
            screen = RunsScreen(
                runs,
                common_path(self._parts.logdirs),
                self._parts.charset,
                shown=snapshot.run.files.identity if snapshot else None,
                newer=bool(self._parts.session.recording.newer_run),
                known=_reports(snapshot),
                found=self._found,
                workers=_workers(snapshot),
            )
            return app.push_screen(screen, chosen)
        return AwaitComplete()

    def choose_any(self) -> None:
        """Show all runs of the logdirs and open the one that the user chooses."""
        runs, unlisted = list_runs_of(self._parts.logdirs)
        if runs:
            self.choose(processes_of(runs) if are_of_a_cluster(runs) else runs)
        else:
            self._parts.say(str(unlisted[0][1]))

    def begun(self, files: RunFiles) -> None:
        """Go to a run that has begun, if the view stands at the newest event; else offer it."""
        session = self._parts.session
        at_newest = session.following and not session.paused
        if self._chosen is None and (at_newest or session.snapshot is None):
            self._open(files)
            self._parts.say(f"a new run has begun: {files.label}")
        else:
            session.recording.newer_run = files.label
            session.notify()

    def _open(self, files: RunFiles) -> None:
        self._parts.session.recording.newer_run = ""
        self._parts.loader.choose(files)


def _reports(snapshot: Snapshot | None) -> dict[tuple[str, str], Report]:
    """Return the report of the run that is shown, by its identity, once there is one."""
    if snapshot is None or snapshot.explanation is None:
        return {}
    return {snapshot.run.files.identity: snapshot.explanation.report}


def _workers(snapshot: Snapshot | None) -> dict[tuple[str, str], str]:
    """Return the names of the processes of the job that is shown, by their identity."""
    job = snapshot.job if snapshot else None
    if job is None:
        return {}
    return {files.identity: job.name_of(n) for n, files in enumerate(job.processes)}
