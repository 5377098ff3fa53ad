"""Opening a run where it was left, and remembering where that is."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.session.last_view import keep_last_view, read_last_view

if TYPE_CHECKING:
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts
    from tfdbg_tui.tui.session.snapshot import Snapshot


class LastViews:
    """Goes to where runs were left.

    Args:
        parts: The app.
        navigator: Moves the focus.
        fresh: Whether runs open on their roots instead.
    """

    def __init__(self, parts: Parts, navigator: Navigator, *, fresh: bool) -> None:
        self._parts = parts
        self._session = parts.session
        self._navigator = navigator
        self._fresh = fresh
        self._opened: set[tuple[str, str]] = set()

    def restore(self) -> None:
        """Go to where the shown run was left, once, unless the user goes somewhere else."""
        snapshot = self._session.snapshot
        if snapshot is None or snapshot.run.files.identity in self._opened:
            return
        files = snapshot.run.files
        self._opened.add(files.identity)
        if self._fresh or not self._navigator.is_untouched:
            return
        view = read_last_view(files)
        if view is not None:
            self._navigator.aim(partial(navigation.restored, view=view), files)
            self._parts.say("as you left it: a goes to the first root, --fresh opens there")

    def leave_for(self, snapshot: Snapshot) -> None:
        """Remember where the shown run is left, if what comes is of another one."""
        shown = self._session.snapshot
        if shown is not None and shown.run.files.identity != snapshot.run.files.identity:
            self.keep()

    def keep(self) -> None:
        """Remember where the shown run is left, if the user has gone anywhere in it."""
        snapshot = self._session.snapshot
        if snapshot is None or self._navigator.is_untouched:
            return
        with contextlib.suppress(OSError):  # nobody is there any more to be told
            view = navigation.view_of(snapshot, self._session.focus)
            keep_last_view(snapshot.run.files, view)
