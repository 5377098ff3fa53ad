"""How the recording of a run is doing: events a second, lag, silence, whether its writer lives."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir import Run

Phase = Literal["recording", "quiet", "silent", "buffering", "ended", "deleted"]
"""It grows; its writer lives but writes nothing; nobody can tell whether it lives; TensorFlow's
writer keeps the events to itself; its writer has ended; its files have been deleted."""

_WINDOW_SECONDS = 5.0  # that events a second are counted over
_QUIET_SECONDS = 3.0  # without growth, before a run counts as quiet
_LONGEST_LAG = 600.0  # more than this is a clock that differs, not lag
_PROMPT_SECONDS = 5.0  # in which our writer brings an event into its file

BUFFERING = (
    "Graphs have been recorded, but no events. TensorFlow's writer keeps the newest ones in memory "
    "(circular_buffer_size, 1000 by default) and writes them only when the program ends; if it is "
    "killed they are lost. To watch it live, set circular_buffer_size=-1, or record with "
    "tfdbg_tui.enable_dump_debug_info or tfdbg-tui run."
)


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    """How the recording is doing at a moment.

    Attributes:
        phase: What is going on.
        events_per_second: Over the last seconds; None where it does not grow, or drops old events.
        lag: Seconds from the recording of the newest event to its being read; None where it does
            not grow, or clocks differ.
        silent: Seconds since the run has grown.
    """

    phase: Phase
    silent: float
    events_per_second: float | None = None
    lag: float | None = None


class StatusTracker:
    """Watches a run that may grow.

    Silence is measured by how long nothing has come, not by comparing clocks, as soon as something
    has come: clocks of other hosts differ, and any clock may be set.

    Args:
        clock: Seconds that never go back.
        now: Seconds since the epoch.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._now = now
        self._run: Run | None = None
        self._counts: deque[tuple[float, int]] = deque(maxlen=256)
        self._grew_at: float | None = None
        self._seen_at = 0.0
        self._lag: float | None = None
        self._whole_at: float | None = None

    def note(self, run: Run) -> None:
        """Take notice of the run's present state."""
        now, before = self._clock(), self._run
        self._run = run
        if before is None or not _same_events(before, run):
            self._counts.clear()
            self._grew_at, self._seen_at, self._lag = None, now, None
            self._whole_at = None
            if before is not None and before.files == run.files:
                self._grew_at = now  # a circular buffer has replaced its file
        elif run.progress.bytes_total > before.progress.bytes_total:
            self._grew_at = now
        if run.progress.complete or self._counts:
            self._counts.append((now, run.num_events))
        if self._grew_at == now and run.progress.complete:
            self._lag = self._find_lag(run)
        if run.progress.complete:
            self._whole_at = now

    def status(self) -> RecordingStatus | None:
        """Return how it is doing now; None before anything has been noted."""
        run = self._run
        if run is None:
            return None
        silent = self._silence(run)
        if run.state.deleted:
            return RecordingStatus("deleted", silent)
        if self._is_buffering(run):
            return RecordingStatus("buffering", silent)
        if self._grew_at is not None and silent < _QUIET_SECONDS:
            return RecordingStatus("recording", silent, self._rate(), self._lag)
        phases: dict[bool | None, Phase] = {True: "quiet", False: "ended", None: "silent"}
        return RecordingStatus(phases[run.state.writing], silent)

    def _silence(self, run: Run) -> float:
        if self._grew_at is not None:
            return self._clock() - self._grew_at
        watched = self._clock() - self._seen_at
        if not run.state.last_written:
            return watched
        return max(watched, self._now() - run.state.last_written)

    def _rate(self) -> float | None:
        now = self._clock()
        while len(self._counts) > 1 and self._counts[1][0] <= now - _WINDOW_SECONDS:
            self._counts.popleft()
        if len(self._counts) < 2:
            return None
        (start, first), (_, last) = self._counts[0], self._counts[-1]
        return (last - first) / max(now - start, 0.5)

    def _find_lag(self, run: Run) -> float | None:
        """Return the seconds since the newest event was recorded, unless clocks must be wrong.

        What our writer records arrives at once: it cannot be much older than the last look at which
        everything had been read.
        """
        newest = run.newest_wall_time()
        lag = self._now() - newest if newest else -1.0
        longest = _LONGEST_LAG
        if run.state.prompt and self._whole_at is not None:
            longest = min(longest, self._clock() - self._whole_at + _PROMPT_SECONDS)
        return lag if 0.0 <= lag < longest else None

    def _is_buffering(self, run: Run) -> bool:
        """Whether definitions are there, and only TensorFlow's ring can explain the rest."""
        return (
            run.progress.complete
            and run.num_events == 0
            and run.state.writing is not False
            and not run.state.prompt
            and run.num_graph_ops > 0
            and self._clock() - self._seen_at >= _QUIET_SECONDS
        )


def _same_events(before: Run, run: Run) -> bool:
    return (before.files.identity, before.state.generation) == (
        run.files.identity,
        run.state.generation,
    )


def duration(seconds: float) -> str:
    """Return a time span in words that change the less often the longer it is."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    if seconds < 2 * 86_400:
        return f"{seconds // 3600:.0f} h"
    return f"{seconds // 86_400:.0f} days"
