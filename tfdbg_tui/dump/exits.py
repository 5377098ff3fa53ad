"""Ends of programs of which Python tells nobody.

It tells what ends with it that an error was not caught, but not of a SystemExit.  A program that
catches the SystemExit goes on: what it executes after that shows it.  By `os._exit` and exec a
program ends without anything else that ends with it.
"""

from __future__ import annotations

import functools
import os
import reprlib
import sys
import threading
from _sitebuiltins import Quitter  # `exit` and `quit`, where nobody has replaced them
from typing import TYPE_CHECKING, Any, NoReturn

from tfdbg_tui.dump.interrupts import contained

if TYPE_CHECKING:
    from collections.abc import Callable

_EXIT = "_exit"
_LEAVING = (_EXIT, "execv", "execve")
"""Functions of `os` by which a program is left; the other ones for exec call these."""

_watched = False


def before_leaving(act: Callable[[str | None], None]) -> None:
    """Call something each time before the program leaves at once; the first call counts.

    Args:
        act: Takes how the program fails by that, or None.
    """
    global _watched
    if _watched:
        return
    for name in _LEAVING:
        if hasattr(os, name):
            setattr(os, name, _after(act, name, getattr(os, name)))
    _watched = True


def _after(act: Callable[[str | None], None], name: str, leave: Callable[..., Any]) -> Any:
    @functools.wraps(leave)
    def acts_before(*args: Any, **kwargs: Any) -> Any:
        status = [*args, *kwargs.values()][:1]
        fails = name == _EXIT and status not in ([], [0])
        with contained():
            act(f"it called os._exit({status[0]!r})" if fails else None)
        return leave(*args, **kwargs)

    return acts_before


_STATUS = reprlib.Repr()
_STATUS.maxother = 200

_FREE_TOOLS = (3, 4)
"""Numbers by which Python's monitoring knows tools that are no debugger, profiler or the like."""


class ExitCalls:
    """Notes calls of `sys.exit`, `exit` and `quit` in the main thread while it is watching.

    From Python 3.12 on also each other SystemExit that is raised there.

    Args:
        executions: Returns how many executions are on record.
    """

    def __init__(self, executions: Callable[[], int]) -> None:
        self._executions = executions
        self._failure: tuple[str, int] | None = None
        self._original, self._original_quit = sys.exit, Quitter.__call__

        def quit_(quitter: Quitter, code: Any = None) -> NoReturn:
            self._ends(f"it called {quitter.name}", code)
            self._original_quit(quitter, code)

        self._quit = quit_
        sys.exit = self._exit
        Quitter.__call__ = quit_  # type: ignore[assignment, method-assign]
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool = self._watch_raising()

    def stop(self) -> None:
        """Stop watching, but for what somebody has wrapped again."""
        if sys.exit == self._exit:
            sys.exit = self._original
        if Quitter.__call__ is self._quit:
            Quitter.__call__ = self._original_quit  # type: ignore[method-assign]
        if self._tool is not None:
            self._monitoring.set_events(self._tool, self._monitoring.events.NO_EVENTS)
            self._monitoring.register_callback(self._tool, self._monitoring.events.RAISE, None)
            self._monitoring.free_tool_id(self._tool)

    def failure(self) -> str | None:
        """Return how the program has failed, where it has and executed no more."""
        if self._failure is None or self._failure[1] != self._executions():
            return None
        return self._failure[0]

    def _watch_raising(self) -> int | None:
        """Ask Python to tell of what is raised; return the number of the tool that is told."""
        monitoring = self._monitoring
        free = [tool for tool in _FREE_TOOLS if monitoring and monitoring.get_tool(tool) is None]
        if not free:
            return None
        monitoring.use_tool_id(free[0], "tfdbg-tui")
        monitoring.register_callback(free[0], monitoring.events.RAISE, self._raised)
        monitoring.set_events(free[0], monitoring.events.RAISE)
        return free[0]

    def _raised(self, _code: object, _offset: int, error: BaseException) -> None:
        if isinstance(error, SystemExit) and self.failure() is None:
            self._ends("it raised SystemExit", error.code)

    def _exit(self, status: Any = None, /) -> NoReturn:
        self._ends("it called sys.exit", status)
        self._original(status)

    def _ends(self, how: str, status: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        # Anything else than a number Python prints, and fails.
        succeeds = status is None or (isinstance(status, int) and status == 0)
        if succeeds:
            self._failure = None
            return
        # A class of the program may fail to describe itself.
        described = f"{how}({_STATUS.repr_instance(status, 1)})"
        self._failure = described, self._executions()
