"""The threads that the dump writer starts in the program's process."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.locks import Signal

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "tfdbg-tui-"


class _Thread(threading.local):
    is_own = False


_thread = _Thread()


class SystemThread:
    """A thread of the system's, where `threading` starts greenlets.

    Attributes:
        ident: Its number, once it runs.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.ident: int | None = None
        self._work = work
        self._ended = Signal()

    def run(self) -> None:
        """Do the work."""
        self.ident = threading.get_ident()
        try:
            self._work()
        finally:
            self._ended.give()

    def join(self, timeout: float = threading.TIMEOUT_MAX) -> None:
        """Wait until it has ended."""
        if self._ended.wait(timeout):
            self._ended.give()  # for the next who waits


def start(work: Callable[[], None], name: str) -> threading.Thread | SystemThread:
    """Start a thread that does not keep the process from ending, and return it.

    Args:
        work: What it does.
        name: What its name ends with.

    Raises:
        RuntimeError: The process may have no more threads.
    """

    def run() -> None:
        _thread.is_own = True
        work()

    if (start_in_system := _without_greenlets()) is not None:
        system_thread = SystemThread(run)
        start_in_system(system_thread.run, ())
        return system_thread
    thread = threading.Thread(target=run, name=_PREFIX + name, daemon=True)
    thread.start()
    return thread


def _without_greenlets() -> Any:
    """Return what starts a thread of the system's, where gevent has put greenlets in their place.

    One of these would never end that waits while the program, which is another, computes.
    """
    gevent = sys.modules.get("gevent.monkey")
    if gevent is None or not gevent.is_module_patched("threading"):
        return None
    return gevent.get_original("_thread", "start_new_thread")


def is_own() -> bool:
    """Return whether this thread was started here.

    What runs in it of the program's are finalizers of objects that happened to be collected here.
    They are not recorded: who records waits for these threads.
    """
    return _thread.is_own


def numbers() -> set[int | None]:
    """Return the numbers of those that run."""
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith(_PREFIX)}
