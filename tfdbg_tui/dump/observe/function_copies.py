"""The functions that run in place of the program's: the same ops, and those that record.

The program's graphs and functions are left as they are, so that what the program exports,
differentiates, vectorises or counts is its own.  When a function is called for the first time, its
twin is made of its FunctionDef, and calls the twins of the functions that the function calls.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.observe.places import Flavour, Probe
from tfdbg_tui.dump.tensorflow import internals
from tfdbg_tui.dump.tensorflow.function_defs import (
    FunctionBody,
    add_inputs,
    called_functions,
    function_attributes,
    set_captures,
    takes_more_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Callable


CANNOT_TAKE_VALUES = "XLA compiles it, and its caller cannot take its values"
"""Why a function that XLA compiles may have to run as it is."""

_serials = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Twin:
    """A function that runs in place of one of the program's.

    Attributes:
        function: The runtime function, which is there as long as this object.
        captures: Eager tensors that it takes after the arguments, by the names it has for them.
    """

    function: Any
    captures: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the runtime function."""
        return internals.function_name(self.function)


@dataclass(frozen=True, slots=True)
class _Source:
    """What a function was made of: its graph may grow later."""

    arguments: list[str]
    num_ops: int


class Twins:
    """Makes the twins of one dump.

    Args:
        observe: Adds the ops that record a graph, as far as a function uses it, to a probe.
        skip: Says that a function is not recorded, because of an error.
        leave_out: Says that a function, given by its name, runs as it is, and why.
    """

    def __init__(
        self,
        observe: Callable[[Any, FunctionBody, Probe], None],
        skip: Callable[[Any, Exception], None],
        leave_out: Callable[[str, str], None],
    ) -> None:
        self._observe = observe
        self._skip = skip
        self._leave_out = leave_out
        self._graphs: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._serial = next(_serials)
        self._lock = threading.RLock()

    def add(self, name: str, graph: Any) -> None:
        """Take note of a function of the program that was just created."""
        placeholders = [tensor.op.name for tensor in graph.inputs]
        source = _Source(placeholders, len(graph.get_operations()))
        self._graphs[name] = graph
        self._state(graph)[name] = source

    def of(self, name: str, flavour: Flavour) -> Twin | None:
        """Return the twin of a function of the program, or None where it runs as it is."""
        graph = self._graphs.get(name)
        if graph is None:
            return None
        key = name, flavour
        with self._lock:
            state = self._state(graph)
            if key not in state:
                state[key] = None  # It calls itself, or fails.
                try:
                    state[key] = self._make(graph, name, state[name], flavour)
                except Exception as error:
                    self._skip(graph, error)
            twin: Twin | None = state[key]
            return twin

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
        flavour = Flavour(stateless=_is_dataset(op.type), in_session=True)
        twins = [self._of_graph(graph, name, flavour) for name in names]
        for twin in twins:
            if twin is not None:
                internals.add_to_graph(graph, twin.function)
        if any(twins):
            called = [t.name if t else name for name, t in zip(names, twins, strict=True)]
            internals.call_instead(op, attribute, called)

    def _of_graph(self, graph: Any, name: str, flavour: Flavour) -> Twin | None:
        """Return the twin of a function of a v1 graph, if a session can run it.

        An imported graph brings its own functions, whose names may be those of others here.
        """
        made_of = internals.function_graph(graph, name)
        if made_of is None:
            self._leave_out(name, "it came with a graph that was imported")
        if made_of is None or made_of is not self._graphs.get(name):
            return None
        twin = self.of(name, flavour)
        if twin is not None and twin.captures:
            self._leave_out(name, CANNOT_TAKE_VALUES)
            return None
        return twin

    def _state(self, graph: Any) -> dict[Any, Any]:
        """Return what is known of a graph; kept on the graph, so that it lives as long."""
        states: dict[int, dict[Any, Any]] = getattr(graph, "_tfdbg_tui_twins", {})
        graph._tfdbg_tui_twins = states
        return states.setdefault(self._serial, {})

    def _make(self, graph: Any, name: str, source: _Source, flavour: Flavour) -> Twin | None:
        definition = internals.function_def(name)
        if internals.is_compiled(graph, definition.attr):
            flavour = replace(flavour, compiled=True)
        if flavour.compiled and internals.is_loop_condition(graph):
            return None  # XLA does not let it write anything.
        ops = graph.get_operations()[: source.num_ops]
        inputs = set(source.arguments)
        body = FunctionBody(definition, source.arguments, (o for o in ops if o.name not in inputs))
        children, captures = self._use_in_nodes(definition.node_def, flavour)
        probe = Probe(body, flavour)
        self._observe(graph, body, probe)
        if probe.definition is not None:
            body.add(probe)
            captures |= probe.captures
        elif not children:
            return None
        definition.signature.name = internals.twin_name(name)
        set_captures(definition, list(captures), returned=False)
        functions = [child.function for child in children] + probe.children
        function = internals.make_function(definition, functions)
        return Twin(function, captures)

    def _use_in_nodes(self, nodes: Any, flavour: Flavour) -> tuple[list[Twin], dict[str, Any]]:
        """Let nodes call the twins; return these, and all that they capture."""
        used: list[Twin] = []
        captures: dict[str, Any] = {}
        for node in nodes:
            inside = replace(flavour, stateless=flavour.stateless or _is_dataset(node.op))
            called = list(called_functions(node))
            twins = [self.of(function.name, inside) for function in called]
            passed = {
                n: tensor for twin in filter(None, twins) for n, tensor in twin.captures.items()
            }
            if passed and not takes_more_inputs(node):
                for function in called:
                    self._leave_out(function.name, CANNOT_TAKE_VALUES)
                continue
            if passed:
                body = node.attr["body"].func.name if "body" in node.attr else None
                twins = [
                    _with_captures(f.name, twin, passed, returned=f.name == body)
                    for f, twin in zip(called, twins, strict=True)
                ]
                add_inputs(node, list(passed))
            for function, twin in zip(called, twins, strict=True):
                if twin is not None:
                    function.name = twin.name
                    used.append(twin)
            captures |= passed
        return used, captures


def _with_captures(
    name: str, twin: Twin | None, captures: dict[str, Any], *, returned: bool
) -> Twin:
    """Return a twin that takes just these captures, and in a loop's body returns them too."""
    definition = internals.function_def(twin.name if twin else name)
    set_captures(definition, list(captures), returned=returned)
    definition.signature.name = internals.twin_name(name)
    children = [twin.function] if twin else []
    return Twin(internals.make_function(definition, children), captures)


def _is_dataset(op_type: str) -> bool:
    return "Dataset" in op_type
