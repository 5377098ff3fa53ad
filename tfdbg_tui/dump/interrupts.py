"""Tells errors of hooks from what reaches the program while it happens to be in a hook.

What the handler of a signal raises, or another thread has this one raise, is meant for the program,
which waits for it: timeouts, Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CALLED = {*sys.stdlib_module_names, "tfdbg_tui", "tensorflow", "numpy", "ml_dtypes", "google"}
"""Top names of the modules that hooks call, and whose errors they may get."""


def is_interrupt(error: BaseException) -> bool:
    """Return whether what was raised in a hook is meant for the program."""
    if not isinstance(error, Exception):
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if any(map(_is_signal_handler, frames)):
        return True
    raised_in = frames[-1].f_globals.get("__name__") if frames else ""
    return _is_called(raised_in) and not _is_called(type(error).__module__)


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Suppress errors in the block that are no interrupts."""
    try:
        yield
    except Exception as error:
        if is_interrupt(error):
            raise


def _is_signal_handler(frame: FrameType) -> bool:
    """Return whether a function got the frame that it interrupts, as handlers of signals do."""
    if frame.f_back is None or frame.f_code.co_filename.startswith(_OWN_DIRECTORY):
        return False
    given = [
        each
        for value in frame.f_locals.values()
        for each in (value if isinstance(value, tuple) else (value,))
    ]
    return any(each is frame.f_back for each in given)


def _is_called(module: Any) -> bool:
    return str(module).partition(".")[0] in _CALLED
