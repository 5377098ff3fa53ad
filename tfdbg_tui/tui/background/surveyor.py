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
    from tfdbg_tui.logdir.events import RunState

_LARGEST = 64 << 20  # bytes: larger runs are left alone, as reading them takes seconds

Reports = dict[tuple[tuple[str, str], int, "RunState"], "Report"]
"""What has been found, by the identity of a run and the state of its files."""


@dataclass
class Surveyed(Message):
    """A run has been looked at; `report` is None where it is too large, or cannot be read."""

    files: RunFiles
    report: Report | None


class Surveyor(Worker):
    """Diagnoses runs.

    Args:
        runs: The runs, oldest first.
        found: What has been found before; what is found now is added.
        post: Called from this thread with a message for each.
    """

    def __init__(
        self, runs: Sequence[RunFiles], found: Reports, post: Callable[[Message], object]
    ) -> None:
        super().__init__("surveyor")
        self._runs = runs
        self._found = found
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
            self._post(Surveyed(files, self._report(files)))

    def _report(self, files: RunFiles) -> Report | None:
        from tfdbg_tui.diagnosis import diagnose
        from tfdbg_tui.logdir import RunReader

        try:
            reader = RunReader(files)
            begun = reader.poll()
            size = begun.progress.bytes_total
            if size > _LARGEST:
                return None
            key = files.identity, size, begun.state
            if key not in self._found:
                self._found[key] = diagnose(reader.read_all())
            return self._found[key]
        except Exception:  # what is wrong with a run is said when it is opened
            return None
