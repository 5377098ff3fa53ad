"""Ending in order when a signal says so: the terminal has gone (SIGHUP), or `kill` (SIGTERM).

The terminal goes when an SSH connection is cut.  The default action of the signal would leave
files behind, or a terminal that is still there in disorder.  A process that ignores it, as under
nohup, would read "end of file" from the terminal again and again, with all of a processor.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from textual.app import App

_SIGNALS = [number for number in signal.Signals if number.name in ("SIGHUP", "SIGTERM")]
_LONGEST_END = 5  # seconds
_BY_SIGNAL = 128  # what a shell adds to the number of the signal that has ended a process


def end_on_signals(app: App[int]) -> None:
    """End an app, whose event loop runs in this thread, at the first such signal.

    What cannot be written to the terminal may hold up the event loop for good: after some seconds
    another signal, which nobody handles, ends the process.
    """
    loop = asyncio.get_running_loop()

    def end(number: int, _: FrameType | None) -> None:
        if hasattr(signal, "alarm"):
            signal.alarm(_LONGEST_END)
        loop.call_soon_threadsafe(app.exit, None, _BY_SIGNAL + number)

    for number in _SIGNALS:
        signal.signal(number, end)
