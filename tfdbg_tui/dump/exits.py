"""Exit codes: Python tells what ends with it that an error was not caught, but not `sys.exit`.

A program that catches the SystemExit goes on: what it executes after that shows it.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class ExitCalls:
    """Notes calls of `sys.exit` in the main thread while it is watching.

    Args:
        executions: Returns how many executions are on record.
    """

    def __init__(self, executions: Callable[[], int]) -> None:
        self._executions = executions
        self._original = sys.exit
        self._noted: tuple[object, int] | None = None
        sys.exit = self._exit

    def stop(self) -> None:
        """Stop watching, unless somebody has wrapped `sys.exit` again."""
        if sys.exit == self._exit:
            sys.exit = self._original

    def failure(self) -> str | None:
        """Return how the program has failed, where it called `sys.exit` and executed no more."""
        if self._noted is None or self._noted[1] != self._executions():
            return None
        return f"it called sys.exit({self._noted[0]!r})"

    def _exit(self, status: Any = None, /) -> NoReturn:
        if threading.current_thread() is threading.main_thread():
            failed = status is not None and status != 0
            self._noted = (status, self._executions()) if failed else None
        self._original(status)
