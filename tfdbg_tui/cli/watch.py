"""Looking at a run while it grows, until something is bad or suspect, and what to do then."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tfdbg_tui.cli.output import tell
from tfdbg_tui.diagnosis import diagnose
from tfdbg_tui.logdir import RunReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis import Finding, Report
    from tfdbg_tui.logdir import Run, RunFiles
    from tfdbg_tui.program import Program

UNTIL = ("bad", "suspect")
"""What can be waited for; what is bad ends the waiting for suspects too."""

_LOOK_SECONDS = 0.2
_CONFIRM_SECONDS = 0.4
_PAUSE_SECONDS = 2.0  # between two diagnoses that look for suspects
_SHARE = 10  # and so many times what the last one took


class Watch:
    """Says when what is waited for has come.

    Args:
        reader: Reads the run.
        until: One of `UNTIL`; "" for nothing.
    """

    def __init__(self, reader: RunReader, until: str) -> None:
        self._reader = reader
        self._until = until
        self._alerts = 0
        self._next_look = 0.0
        self._seen: set[tuple[str, str | None, str | None]] = set()

    def look(self, run: Run) -> Report | None:
        """Return the report that shows it; None as long as nothing does.

        Args:
            run: The run as it is now.
        """
        if self._until and run.num_alerts != self._alerts:
            # What takes a bad value out again may not have been written yet: look twice.
            self._alerts = run.num_alerts
            time.sleep(_CONFIRM_SECONDS)
            report = diagnose(self._reader.read_all())
            if report.roots:
                return report
        return self._suspected(run) if self._until == "suspect" else None

    def _suspected(self, run: Run) -> Report | None:
        """Return a report that tells a suspect for the second time, as the first may be chance."""
        begun = time.monotonic()
        if begun < self._next_look:
            return None
        report = diagnose(run)
        told = set(map(_place, report.suspects))
        again = told & self._seen
        self._seen = told
        ended = time.monotonic()
        self._next_look = ended + max(_PAUSE_SECONDS, _SHARE * (ended - begun))
        return report if again else None


class Stopper(threading.Thread):
    """Stops a program as soon as what it records is suspect or bad.

    Args:
        program: The program, which has been started.
        find_runs: Returns what it has recorded so far.

    Attributes:
        has_stopped: Whether it has.
    """

    def __init__(self, program: Program, find_runs: Callable[[], list[RunFiles]]) -> None:
        super().__init__(name="stop-on-suspect", daemon=True)
        self.has_stopped = False
        self._program = program
        self._find_runs = find_runs

    def run(self) -> None:
        """Watch until the program has ended."""
        watches: dict[str, tuple[RunReader, Watch]] = {}
        while self._program.running:
            time.sleep(_LOOK_SECONDS)
            for files in self._find_runs():
                if files.label not in watches:
                    reader = RunReader(files)
                    watches[files.label] = reader, Watch(reader, "suspect")
            reports = (self._report(*watch) for watch in watches.values())
            report = next(filter(None, reports), None)
            if report is not None and self._program.running:  # it may have ended meanwhile
                self.has_stopped = True
                tell(f"{(*report.roots, *report.suspects)[0].title}: the program is stopped")
                self._program.stop()

    def _report(self, reader: RunReader, watch: Watch) -> Report | None:
        run = reader.poll()
        return watch.look(run) if run.progress.complete else None


def _place(finding: Finding) -> tuple[str, str | None, str | None]:
    return finding.rule, finding.graph, finding.op_name
