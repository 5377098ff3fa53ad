"""The functions that run in place of the program's: the same ops, and those that record.

The program's graphs and functions are left as they are, so that what the program exports,
differentiates, vectorises or counts is its own.  When a function is called for the first time, its
twin is made of its FunctionDef, and calls the twins of the functions that the function calls.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import tensorflow_internals
from tfdbg_tui.dump.function_defs import FunctionBody, called_functions, function_attributes
from tfdbg_tui.dump.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Callable


_serials = itertools.count(1)


@dataclass(frozen=True, slots=True)
class _Source:
    """What a function was made of: its graph may grow later."""

    arguments: list[str]
    num_ops: int


class Twins:
    """Makes the twins of one dump.

    Args:
        observe: Adds the ops that record a graph, as far as a function uses it, to a probe.
        skip: Says that a function is not recorded, and why.
    """

    def __init__(
        self,
        observe: Callable[[Any, FunctionBody, Probe], None],
        skip: Callable[[Any, Exception], None],
    ) -> None:
        self._observe = observe
        self._skip = skip
        self._graphs: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._serial = next(_serials)
        self._lock = threading.RLock()

    def add(self, name: str, graph: Any) -> None:
        """Take note of a function of the program that was just created."""
        placeholders = [tensor.op.name for tensor in graph.inputs]
        source = _Source(placeholders, len(graph.get_operations()))
        self._graphs[name] = graph
        self._state(graph)[name] = source

    def of(self, name: str, *, stateless: bool = False) -> Any:
        """Return the twin of a function: a runtime function, or None where it runs as it is.

        Args:
            name: Name of the program's function.
            stateless: Whether it must have no side effects for TensorFlow, as in a dataset, which
                could not be saved otherwise.
        """
        graph = self._graphs.get(name)
        if graph is None:
            return None
        key = name, stateless
        with self._lock:
            state = self._state(graph)
            if key not in state:
                state[key] = None  # It calls itself, or fails.
                try:
                    state[key] = self._make(graph, name, state[name], stateless=stateless)
                except Exception as error:
                    self._skip(graph, error)
            return state[key]

    def use_in(self, graph: Any) -> None:
        """Let the ops of a v1 graph that are new call the twins.

        An op that a session has run must not change, so this is for before each run.
        """
        start, version = getattr(graph, "_tfdbg_tui_calls_twins", (0, 0))
        if version == graph.version:
            return
        ops = graph.get_operations()
        graph._tfdbg_tui_calls_twins = len(ops), graph.version
        for op in ops[start:]:
            for attribute in function_attributes(op.type):
                self._use_in_op(graph, op, attribute)

    def _use_in_op(self, graph: Any, op: Any, attribute: str) -> None:
        value = op.get_attr(attribute)
        names = [f.name for f in (value if isinstance(value, list) else [value])]
        twins = [self.of(name, stateless=_is_dataset(op.type)) for name in names]
        for twin in filter(None, twins):
            tensorflow_internals.add_to_graph(graph, twin)
        if any(twins):
            called = [
                tensorflow_internals.function_name(twin) if twin else name
                for name, twin in zip(names, twins, strict=True)
            ]
            tensorflow_internals.call_instead(op, attribute, called)

    def _state(self, graph: Any) -> dict[Any, Any]:
        """Return what is known of a graph; kept on the graph, so that it lives as long."""
        states: dict[int, dict[Any, Any]] = getattr(graph, "_tfdbg_tui_twins", {})
        graph._tfdbg_tui_twins = states
        return states.setdefault(self._serial, {})

    def _make(self, graph: Any, name: str, source: _Source, *, stateless: bool) -> Any:
        definition = tensorflow_internals.function_def(name)
        children = self._use_in_nodes(definition.node_def, stateless=stateless)
        ops = graph.get_operations()[: source.num_ops]
        inputs = set(source.arguments)
        body = FunctionBody(definition, source.arguments, (o for o in ops if o.name not in inputs))
        probe = Probe(body, stateless=stateless)
        self._observe(graph, body, probe)
        if probe.definition is not None:
            body.add(probe)
        elif not children:
            return None
        definition.signature.name = tensorflow_internals.twin_name(name)
        return tensorflow_internals.make_function(definition, children + probe.children)

    def _use_in_nodes(self, nodes: Any, *, stateless: bool) -> list[Any]:
        """Let nodes call the twins, and return these."""
        used = []
        for node in nodes:
            for function in called_functions(node):
                twin = self.of(function.name, stateless=stateless or _is_dataset(node.op))
                if twin is not None:
                    function.name = tensorflow_internals.function_name(twin)
                    used.append(twin)
        return used


def _is_dataset(op_type: str) -> bool:
    return "Dataset" in op_type
