"""Threads that work for the app, and that end before the process does.

Nobody waits for a diagnosis or a search after leaving the app.  But where the interpreter shuts
down while a thread is inside of numpy, the process is aborted: a thread has to end before.
"""

from __future__ import annotations

import ctypes
import threading

_WAIT_SECONDS = 0.2


class Worker(threading.Thread):
    """A thread that `end_workers` can end in the middle of its work."""

    def __init__(self, name: str) -> None:
        super().__init__(name=f"tfdbg-tui-{name}", daemon=True)

    def stop(self) -> None:
        """End the thread soon, also where it waits."""
        raise NotImplementedError


def end_workers() -> None:
    """End all workers, whatever they are doing, and wait until they have."""
    workers = [thread for thread in threading.enumerate() if isinstance(thread, Worker)]
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(_WAIT_SECONDS)
        while worker.is_alive():
            _raise_in(worker, SystemExit)
            worker.join(_WAIT_SECONDS)


def _raise_in(thread: threading.Thread, exception: type[BaseException]) -> None:
    """Raise an exception in a thread, between two of its Python instructions."""
    number = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(exception))
