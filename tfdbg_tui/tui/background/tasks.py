"""Doing in a thread of its own what may take too long for a key.

Most errands are done within a few milliseconds, so the one who sends it waits that long: a frame
that says "searching" for nothing would only flicker.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from tfdbg_tui.tui.background.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_SECONDS = 0.03

T = TypeVar("T")


class Errand(Generic[T]):
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
        """Return what came of a finished errand.

        Raises:
            Exception: What the work raised.
        """
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # it is done


class Returned(Message):
    """An errand is done that was not done at once."""

    def __init__(self, errand: Errand[Any]) -> None:
        super().__init__()
        self.errand = errand


class Errands(Worker):
    """Runs one errand after the other; of those that wait, only the newest counts.

    Args:
        post: Called from this thread with a message for each errand that is done.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        super().__init__("errands")
        self._post = post
        self._next: Errand[Any] | None = None
        self._news = threading.Event()
        self._stopped = False

    def send(self, work: Callable[[], T]) -> Errand[T]:
        """Send for something; return the errand, which may be done already."""
        errand = Errand(work)
        self._next = errand
        self._news.set()
        errand.done.wait(_PATIENCE_SECONDS)
        return errand

    def stop(self) -> None:
        """End the thread soon."""
        self._stopped = True
        self._news.set()

    def run(self) -> None:
        """Do the work; called by `start`."""
        while not self._stopped:
            self._news.wait()
            self._news.clear()
            errand, self._next = self._next, None
            if errand is not None:
                errand.run()
                self._post(Returned(errand))
