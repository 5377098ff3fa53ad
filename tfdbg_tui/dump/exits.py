"""Exit codes: Python tells what ends with it that an error was not caught, but not `sys.exit`.

A program that catches the SystemExit goes on: what it executes after that shows it.
"""

from __future__ import annotations

import sys
import threading
from _sitebuiltins import Quitter  # `exit` and `quit`, where nobody has replaced them
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class ExitCalls:
    """Notes calls of `sys.exit`, `exit` and `quit` in the main thread while it is watching.

    Args:
        executions: Returns how many executions are on record.
    """

    def __init__(self, executions: Callable[[], int]) -> None:
        self._executions = executions
        self._failure: tuple[str, int] | None = None
        self._original, self._original_quit = sys.exit, Quitter.__call__

        def quit_(quitter: Quitter, code: Any = None) -> NoReturn:
            self._note(quitter.name, code)
            self._original_quit(quitter, code)

        self._quit = quit_
        sys.exit = self._exit
        Quitter.__call__ = quit_  # type: ignore[assignment, method-assign]

    def stop(self) -> None:
        """Stop watching, but for what somebody has wrapped again."""
        if sys.exit == self._exit:
            sys.exit = self._original
        if Quitter.__call__ is self._quit:
            Quitter.__call__ = self._original_quit  # type: ignore[method-assign]

    def failure(self) -> str | None:
        """Return how the program has failed, where it called one and executed no more."""
        if self._failure is None or self._failure[1] != self._executions():
            return None
        return f"it called {self._failure[0]}"

    def _exit(self, status: Any = None, /) -> NoReturn:
        self._note("sys.exit", status)
        self._original(status)

    def _note(self, name: str, status: object) -> None:
        if threading.current_thread() is threading.main_thread():
            failed = status is not None and status != 0
            self._failure = (f"{name}({status!r})", self._executions()) if failed else None
