"""Hooks into eager ops, which belong to a thread: TensorFlow calls back a list for each."""

from __future__ import annotations

import _thread
import functools
import gc
import sys
import threading
from typing import TYPE_CHECKING, Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context as context_module
from tensorflow.python.eager import execute
from tensorflow.python.eager.context import Context, context, context_safe
from tensorflow.python.framework import op_callbacks
from tensorflow.python.ops.script_ops import FuncRegistry

from tfdbg_tui.dump import threads
from tfdbg_tui.dump.tensorflow import executors, functions, own, own_frames
from tfdbg_tui.dump.tensorflow.listener import SafeListener, subject
from tfdbg_tui.dump.tensorflow.private import attribute, declare

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.tensorflow.listener import Listener
    from tfdbg_tui.dump.tensorflow.private import Declaration, Wrappers

_EXECUTE = declare(execute, "execute")
_EXECUTE_WITH_CALLBACKS = declare(execute, "execute_with_callbacks")
_QUICK_EXECUTE = declare(execute, "quick_execute")
_FAST_PATH = declare(pywrap_tfe, "TFE_Py_FastPathExecute")
_SHOULD_INVOKE = declare(op_callbacks, "should_invoke_op_callbacks")
_SET_CONTEXT = declare(context_module, "_set_context_locked", "ctx")
_GET_PYTHON_FUNCTION = declare(FuncRegistry, "get", "self", "token")
_BOOTSTRAP = declare(threading.Thread, "_bootstrap_inner", "self")
_START_THREAD = declare(_thread, "start_new_thread")
_op_callbacks = attribute(Context, "op_callbacks")
_LEFT_OUT = own_frames.LeftOutOfTracebacks()


class _Thread(threading.local):
    """Attributes: watched: Whether the op callback of the thread was added."""

    watched = False


class EagerHooks:
    """Tells of eager ops.

    Threads that are started get an op callback when they start; those that run already when
    TensorFlow makes its context, or when ops are to be told, with their next op.

    Attributes:
        installed: Whether threads that start are watched.
    """

    def __init__(self, listener: Listener) -> None:
        self.installed = False
        self._listener = listener
        self._safe = SafeListener(listener)
        self._callback_lists: dict[int, list[Any]] = {}
        self._thread = _Thread()
        self._unwatched: set[int] = set()
        self._fast_path: Any = None
        self._on = False

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return (
            (_BOOTSTRAP, self._thread_bootstrap),
            (_START_THREAD, self._start_thread),
            (_GET_PYTHON_FUNCTION, self._get_python_function),
            (_SET_CONTEXT, self._set_context),
            (_SHOULD_INVOKE, self._should_invoke_op_callbacks),
        )

    def restore(self) -> None:
        """Let eager ops take the way that they took before."""
        current = context_safe()
        others = current is not None and _op_callbacks(current)
        _use(_EXECUTE_WITH_CALLBACKS if others else _QUICK_EXECUTE)

    def watch(self, on: bool) -> None:
        """Switch the op callbacks of all threads on or off; off restores TensorFlow's speed."""
        self._on = on
        if on:
            if context_safe() is not None:
                self._watch_all_threads()
            for callbacks in list(self._callback_lists.values()):
                if self._op_callback not in callbacks:
                    callbacks.append(self._op_callback)
            _use(_EXECUTE_WITH_CALLBACKS)
            return
        for callbacks in list(self._callback_lists.values()):
            if self._op_callback in callbacks:
                callbacks.remove(self._op_callback)
        self._await_threads(set())

    def watch_this_thread(self) -> None:
        """Add the op callback of the current thread."""
        callbacks = _op_callbacks(context())
        self._callback_lists[threading.get_ident()] = callbacks
        self._thread.watched = True
        self._no_longer_await(threading.get_ident())
        if self._on and self._op_callback not in callbacks:
            callbacks.append(self._op_callback)

    def _watch_all_threads(self) -> None:
        """Add the op callback of this thread, and those of others when they execute an op."""
        self.watch_this_thread()
        if self._on:
            self._await_threads(
                _running_threads() - self._callback_lists.keys() - threads.numbers()
            )

    def _await_threads(self, awaited: set[int]) -> None:
        """Let some threads add their op callback before their next op, and no others.

        Only a thread itself can reach its list, and most ops are executed without Python.
        """
        self._unwatched = awaited
        if awaited and self._fast_path is None:
            self._fast_path = getattr(_FAST_PATH.owner, _FAST_PATH.name)
            setattr(_FAST_PATH.owner, _FAST_PATH.name, self._watched_fast_path(self._fast_path))
        elif not awaited and self._fast_path is not None:
            setattr(_FAST_PATH.owner, _FAST_PATH.name, self._fast_path)
            self._fast_path = None

    def _no_longer_await(self, thread: int) -> None:
        if thread in self._unwatched:
            self._await_threads(self._unwatched - {thread})

    def _watched_fast_path(self, original: Any) -> Any:
        def fast_path(*args: Any) -> Any:
            if threading.get_ident() in self._unwatched:
                self._safe.attempt("eager ops of a thread", self.watch_this_thread)
            with _LEFT_OUT:
                return original(*args)

        own_frames.leave_out_of_warnings(fast_path)
        return fast_path

    def _op_callback(
        self,
        op_type: str,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: str | None = None,
        graph: Any = None,
    ) -> Any:
        if graph is None:
            if own.is_at_work():
                return None
            try:
                self._listener.eager_op(op_type, inputs, attrs, outputs)
            except BaseException as error:
                self._listener.hook_failed(error, subject("eager_op", (op_type,)))
            return None
        return list(outputs)  # handed to the next callback, and then to the program

    def watches_call(self, op_name: Any) -> bool:
        """Whether an eager execution is the call of a function that is to be told."""
        if not self._on:
            return False
        if not self._thread.watched:
            self.watch_this_thread()
        return functions.is_function_name(op_name)

    def _should_invoke_op_callbacks(self, original: Any) -> Any:
        """Only graphs ask: telling our callback of an op would take a fifth of making the op."""

        def should_invoke_op_callbacks() -> Any:
            return _op_callbacks(context()) != [self._op_callback] and original()

        return should_invoke_op_callbacks

    def _set_context(self, original: Any) -> Any:
        """Watch the threads as soon as there is a context: to make it is left to the program."""

        def set_context(made: Any) -> None:
            original(made)
            executors.forget()
            self._safe.attempt("eager ops of all threads", self._watch_all_threads)

        return set_context

    def _get_python_function(self, original: Any) -> Any:
        """Watch the thread that a `tf.py_function` or a generator of a dataset runs in."""

        def get(registry: Any, token: Any, default: Any = None) -> Any:
            if not own.is_py_func(token):
                self._safe.attempt("eager ops of a Python function", self.watch_this_thread)
            return original(registry, token, default)

        return get

    def _thread_bootstrap(self, original: Any) -> Any:
        # Not around `run`, where a traceback of the thread would show it.
        def bootstrap(thread: threading.Thread) -> None:
            self._begin_thread()
            try:
                original(thread)
            finally:
                self._end_thread()

        return bootstrap

    def _start_thread(self, original: Any) -> Any:
        """Watch the threads that are started without `threading`, which has its own reference."""

        def start_new_thread(function: Any, *args: Any) -> Any:
            @functools.wraps(function)  # Python tells of it where it raises
            def run(*given: Any, **named: Any) -> None:
                self._begin_thread()
                try:
                    with _LEFT_OUT:
                        function(*given, **named)
                finally:
                    self._end_thread()

            return original(run if callable(function) else function, *args)

        return start_new_thread

    def _begin_thread(self) -> None:
        if self.installed and context_safe() is not None:
            self._safe.attempt("eager ops of a thread", self.watch_this_thread)

    def _end_thread(self) -> None:
        self._callback_lists.pop(threading.get_ident(), None)
        self._no_longer_await(threading.get_ident())


def call_after_next_op(act: Callable[[], None]) -> None:
    """Call something once, after an eager op of this thread that makes a tensor, or a function."""
    current = context_safe()
    if current is None:
        return
    callbacks = _op_callbacks(current)

    def op_callback(
        op_type: str,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: str | None = None,
        graph: Any = None,
    ) -> Any:
        if graph is not None:
            return list(outputs)
        if outputs:  # not where a variable that is gone is destroyed
            callbacks.remove(op_callback)
            act()
        return None

    callbacks.append(op_callback)
    _use(_EXECUTE_WITH_CALLBACKS)


def _running_threads() -> set[int]:
    """Return the numbers of all threads that run.

    Python 3.11 can wait forever if it collects garbage meanwhile (python/cpython#106883).
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return set(sys._current_frames())
    finally:
        if collects:
            gc.enable()


def _use(function: Declaration) -> None:
    """Let TensorFlow execute eager ops by one of its functions."""
    setattr(_EXECUTE.owner, _EXECUTE.name, getattr(function.owner, function.name))
