"""What threads of the program and of the dump writer wait by, so that none waits for itself.

At any time, a finalizer or the handler of a signal may run in a thread and enter the writer again.
A process may be forked while another of its threads holds a lock: that thread is not in the fork.
All are the system's own: with gevent a program puts its greenlets' in the place of `threading`'s.
"""

from __future__ import annotations

import _queue
import _thread
import os
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new() -> _thread.RLock:
    """Return a lock that its thread may take again; in a fork no other thread holds it."""
    lock = _thread.RLock()
    _locks.add(lock)
    return lock


class Signal:
    """Wakes one thread.  Python's own `Event` and `Condition` hold a lock while they do so."""

    def __init__(self) -> None:
        self._given: _queue.SimpleQueue[None] = _queue.SimpleQueue()

    def give(self) -> None:
        """Wake it, or keep it from waiting the next time."""
        if self._given.empty():  # one is enough
            self._given.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait until somebody gives the signal; return whether somebody has."""
        try:
            self._given.get(timeout=seconds)
        except _queue.Empty:
            return False
        return True


def _renew() -> None:
    for lock in _locks:
        if not lock._is_owned():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
