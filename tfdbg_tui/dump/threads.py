"""The threads that the dump writer starts in the program's process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "tfdbg-tui-"


class _Thread(threading.local):
    is_own = False


_thread = _Thread()


def start(work: Callable[[], None], name: str) -> threading.Thread:
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

    thread = threading.Thread(target=run, name=_PREFIX + name, daemon=True)
    thread.start()
    return thread


def is_own() -> bool:
    """Return whether this thread was started here.

    What runs in it of the program's are finalizers of objects that happened to be collected here.
    They are not recorded: who records waits for these threads.
    """
    return _thread.is_own


def numbers() -> set[int | None]:
    """Return the numbers of those that run."""
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith(_PREFIX)}
