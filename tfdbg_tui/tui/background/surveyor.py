"""Diagnoses the runs of a logdir one by one, the newest first, for the list to choose from."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.logdir import RunFiles

_LARGEST = 64 << 20  # bytes: larger runs are left alone, as reading them takes seconds


@dataclass
class Surveyed(Message):
    """A run has been looked at; `report` is None where it is too large, or cannot be read."""

    files: RunFiles
    report: Report | None


class Surveyor(Worker):
    """Diagnoses runs.

    Args:
        runs: The runs, oldest first.
        post: Called from this thread with a message for each.
    """

    def __init__(self, runs: Sequence[RunFiles], post: Callable[[Message], object]) -> None:
        super().__init__("surveyor")
        self._runs = runs
        self._post = post
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the thread after the run that it looks at."""
        self._stopped.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        for files in reversed(self._runs):
            if self._stopped.is_set():
                return
            self._post(Surveyed(files, _report(files)))


def _report(files: RunFiles) -> Report | None:
    from tfdbg_tui.diagnosis import diagnose
    from tfdbg_tui.logdir import RunReader

    try:
        reader = RunReader(files)
        if reader.poll().progress.bytes_total > _LARGEST:
            return None
        return diagnose(reader.read_all())
    except Exception:  # what is wrong with a run is said when it is opened
        return None
