"""Keeping to the pace of the terminal, however slow the way to it is.

What is drawn because a program records must not fill the buffers on the way, where the answer to a
key would wait behind it.  So after each such frame the terminal is asked where its cursor is: the
"Device Status Report", which terminals since the VT100 answer.  The next frame is not drawn before
it has answered, and the way stays free for as long as that took.  A terminal that has never
answered is waited for only a moment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

QUERY = "\x1b[6n"

_LONGEST_WAIT = 30.0  # seconds; an answer that has not come by then got lost
_LONGEST_FIRST_WAIT = 1.0
_LONGEST_PAUSE = 2.0


class Pace:
    """Knows whether the terminal has drawn what it was sent.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers = False
        self._asked_at: float | None = None
        self._free_until = 0.0

    def ask(self) -> None:
        """Note that the terminal has been sent a frame and asked."""
        if self._asked_at is None:
            self._asked_at = self._clock()

    def answered(self) -> None:
        """Note that the terminal has answered."""
        now, asked_at = self._clock(), self._asked_at
        if asked_at is not None:
            self._free_until = now + min(now - asked_at, _LONGEST_PAUSE)
        self._answers = True
        self._asked_at = None

    def is_ready(self) -> bool:
        """Return whether the next frame may be drawn."""
        now, asked_at = self._clock(), self._asked_at
        if asked_at is not None:
            return now - asked_at > (_LONGEST_WAIT if self._answers else _LONGEST_FIRST_WAIT)
        return now >= self._free_until
