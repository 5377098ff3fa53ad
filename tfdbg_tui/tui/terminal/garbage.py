"""Looking for garbage while nobody waits for an answer.

Python looks for objects that only refer to each other after so many new ones: some ten keys make
that many, and the key that reaches it waits, 2 to 10 ms for the newest objects and 100 ms for all
that have survived that.  So it is done in the pauses between keys instead.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_SECONDS = 0.1  # without a key: who holds one down, or types quickly, leaves less

_LONG_PAUSE_SECONDS = 5.0
_WORTH_A_LOOK = 2_000  # new objects: a key makes about a thousand
_WORTH_A_FULL_LOOK = 50  # looks at new objects since the last one at all of them
_THRESHOLDS = 10_000, 50, 50  # for those who leave no pause


class Garbage:
    """Looks for garbage in pauses.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._touched_at = clock()

    @staticmethod
    def leave_to_pauses() -> None:
        """Let Python look seldom by itself, and never at what was imported."""
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)

    def touched(self) -> None:
        """Note that a key was pressed."""
        self._touched_at = self._clock()

    def look(self) -> None:
        """Look for garbage, if this is a pause and there may be some."""
        pause = self._clock() - self._touched_at
        new, young, old = gc.get_count()
        if pause >= _LONG_PAUSE_SECONDS and old >= _WORTH_A_FULL_LOOK:
            gc.collect()
        elif pause >= PAUSE_SECONDS and (new >= _WORTH_A_LOOK or young):
            gc.collect(1)
