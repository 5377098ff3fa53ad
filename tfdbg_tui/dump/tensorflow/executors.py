"""Executors of eager ops: with an asynchronous one, ops run later than they are called.

What they make is there once they have run, and that may take a later op of the same thread.

TensorFlow's own `Context.is_async` waits for that executor.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager.context import Context, context_safe
from tensorflow.python.eager.executor import Executor, new_executor

from tfdbg_tui.dump.tensorflow.private import attribute, declare, method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.tensorflow.private import Wrappers

_SET_EXECUTOR = declare(pywrap_tfe, "TFE_ContextSetExecutorForThread")
_GET_EXECUTOR = declare(pywrap_tfe, "TFE_ContextGetExecutorForThread").name
_IS_ASYNC = declare(pywrap_tfe, "TFE_ExecutorIsAsync").name
_DELETE_EXECUTOR = declare(pywrap_tfe, "TFE_DeleteExecutor").name
_context_handle = attribute(Context, "_handle")
_handle = method(Executor, "handle")


class _Thread(threading.local):
    is_async: bool | None = None


_thread = _Thread()


def wrappers() -> Wrappers:
    """Return what to wrap, and how, so that `is_async` learns of another executor."""
    return ((_SET_EXECUTOR, _set_executor),)


def _set_executor(original: Any) -> Any:
    def set_executor(context_handle: Any, executor_handle: Any) -> None:
        original(context_handle, executor_handle)
        _thread.is_async = None

    return set_executor


def forget() -> None:
    """Ask for the executor of each thread anew: it may be another one."""
    global _thread
    _thread = _Thread()


def is_async() -> bool:
    """Return whether this thread's eager ops run later, so that nobody may wait for them."""
    if _thread.is_async is None:
        context_handle = _handle_of_context()
        if context_handle is None:
            return False
        with _current(context_handle) as executor:
            _thread.is_async = bool(getattr(pywrap_tfe, _IS_ASYNC)(executor))
    return _thread.is_async


@contextlib.contextmanager
def synchronous() -> Iterator[None]:
    """Run eager ops of ours at once, whatever waits in the executor of this thread."""
    if not is_async():
        yield
        return
    own = new_executor(enable_async=False)
    set_executor = getattr(pywrap_tfe, _SET_EXECUTOR.name)
    context_handle = _handle_of_context()
    with _current(context_handle) as executor:
        set_executor(context_handle, _handle(own))
        try:
            yield
        finally:
            set_executor(context_handle, executor)


def _handle_of_context() -> Any:
    """Return what TensorFlow knows its context by; None where it is not started yet."""
    current = context_safe()
    with contextlib.suppress(AssertionError):
        return None if current is None else _context_handle(current)
    return None


@contextlib.contextmanager
def _current(context_handle: Any) -> Iterator[Any]:
    """Hand out the executor of this thread; Python's object for it waits when it goes."""
    executor = getattr(pywrap_tfe, _GET_EXECUTOR)(context_handle)
    try:
        yield executor
    finally:
        getattr(pywrap_tfe, _DELETE_EXECUTOR)(executor)
