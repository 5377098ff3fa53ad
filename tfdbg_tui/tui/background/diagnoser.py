"""Diagnoses in a thread of its own what the loader has read, and posts the explanation.

A run that is being recorded is diagnosed anew when there is something new to say, and not too
often.  Where something has gone wrong before, the alerts are only counted until the run rests.
The first alerts, and what a program leaves at its end, are diagnosed at once.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis import Explanation
    from tfdbg_tui.tui.session.snapshot import Snapshot

_SHORTEST_PAUSE = 3.0  # seconds between two explanations
_REST = 5.0  # seconds without anything new, before the rest is diagnosed
_SHARE = 8  # of the time, diagnosing may take at most one part in this many and one


@dataclass
class Diagnosed(Message):
    """A snapshot has been diagnosed; `reason` says why it could not be, where it could not."""

    explanation: Explanation | None
    reason: str = ""


class Diagnoser(Worker):
    """Explains the newest snapshot it is given.

    Args:
        post: Called from this thread with each message.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        super().__init__("diagnoser")
        self._post = post
        self._newest: Snapshot | None = None
        self._explained: Snapshot | None = None
        self._diagnosed: Snapshot | None = None
        self._explanation: Explanation | None = None
        self._wanted = threading.Event()
        self._urgent = threading.Event()  # something is to be explained at once, or this is to end
        self._stopped = False

    def explain(self, snapshot: Snapshot) -> None:
        """Explain a snapshot before long, unless a newer one follows or nothing has changed."""
        is_urgent = self._is_urgent(snapshot)
        self._newest = snapshot  # before the thread wakes up, and looks for it
        if is_urgent:
            self._urgent.set()
        self._wanted.set()

    def stop(self) -> None:
        """End the thread soon."""
        self._stopped = True
        self._urgent.set()
        self._wanted.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        while not self._stopped:
            at_rest = not self._wanted.wait(_REST if self._is_due_at_rest() else None)
            self._wanted.clear()
            self._urgent.clear()
            snapshot = self._newest
            if self._stopped or snapshot is None:
                continue
            is_final = at_rest or _has_ended(snapshot)
            if not (is_final or _worth_it(snapshot, self._explained)):
                continue
            if self._knows_more_than(snapshot):
                continue
            started = time.monotonic()
            self._explain(snapshot, anew=is_final)
            cost = time.monotonic() - started
            self._urgent.wait(max(_SHORTEST_PAUSE, cost * _SHARE))

    def _knows_more_than(self, snapshot: Snapshot) -> bool:
        """Whether what was explained is the same run, when all its values could be read."""
        known = self._diagnosed
        if known is None or not snapshot.run.state.shortened or known.run.state.shortened:
            return False
        same_rows = known.run.state.generation == snapshot.run.state.generation
        return same_rows and _are_of_one_run(snapshot, known)

    def _is_urgent(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot is explained at once, however much time that took before."""
        explained, explanation = self._explained, self._explanation
        if explained is None or not _are_of_one_run(snapshot, explained):
            return True
        has_root = explanation is not None and bool(explanation.report.roots)
        return _has_ended(snapshot) or (not has_root and _have_alerts_doubled(snapshot, explained))

    def _is_due_at_rest(self) -> bool:
        """Whether the newest snapshot is diagnosed when nothing more comes.

        While the program runs that is only so where alerts have been counted.
        """
        newest = self._newest
        if newest is None or newest is self._diagnosed or not newest.run.progress.complete:
            return False
        return self._explained is not self._diagnosed or not newest.run.state.writing

    def _explain(self, snapshot: Snapshot, *, anew: bool) -> None:
        self._explained = snapshot
        try:
            self._explanation = (None if anew else self._recounted(snapshot)) or self._new(snapshot)
        except Exception as error:  # whatever it is, the panes go on without an explanation
            self._post(Diagnosed(None, f"The run cannot be diagnosed: {error}"))
        else:
            self._post(Diagnosed(self._explanation))

    def _recounted(self, snapshot: Snapshot) -> Explanation | None:
        """Return the explanation before with more alerts, if that is all that has changed."""
        before, diagnosed = self._explanation, self._diagnosed
        if before is None or diagnosed is None or not before.is_of(snapshot.run):
            return None
        if _has_doubled(snapshot, diagnosed):
            return None
        return before.recounted(snapshot.run, snapshot.alerts)

    def _new(self, snapshot: Snapshot) -> Explanation:
        from tfdbg_tui.diagnosis import Explanation

        self._diagnosed = snapshot
        return Explanation(snapshot.run, snapshot.alerts)


def _worth_it(snapshot: Snapshot, explained: Snapshot | None) -> bool:
    """Whether a snapshot may be explained differently from the one before.

    While a run is read for the first time it is not diagnosed.  Without alerts there may still be
    suspects, which need many tensors to show: they are looked for whenever the run has doubled.
    """
    if explained is None or not _are_of_one_run(snapshot, explained):
        return snapshot.run.progress.complete
    return snapshot.run.num_alerts != explained.run.num_alerts or _has_doubled(snapshot, explained)


def _are_of_one_run(snapshot: Snapshot, other: Snapshot) -> bool:
    return snapshot.run.files.identity == other.run.files.identity


def _has_ended(snapshot: Snapshot) -> bool:
    return snapshot.run.state.writing is False and snapshot.run.progress.complete


def _has_doubled(snapshot: Snapshot, before: Snapshot) -> bool:
    have_events = snapshot.run.num_events > 2 * before.run.num_events
    return have_events or _have_alerts_doubled(snapshot, before)


def _have_alerts_doubled(snapshot: Snapshot, before: Snapshot) -> bool:
    return snapshot.run.num_alerts > 2 * before.run.num_alerts
