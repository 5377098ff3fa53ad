"""Diagnoses in a thread of its own what the loader has read, and posts the explanation.

A run that is being recorded is diagnosed anew when its alerts have changed, and not too often.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.tui.explanation import Explanation
    from tfdbg_tui.tui.snapshot import Snapshot

_SHORTEST_PAUSE = 3.0  # seconds between two diagnoses
_SHARE = 8  # of the time, diagnosing may take at most one part in this many and one


class Explained(Message):
    """A snapshot has been diagnosed; `reason` says why it could not be, where it could not."""

    def __init__(self, explanation: Explanation | None, reason: str = "") -> None:
        super().__init__()
        self.explanation = explanation
        self.reason = reason


class Explainer(Worker):
    """Explains the newest snapshot it is given.

    Args:
        post: Called from this thread with each message.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        super().__init__("explainer")
        self._post = post
        self._newest: Snapshot | None = None
        self._explained: Snapshot | None = None
        self._news = threading.Event()
        self._stopped = threading.Event()

    def explain(self, snapshot: Snapshot) -> None:
        """Explain a snapshot before long, unless a newer one follows or nothing has changed."""
        self._newest = snapshot
        self._news.set()

    def stop(self) -> None:
        """End the thread soon."""
        self._stopped.set()
        self._news.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        while not self._stopped.is_set():
            self._news.wait()
            self._news.clear()
            snapshot = self._newest
            if snapshot is None or not _worth_it(snapshot, self._explained):
                continue
            started = time.monotonic()
            self._explain(snapshot)
            cost = time.monotonic() - started
            self._stopped.wait(max(_SHORTEST_PAUSE, cost * _SHARE))

    def _explain(self, snapshot: Snapshot) -> None:
        from tfdbg_tui.tui.explanation import Explanation

        self._explained = snapshot
        try:
            explanation = Explanation(snapshot)
        except Exception as error:  # whatever it is, the panes go on without an explanation
            self._post(Explained(None, f"The run cannot be diagnosed: {error}"))
        else:
            self._post(Explained(explanation))


def _worth_it(snapshot: Snapshot, explained: Snapshot | None) -> bool:
    """Whether a snapshot may be explained differently from the one before.

    While a run is read for the first time it is left in peace.  Without alerts there may still be
    suspects, which need many tensors to show: they are looked for whenever the run has doubled.
    """
    if explained is None:
        return snapshot.run.progress.complete
    if explained.run.files.label != snapshot.run.files.label:
        return True
    if len(snapshot.alerts) != len(explained.alerts):
        return True
    return _size(snapshot) >= 2 * _size(explained)


def _size(snapshot: Snapshot) -> int:
    return len(snapshot.run.executions) + len(snapshot.run.graph_executions) + 1
