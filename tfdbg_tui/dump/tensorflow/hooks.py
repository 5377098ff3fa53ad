"""Where the dump writer hooks into TensorFlow: what tells it what the program does.

The hooks, present with these signatures in TensorFlow 2.16 to 2.21:

* op callbacks of the eager context: every eager op, in C++ fast path or not;
* ``execute.quick_execute`` and ``execute.execute_with_cancellation``: the call of a function, so
  that a call that raises is seen too;
* ``atomic_function.from_func_graph``: every FuncGraph becomes a runtime function here: traced,
  forward and backward functions, branches and loop bodies;
* ``StructuredFunctionWrapper.function``: a function that a dataset is made of;
* ``function_context.make_function_context``: the cache key of traced functions, so that one
  `tf.function` may have instrumented and plain traces side by side;
* ``context._set_context_locked``: from then on, a thread has a list of op callbacks;
* ``script_ops.FuncRegistry.get``: where a graph calls a Python function, in a thread of TensorFlow;
* ``op_callbacks.should_invoke_op_callbacks``: ops of graphs have no use for ours;
* ``tf_stack.extract_stack`` and ``Operation._init``: where each op of a graph is made;
* ``Tensor.set_shape``: which graphs have shapes that TensorFlow did not find itself;
* ``BaseSession._do_run``: every run of a v1 session, once TensorFlow has made lists of ops and
  tensors of whatever the program asked for; ``make_callable`` is led there.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

from tfdbg_tui.dump.tensorflow import own_frames

try:
    from tensorflow.python.client import session
    from tensorflow.python.data.ops import structured_function
    from tensorflow.python.eager import context, execute
    from tensorflow.python.eager.polymorphic_function import (
        atomic_function,
        function_context,
    )
    from tensorflow.python.framework import errors, op_callbacks, ops
    from tensorflow.python.framework import tensor as tensor_module
    from tensorflow.python.ops import script_ops
    from tensorflow.python.util import tf_stack, traceback_utils

    from tfdbg_tui.dump.tensorflow import exports, internals, locations

    _import_error: str | None = None
except ImportError as error:
    _import_error = str(error)


_CALLS = "calls of functions"
_LOCATIONS = "where ops are made"
_MAKES_OP = "_create_c_op"
"""The function of TensorFlow's that extracts the stack of a new op, whose `_init` comes next."""


class Listener(Protocol):
    """What the hooks tell of the program."""

    def eager_op(self, op_type: str, inputs: Any, outputs: Any) -> None:
        """An eager op or function returned."""

    def call_begins(self, name: str) -> Any:
        """A function is about to be called; the result is handed to the next two."""

    def call_ends(self, call: Any, inputs: Any, outputs: Any) -> None:
        """The function returned."""

    def call_fails(self, call: Any, inputs: Any, error: BaseException) -> None:
        """The function raised."""

    def function_to_run(self, name: str, *, stateless: bool = False) -> tuple[str, list[Any]]:
        """A function is about to be called, or used in a dataset.

        Returns the name of the one to run, and what it takes after the arguments.
        """

    def function_left_out(self, name: str, reason: str) -> None:
        """A function runs in a way that is not recorded."""

    def session_run_begins(self, session: Any, targets: Any, fetches: Any, feeds: Any) -> Any:
        """A v1 session is about to run; returns what to run along, or None."""

    def session_counted(self, run: Any, steps: Any) -> None:
        """The global step that a run counts up is known: the one element of `steps`."""

    def session_run_ends(self, run: Any, fetches: Any, outputs: Any) -> None:
        """The run returned the values of its fetches."""

    def session_run_fails(self, session: Any, run: Any, error: BaseException) -> None:
        """The run raised."""

    def session_skipped(self, session: Any, what: str) -> None:
        """A session runs in a way that is not recorded."""

    def function_created(self, name: str, graph: Any, attrs: Any) -> None:
        """A graph became a runtime function."""

    def hook_failed(self, error: Exception, what: str) -> None:
        """Telling one of the above has raised; raises again what is meant for the program.

        Args:
            error: What was raised.
            what: What is not on record because of it.
        """

    def function_variant(self) -> Any:
        """What tells apart the traces of one function, besides TensorFlow's own reasons."""


def missing_hook() -> str | None:
    """Return what this TensorFlow lacks of the hooks, or None where all are there."""
    if _import_error is not None:
        return _import_error
    wanted: dict[Callable[..., Any], tuple[str, ...]] = {
        execute.quick_execute: ("op_name", "num_outputs", "inputs", "attrs", "ctx", "name"),
        execute.execute_with_cancellation: ("op_name", "num_outputs", "inputs", "attrs", "ctx"),
        atomic_function.from_func_graph: ("name", "graph", "attrs"),
        function_context.make_function_context: (),
        tensor_module.Tensor.set_shape: ("self", "shape"),
        op_callbacks.should_invoke_op_callbacks: (),
        tf_stack.extract_stack: ("stacklevel",),
        ops.Operation._init: ("self", "graph"),
        context._set_context_locked: ("ctx",),
        session.BaseSession._do_run: (
            *("self", "handle", "target_list", "fetch_list", "feed_dict"),
            *("options", "run_metadata"),
        ),
        session.BaseSession.make_callable: ("self", "fetches", "feed_list", "accept_options"),
    }
    for function, names in wanted.items():
        found = tuple(inspect.signature(function).parameters)
        if found[: len(names)] != names:
            return f"{function.__module__}.{function.__name__} takes {', '.join(found)}"
    if "xla_context_id" not in function_context.EagerContext._fields:
        return "function_context.EagerContext has no xla_context_id"
    return None


class _Renamed:
    """A function of the program that is known to TensorFlow by another name."""

    def __init__(self, function: Any, name: str) -> None:
        self._function = function
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._function, attribute)


class _Thread(threading.local):
    """What the hooks know of a thread.

    Attributes:
        watched: Whether its op callback was added.
        location: Where the op is made that the thread makes now.
    """

    watched = False
    location: locations.Location | None = None


class Hooks:
    """Installs and removes the hooks of one dump.

    Op callbacks belong to a thread.  Threads started later get them when they start; those that
    run already when they next call a function or an op outside of the fast path.
    """

    def __init__(self, listener: Listener, locations: locations.Locations) -> None:
        self._listener = listener
        self._locations = locations
        self._originals: list[tuple[Any, str, Any, Any]] = []
        self._callback_lists: dict[int, list[Any]] = {}
        self._thread = _Thread()
        self._eager = False
        self._installed = False

    def install(self) -> None:
        """Start telling the listener."""
        self._installed = True
        exports.keep_plain()
        self._patch(execute, "quick_execute", self._quick_execute)
        self._patch(execute, "execute_with_cancellation", self._execute_with_cancellation)
        self._patch(atomic_function, "from_func_graph", self._from_func_graph)
        self._patch(
            structured_function.StructuredFunctionWrapper, "function", self._dataset_function
        )
        self._patch(function_context, "make_function_context", self._make_function_context)
        self._patch(tensor_module.Tensor, "set_shape", self._set_shape)
        self._patch(session.BaseSession, "_do_run", self._session_do_run)
        self._patch(session.BaseSession, "make_callable", self._session_make_callable)
        self._patch(
            session.BaseSession, "_make_callable_from_options", self._session_callable_from_options
        )
        self._patch(threading.Thread, "_bootstrap_inner", self._thread_bootstrap)
        self._patch(script_ops.FuncRegistry, "get", self._get_python_function)
        self._patch(context, "_set_context_locked", self._set_context)
        self._patch(traceback_utils, "_EXCLUDED_PATHS", own_frames.excluded_too)
        self._patch(op_callbacks, "should_invoke_op_callbacks", self._should_invoke_op_callbacks)
        self._patch(tf_stack, "extract_stack", self._extract_stack)
        self._patch(ops.Operation, "_init", self._operation_init)
        self.watch_eager_ops(True)

    def uninstall(self) -> None:
        """Stop; every hook that nobody wrapped again is taken out."""
        self.watch_eager_ops(False)
        self._installed = False
        for owner, name, original, wrapper in reversed(self._originals):
            if inspect.getattr_static(owner, name) is wrapper:
                setattr(owner, name, original)
        self._originals.clear()
        current = context.context_safe()
        others = current is not None and current.op_callbacks
        execute.execute = execute.execute_with_callbacks if others else execute.quick_execute

    def _patch(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        original = inspect.getattr_static(owner, name)
        wrapper = make(original)
        setattr(owner, name, wrapper)
        self._originals.append((owner, name, original, wrapper))

    def watch_eager_ops(self, on: bool) -> None:
        """Switch the op callbacks of all threads on or off; off restores TensorFlow's speed."""
        self._eager = on
        if on:
            if context.context_safe() is not None:
                self.watch_this_thread()
            for callbacks in list(self._callback_lists.values()):
                if self._op_callback not in callbacks:
                    callbacks.append(self._op_callback)
            execute.execute = execute.execute_with_callbacks
            return
        for callbacks in list(self._callback_lists.values()):
            if self._op_callback in callbacks:
                callbacks.remove(self._op_callback)

    def watch_this_thread(self) -> None:
        """Add the op callback of the current thread."""
        callbacks = context.context().op_callbacks
        self._callback_lists[threading.get_ident()] = callbacks
        self._thread.watched = True
        if self._eager and self._op_callback not in callbacks:
            callbacks.append(self._op_callback)

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
            if internals.in_own_work():
                return None
            try:
                self._listener.eager_op(op_type, inputs, outputs)
            except Exception as error:
                self._listener.hook_failed(error, _subject("eager_op", (op_type,)))
            return None
        return list(outputs)  # handed to the next callback, and then to the program

    # ---- The wrappers --------------------------------------------------------------------------

    def _recorded_call(
        self, original: Any, op_name: str, num_outputs: int, inputs: Any, *rest: Any
    ) -> Any:
        """Call a function; its outputs are recorded by the op callback where there is one."""
        call = self._tell("call_begins", op_name)
        function, captures = op_name, []
        if self._try(_CALLS, internals.on_custom_device, inputs):
            self._tell("function_left_out", op_name, "its arguments are DTensors")
        else:
            function, captures = self._tell("function_to_run", op_name) or (op_name, [])
        try:
            outputs = original(function, num_outputs, [*inputs, *captures], *rest)
        except BaseException as error:
            internals.restore_names(error)
            self._tell("call_fails", call, inputs, error)
            raise
        self._tell("call_ends", call, inputs, outputs)
        return outputs

    def _tell(self, hook: str, *args: Any, **kwargs: Any) -> Any:
        """Tell the listener; what goes wrong there must not reach the program."""
        if internals.in_own_work():
            return None
        try:
            return getattr(self._listener, hook)(*args, **kwargs)
        except Exception as error:
            self._listener.hook_failed(error, _subject(hook, args))
            return None

    def _try(self, what: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call what finds something out about the program; the same holds.

        Args:
            what: What may not be on record where it fails.
            function: What to call.
            *args: Its arguments.
        """
        try:
            return function(*args)
        except Exception as error:
            self._listener.hook_failed(error, what)
            return None

    def _watches_call(self, op_name: Any) -> bool:
        """Whether an eager execution is the call of a function that is to be told."""
        if not self._eager:
            return False
        if not self._thread.watched:
            self.watch_this_thread()
        return internals.is_function_name(op_name)

    def _quick_execute(self, original: Any) -> Any:
        def quick_execute(
            op_name: Any, num_outputs: Any, inputs: Any, attrs: Any, ctx: Any, name: Any = None
        ) -> Any:
            if not self._try(_CALLS, self._watches_call, op_name):
                return original(op_name, num_outputs, inputs, attrs, ctx, name)
            return self._recorded_call(original, op_name, num_outputs, inputs, attrs, ctx, name)

        return quick_execute

    def _execute_with_cancellation(self, original: Any) -> Any:
        def execute_with_cancellation(
            op_name: Any,
            num_outputs: Any,
            inputs: Any,
            attrs: Any,
            ctx: Any,
            cancellation_manager: Any,
            name: Any = None,
        ) -> Any:
            rest = (num_outputs, inputs, attrs, ctx, cancellation_manager, name)
            if not self._try(_CALLS, self._watches_call, op_name):
                return original(op_name, *rest)
            return self._recorded_call(original, op_name, *rest)

        return execute_with_cancellation

    def _from_func_graph(self, original: Any) -> Any:
        def from_func_graph(name: Any, graph: Any, attrs: Any, *args: Any, **kwargs: Any) -> Any:
            function = original(name, graph, attrs, *args, **kwargs)
            text = name.decode() if isinstance(name, bytes) else name
            self._tell("function_created", text, graph, attrs)
            return function

        return from_func_graph

    def _set_shape(self, original: Any) -> Any:
        what = "the true shapes of a graph"

        def set_shape(this: Any, shape: Any) -> None:
            if not self._try(what, internals.is_users, sys._getframe(1)):
                original(this, shape)
                return
            before = this.shape
            original(this, shape)
            self._try(what, _doubt_changed_shape, this, before)

        return set_shape

    def _should_invoke_op_callbacks(self, original: Any) -> Any:
        """Only graphs ask: telling our callback of an op would take a fifth of making the op."""

        def should_invoke_op_callbacks() -> Any:
            return context.context().op_callbacks != [self._op_callback] and original()

        return should_invoke_op_callbacks

    def _extract_stack(self, original: Any) -> Any:
        """Find out where an op is made; give no stack that would end the process when it is read.

        The program might never read it; messages of errors do.
        """

        def extract_stack(stacklevel: int = 1) -> Any:
            if internals.adds_ops():
                return None  # Nobody asks where an op of ours was made.
            frame = sys._getframe(1)
            if frame.f_code.co_name != _MAKES_OP:
                return original(stacklevel + 1) if locations.is_text(frame) else None
            location = self._try(_LOCATIONS, self._locations.known, frame)
            if location is None:
                # A stack of its own: TensorFlow keeps what is read of a stack, which is 6 kB.
                stack = original(stacklevel + 1)
                location = self._try(_LOCATIONS, self._locations.add, frame, stack)
            self._thread.location = location
            return original(stacklevel + 1) if location is None or location.readable else None

        # Error messages show the frames that are not in a file of TensorFlow's.
        code = extract_stack.__code__
        extract_stack.__code__ = code.replace(co_filename=original.__code__.co_filename)
        return extract_stack

    def _operation_init(self, original: Any) -> Any:
        """Note where an op is made once there is an object for it."""

        def init(this: Any, graph: Any) -> None:
            original(this, graph)
            location = self._thread.location
            if location is not None:
                self._thread.location = None
                locations.note_location(this, location)

        return init

    def _session_do_run(self, original: Any) -> Any:
        def do_run(
            this: Any,
            handle: Any,
            targets: Any,
            fetches: Any,
            feeds: Any,
            options: Any,
            run_metadata: Any,
        ) -> Any:
            if handle is not None:
                self._tell("session_skipped", this, "Session.partial_run")
                return original(this, handle, targets, fetches, feeds, options, run_metadata)
            run = self._tell("session_run_begins", this, targets, fetches, feeds)
            if run is None:
                return original(this, None, targets, fetches, feeds, options, run_metadata)
            plan, feeds = run.plan, {**feeds, **run.feeds}
            if plan.before or plan.step is not None:
                steps = [plan.step] if plan.step is not None else []
                # What it cannot read the program's run cannot either, which says so itself.
                with contextlib.suppress(errors.OpError):
                    values = original(this, None, plan.before, steps, feeds, None, None)
                    self._tell("session_counted", run, values)
            try:
                outputs = original(
                    this, None, [*targets, *plan.along], fetches, feeds, options, run_metadata
                )
            except BaseException as error:
                self._tell("session_run_fails", this, run, error)
                raise
            self._tell("session_run_ends", run, fetches, outputs)
            return outputs

        return do_run

    def _session_make_callable(self, original: Any) -> Any:
        def make_callable(
            this: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False
        ) -> Any:
            made = original(this, fetches, feed_list, accept_options)
            if feed_list is not None:
                return made  # TensorFlow itself makes that a call of `run`.

            def call(*args: Any, **kwargs: Any) -> Any:
                if args or (kwargs and not accept_options):
                    return made(*args, **kwargs)  # raises
                return this.run(fetches, **kwargs)

            return call

        return make_callable

    def _session_callable_from_options(self, original: Any) -> Any:
        def make_callable_from_options(this: Any, callable_options: Any) -> Any:
            self._tell("session_skipped", this, "Session._make_callable_from_options")
            return original(this, callable_options)

        return make_callable_from_options

    def _dataset_function(self, original: Any) -> Any:
        def function(this: Any) -> Any:
            made = original.fget(this)
            if not context.executing_eagerly():
                return made
            name = internals.function_name(made)
            to_run, _ = self._tell("function_to_run", name, stateless=True) or (name, [])
            return made if to_run == name else _Renamed(made, to_run)

        return property(function)

    def _make_function_context(self, original: Any) -> Any:
        def with_variant(made: Any, variant: Any) -> Any:
            key = made.context
            return made._replace(context=key._replace(xla_context_id=(variant, key.xla_context_id)))

        def make_function_context(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            variant = self._tell("function_variant")
            return (variant and self._try(_CALLS, with_variant, made, variant)) or made

        return make_function_context

    def _set_context(self, original: Any) -> Any:
        """Watch the thread that makes the context: the program may still choose its options."""

        def set_context(made: Any) -> None:
            original(made)
            self._try("eager ops of a thread", self.watch_this_thread)

        return set_context

    def _get_python_function(self, original: Any) -> Any:
        """Watch the thread that a `tf.py_function` or a generator of a dataset runs in."""

        def get(registry: Any, token: Any, default: Any = None) -> Any:
            if not internals.is_own_py_func(token):
                self._try("eager ops of a Python function", self.watch_this_thread)
            return original(registry, token, default)

        return get

    def _thread_bootstrap(self, original: Any) -> Any:
        hooks = self

        # Not around `run`, where a traceback of the thread would show it.
        def bootstrap(thread: threading.Thread) -> None:
            if hooks._installed:
                hooks._try("eager ops of a thread", hooks.watch_this_thread)
            try:
                original(thread)
            finally:
                hooks._callback_lists.pop(threading.get_ident(), None)

        return bootstrap


def _doubt_changed_shape(tensor: Any, before: Any) -> None:
    # Unknown shapes differ from themselves.
    if repr(tensor.shape) != repr(before):
        internals.doubt_shapes(tensor.graph)


def _subject(hook: str, args: tuple[Any, ...]) -> str:
    """Say what is not on record where a hook has failed with some arguments."""
    first = args[0] if args else None
    if hook == "eager_op":
        return f"the eager op {_name(first)}"
    if hook == "function_to_run" or hook.startswith("call_"):
        return f"a call of {_name(getattr(first, 'name', first))}"
    found = (getattr(arg, "graph", arg) for arg in args)
    graph = next((graph for graph in found if isinstance(graph, ops.Graph)), None)
    if graph is None:
        return "functions that are traced"
    return f"the graph {getattr(graph, 'name', None) or 'of the program'}"


def _name(name: Any) -> str:
    """Return the name of an op type, or that of a function without what TensorFlow adds."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    return re.sub(r"^__(?:inference|forward|backward)_(.+)_\d+$", r"\1", text)
