"""Background tasks: work that may take too long for a key.

Most are done within a few milliseconds, so whoever starts one waits that long: a frame that says
"searching" would be gone at once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

_WAIT_SECONDS = 0.03

T = TypeVar("T")


class Task(Generic[T]):
    """A piece of work under way.

    Attributes:
        done: Whether it has come to its end.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._result: T | None = None
        self._error: Exception | None = None
        self.done = threading.Event()

    def run(self) -> None:
        """Do it."""
        try:
            self._result = self._work()
        except Exception as error:  # for whoever asks for the result
            self._error = error
        self.done.set()

    def result(self) -> T:
        """Return what came of a finished task.

        Raises:
            Exception: What the work raised.
        """
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # it is done


@dataclass
class TaskDone(Message):
    """A task is done that was not done at once."""

    task: Task[Any]


class Tasks(Worker):
    """Runs one task after the other; of those that wait, only the newest counts.

    Args:
        post: Called from this thread with a message for each task that is done.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        super().__init__("tasks")
        self._post = post
        self._next: Task[Any] | None = None
        self._wanted = threading.Event()
        self._stopped = False

    def start_work(self, work: Callable[[], T]) -> Task[T]:
        """Start some work; return the task, which may be done already, or never once stopped."""
        if self.ident is None and not self._stopped:
            self.start()
        task = Task(work)
        self._next = task
        self._wanted.set()
        task.done.wait(_WAIT_SECONDS)
        return task

    def stop(self) -> None:
        """End the thread soon."""
        self._stopped = True
        self._wanted.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        while not self._stopped:
            self._wanted.wait()
            self._wanted.clear()
            task, self._next = self._next, None
            if task is not None:
                task.run()
                self._post(TaskDone(task))
