"""Processes that `multiprocessing` starts: who starts them, how they end, and what they send.

Many end without running exit functions.  Others are ended by SIGTERM as soon as somebody has got
their last result, by a pipe, a queue or a pool: `Pool.terminate` does so, which is the end of each
``with Pool()``, and the end of a program, to its daemons.  A handler of that signal would show in
the program, and would wait for the op that runs.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
from multiprocessing import connection
from multiprocessing.util import Finalize, register_after_fork
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.interrupts import contained
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.process_stat import START_TIME, process_stat

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST = -100
"""Priority of what a worker does at its end."""

_log = logging.getLogger("tfdbg_tui")
_watched = False


def is_worker() -> bool:
    """Return whether `multiprocessing` has started this process."""
    return multiprocessing.parent_process() is not None or _loads_program()


def _loads_program() -> bool:
    """Return whether it is about to be a worker: it imports the program, as to spawn does."""
    return getattr(multiprocessing.current_process(), "_inheriting", False)


def starter() -> str | None:
    """Return what tells the process that started this worker from all others; None if unknown.

    Of a process that is no worker it tells itself, so that it and its workers have the same.
    """
    parent = multiprocessing.parent_process()
    pid = parent.pid if parent is not None else os.getppid() if _loads_program() else os.getpid()
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read()
        begun = process_stat(pid)[START_TIME]
    except OSError:  # It has ended, or this is not Linux.
        return None
    return f"{boot} {pid} {begun}"


def before_end(end: Callable[[], None], rest: Callable[[], None]) -> None:
    """Call something when this worker ends.

    Args:
        end: Ends the dump.
        rest: Writes everything; called in place of it where exit functions may run after that.
    """
    if _loads_program():  # What is registered now is forgotten when it begins to work.
        register_after_fork(_log, lambda _: Finalize(None, rest, exitpriority=_LAST))
    else:
        Finalize(None, end, exitpriority=_LAST)


def before_sending(act: Callable[[], None]) -> None:
    """Call something each time before this worker sends anything; the first call counts."""
    global _watched
    send: Callable[..., None] | None = getattr(connection.Connection, "_send_bytes", None)
    if _watched or send is None:
        return

    def send_bytes(self: Any, *args: Any) -> None:
        with contained():
            act()
        with LeftOutOfTracebacks():
            send(self, *args)

    connection.Connection._send_bytes = send_bytes  # type: ignore[attr-defined]
    _watched = True
