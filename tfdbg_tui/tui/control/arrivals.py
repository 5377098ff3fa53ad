"""What is done when the run has been read on, or diagnosed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.session.announcements import announce_first_bad

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Phase
    from tfdbg_tui.tui.background.diagnoser import Diagnosed
    from tfdbg_tui.tui.control.last_views import LastViews
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts
    from tfdbg_tui.tui.session.snapshot import Snapshot


class Arrivals:
    """Shows what has been read and what diagnosis says, and moves along with it.

    Args:
        parts: The app.
        navigator: Moves the focus.
        last_views: Goes to where runs were left.
        until_bad: Whether to stop following, and go to the root, when something is bad.
        bell: Whether to ring the terminal's bell when something is bad for the first time.
    """

    def __init__(
        self,
        parts: Parts,
        navigator: Navigator,
        last_views: LastViews,
        *,
        until_bad: bool,
        bell: bool,
    ) -> None:
        self._parts = parts
        self._session = parts.session
        self._navigator = navigator
        self._last_views = last_views
        self._until_bad = until_bad
        self._bell = bell
        self._phase: Phase | None = None

    def tick(self) -> None:
        """Show what changes without anything being recorded: how long, and no longer."""
        phase = self._session.recording.phase
        if phase == self._phase:
            self._parts.main.show_time()
        else:
            self._phase = phase
            self._session.notify()

    def waiting(self, reason: str) -> None:
        """Say why there is nothing to show yet."""
        self._session.waiting = reason
        self._session.notify()

    def loaded(self, snapshot: Snapshot) -> None:
        """Show what has been read."""
        session = self._session
        self._last_views.leave_for(snapshot)
        session.load(snapshot)
        self._last_views.restore()
        self._parts.diagnoser.explain(snapshot)
        going = self._navigator.go_to_target(complete=snapshot.run.progress.complete)
        if not going and session.following and not session.paused:
            self._navigator.go(navigation.latest, jump=False)

    def diagnosed(self, message: Diagnosed) -> None:
        """Show what diagnosis says, and announce the first bad tensor."""
        if message.explanation is None:
            self._session.leave_unexplained(message.reason)
            self._parts.say(message.reason)
            return
        self._session.explain(message.explanation)
        self._navigator.open_on_root()
        if announce_first_bad(self._session, self._parts.charset):
            self._first_bad()

    def _first_bad(self) -> None:
        if self._bell:
            self._parts.app.bell()
        if self._until_bad:
            self._session.follow(False)
            self._navigator.drop_target()
            with self._navigator.acting():
                self._navigator.go(navigation.first_alert, jump=True)
            self._session.recording.announcement = ""
        self._session.notify()
