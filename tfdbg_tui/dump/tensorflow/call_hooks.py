"""Hooks into functions: that a graph becomes one, and that one is called or used in a dataset."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.function.polymorphism.function_cache import FunctionContext
from tensorflow.python.data.ops.structured_function import StructuredFunctionWrapper
from tensorflow.python.eager import execute
from tensorflow.python.eager.polymorphic_function import atomic_function, function_context
from tensorflow.python.eager.polymorphic_function.function_context import EagerContext
from tensorflow.python.ops import gen_dataset_ops

from tfdbg_tui.dump.tensorflow import datasets, devices, functions, graph_state, own
from tfdbg_tui.dump.tensorflow.function_defs import IN_THREADS, SINGLE_THREADED
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import attribute, declare
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.eager_hooks import EagerHooks
    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_QUICK_EXECUTE = declare(
    execute, "quick_execute", "op_name", "num_outputs", "inputs", "attrs", "ctx", "name"
)
_EXECUTE_WITH_CANCELLATION = declare(
    execute,
    "execute_with_cancellation",
    *("op_name", "num_outputs", "inputs", "attrs", "ctx", "cancellation_manager", "name"),
)
_FROM_FUNC_GRAPH = declare(atomic_function, "from_func_graph", "name", "graph", "attrs")
_DATASET_FUNCTION = declare(StructuredFunctionWrapper, "function")
_TRACE_DATASET_FUNCTION = declare(
    StructuredFunctionWrapper,
    "__init__",
    *("self", "func", "transformation_name", "dataset"),
)
_MAPS = (
    declare(gen_dataset_ops, "map_dataset"),
    declare(gen_dataset_ops, "parallel_map_dataset_v2"),
)
_MAKE_FUNCTION_CONTEXT = declare(function_context, "make_function_context")
_eager_context = attribute(FunctionContext, "context")
_xla_context_id = attribute(EagerContext, "xla_context_id")

_CALLS = "calls of functions"


class _Renamed:
    """A function of the program that is known to TensorFlow by another name."""

    def __init__(self, function: Any, name: str) -> None:
        self._function = function
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._function, attribute)


class CallHooks:
    """Tells of functions and their calls.

    Args:
        listener: Who is told.
        eager: Knows whether calls are to be told.
    """

    def __init__(self, listener: SafeListener, eager: EagerHooks) -> None:
        self._listener = listener
        self._eager = eager

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return (
            (_QUICK_EXECUTE, self._quick_execute),
            (_EXECUTE_WITH_CANCELLATION, self._execute_with_cancellation),
            (_FROM_FUNC_GRAPH, self._from_func_graph),
            (_DATASET_FUNCTION, self._dataset_function),
            (_TRACE_DATASET_FUNCTION, self._trace_dataset_function),
            *((declared, self._map_dataset) for declared in _MAPS),
            (_MAKE_FUNCTION_CONTEXT, self._make_function_context),
        )

    def _quick_execute(self, original: Any) -> Any:
        def quick_execute(
            op_name: Any, num_outputs: Any, inputs: Any, attrs: Any, ctx: Any, name: Any = None
        ) -> Any:
            rest = (num_outputs, inputs, attrs, ctx, name)
            with LeftOutOfTracebacks():
                if not self._listener.attempt(_CALLS, self._eager.watches_call, op_name):
                    return original(op_name, *rest)
                return self._recorded_call(original, op_name, *rest)

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
            with LeftOutOfTracebacks():
                if not self._listener.attempt(_CALLS, self._eager.watches_call, op_name):
                    return original(op_name, *rest)
                return self._recorded_call(original, op_name, *rest)

        return execute_with_cancellation

    def _from_func_graph(self, original: Any) -> Any:
        def from_func_graph(name: Any, graph: Any, attrs: Any, *args: Any, **kwargs: Any) -> Any:
            function = original(name, graph, attrs, *args, **kwargs)
            self._listener.tell("function_created", function, graph, attrs)
            return function

        return from_func_graph

    def _dataset_function(self, original: Any) -> Any:
        def function(this: Any) -> Any:
            made = original.fget(this)
            if not tf.executing_eagerly():
                return made
            name = functions.function_name(made)
            to_run, _ = self._listener.tell("function_to_run", name, stateless=True) or (name, [])
            return made if to_run == name else _Renamed(made, to_run)

        return property(function)

    def _map_dataset(self, original: Any) -> Any:
        def map_dataset(*args: Any, **kwargs: Any) -> Any:
            if isinstance(kwargs.get("f"), _Renamed):
                kwargs[IN_THREADS] = True  # what records it has branches
            return original(*args, **kwargs)

        return map_dataset

    def _trace_dataset_function(self, original: Any) -> Any:
        listener = self._listener

        def init(
            self: Any,
            func: Any,
            transformation_name: Any,
            dataset: Any = None,
            *args: Any,
            **kwargs: Any,
        ) -> None:
            certain = listener.attempt(_CALLS, datasets.are_elements_certain, dataset)
            tracing = graph_state.tracing_for_certain_elements if certain else nullcontext
            with LeftOutOfTracebacks(), tracing():
                original(self, func, transformation_name, dataset, *args, **kwargs)

        return init

    def _make_function_context(self, original: Any) -> Any:
        def with_variant(made: Any, variant: Any) -> Any:
            key = _eager_context(made)
            told_apart = variant, _xla_context_id(key)
            return made._replace(context=key._replace(xla_context_id=told_apart))

        def make_function_context(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            variant = self._listener.tell("function_variant")
            return (variant and self._listener.attempt(_CALLS, with_variant, made, variant)) or made

        return make_function_context

    def _recorded_call(
        self, original: Any, op_name: str, num_outputs: int, inputs: Any, *rest: Any
    ) -> Any:
        """Call a function; its outputs are recorded by the op callback where there is one."""
        call = self._listener.tell("call_begins", op_name)
        try:
            function, captures = self._function_to_run(op_name, call, inputs, rest[0])
            outputs = original(function, num_outputs, [*inputs, *captures], *rest)
        except BaseException as error:
            own.restore_names(error)
            self._listener.tell("call_fails", call, inputs, error)
            raise
        self._listener.tell("call_ends", call, inputs, outputs)
        return outputs

    def _function_to_run(
        self, op_name: str, call: Any, inputs: Any, attrs: Any
    ) -> tuple[str, list[Any]]:
        if self._listener.attempt(_CALLS, devices.runs_on_custom, inputs):
            self._listener.tell("function_left_out", op_name, omissions.BY_DTENSOR)
            return op_name, []
        if attrs and attrs[:2] == ("executor_type", SINGLE_THREADED):
            self._listener.tell("function_left_out", op_name, omissions.BY_SINGLE_THREAD)
            return op_name, []
        to_run: tuple[str, list[Any]] | None
        to_run = self._listener.tell("function_to_run", op_name, call, inputs)
        return to_run or (op_name, [])
