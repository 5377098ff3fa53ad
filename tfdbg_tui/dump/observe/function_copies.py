"""The functions that run in place of the program's: the same ops, and those that record.

The program's graphs and functions are left as they are, so that what the program exports,
differentiates, vectorises or counts is its own.  When a function is called for the first time, its
copy is made of its FunctionDef, and calls the copies of the functions that the function calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import tensorflow as tf

from tfdbg_tui.dump import locks
from tfdbg_tui.dump.interrupts import is_interrupt
from tfdbg_tui.dump.observe.observed import ASSUMED_DIMENSION, UnknownDimensions
from tfdbg_tui.dump.observe.places import AddedGraph, Usage
from tfdbg_tui.dump.tensorflow import (
    functions,
    graph_ops,
    graph_state,
    own,
    pruning,
    without_data,
)
from tfdbg_tui.dump.tensorflow.function_defs import (
    AFTER,
    IN_THREADS,
    ITERATION,
    FunctionBody,
    add_inputs,
    add_number_of_call,
    called_functions,
    function_attributes,
    hands_on_inputs,
    has_effects,
    implement,
    implements,
    is_chosen_later,
    is_single_threaded,
    let_begin_at_once,
    set_captures,
    stand_alone,
)
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfdbg_tui.dump.tensorflow.function_defs import Computed, Slots

_IS_CHOSEN_LATER = "TensorFlow chooses by device which implementation of it runs"
_HAS_NO_GRAPH = "no graph of it in Python is known"
_CALLS_CHOSEN = "TensorFlow chooses by device which implementation of a function runs that it calls"
CANNOT_TAKE_VALUES = "XLA compiles it, and its caller cannot take its values"
"""Why a function that XLA compiles may have to run as it is."""


@dataclass(frozen=True, slots=True)
class FunctionCopy:
    """A function that runs in place of one of the program's.

    Attributes:
        function: The runtime function, which is there as long as this object.
        captures: What it takes after the arguments; see `AddedGraph.captures`.
        numbered: Whether it takes the number of the call after these.
        kept: What has to live as long.
    """

    function: Any
    captures: dict[str, Any]
    numbered: bool = False
    kept: Sequence[Any] = ()

    @property
    def name(self) -> str:
        """Name of the runtime function."""
        return functions.function_name(self.function)

    @property
    def takes_the_same(self) -> bool:
        """Whether it takes just what the function takes that it is a copy of."""
        return not (self.captures or self.numbered)


@dataclass(slots=True, eq=False, weakref_slot=True)
class _Original:
    """What is known of a function of the program; kept on it, so that it lives as long.

    Attributes:
        graph: What it was made of, which may grow later.
        arguments: The names of its arguments.
        num_ops: How many ops the graph had.
        num_outputs: How many outputs it has.
        dimensions: How large the unknown ones of its arguments are.
        copies: What runs in its place.
        computed: What is computed of it for some of its outputs.
        anywhere: What is known to hold, or not, for its FunctionDef or for one that it calls.
    """

    graph: Any
    arguments: list[str]
    num_ops: int
    num_outputs: int
    dimensions: UnknownDimensions
    copies: dict[Usage, FunctionCopy | None] = field(default_factory=dict)
    computed: dict[Slots, Computed] = field(default_factory=dict)
    anywhere: dict[Callable[[Any], bool], bool] = field(default_factory=dict)
    _implements: str | None = ""

    def implements(self, name: str) -> str | None:
        """Return what TensorFlow may choose it, called so, for; see `function_defs.implements`."""
        if self._implements == "":
            self._implements = implements(functions.function_def(name))
        return self._implements


class FunctionCopies:
    """Makes the copies of one dump.

    Args:
        observe: Adds the ops that record a graph, as far as a function uses it.
        skip: Says that a function is not recorded, because of an error.
        leave_out: Says that a function, given by its name, runs as it is, and why.
    """

    def __init__(
        self,
        observe: Callable[[Any, FunctionBody, AddedGraph], None],
        skip: Callable[[Any, BaseException], None],
        leave_out: Callable[[str, str], None],
    ) -> None:
        self._observe = observe
        self._skip = skip
        self._leave_out = leave_out
        self._originals: WeakValueDictionary[str, _Original] = WeakValueDictionary()
        self._lock = locks.new()

    def add(self, function: Any, graph: Any) -> None:
        """Take note of a function of the program that was just created, and of its graph."""
        placeholders = [tensor.op.name for tensor in graph.inputs]
        size = len(graph.get_operations()), len(graph.outputs)
        original = _Original(graph, placeholders, *size, UnknownDimensions(graph.inputs))
        self._originals[functions.function_name(function)] = original
        functions.keep(function, original)

    def dimension(self, name: str, inputs: Sequence[Any]) -> int:
        """Return what an unknown dimension is taken to be in a call of a function.

        Args:
            name: The function's.
            inputs: Those of the call, eager tensors.
        """
        original = self._originals.get(name)
        if original is None or len(inputs) != len(original.arguments):
            return ASSUMED_DIMENSION
        original.dimensions.note(inputs)
        return original.dimensions.largest

    def of(self, name: str, usage: Usage) -> FunctionCopy | None:
        """Return the copy of a function of the program, or None where it runs as it is."""
        original = self._originals.get(name)
        if original is None:
            return None
        with self._lock:
            copies = original.copies
            if usage.used is not None and len(usage.used) == original.num_outputs:
                usage = usage._replace(used=None)
            if usage not in copies:
                copies[usage] = None  # It calls itself, or fails.
                try:
                    copies[usage] = self._make(original, name, usage)
                except BaseException as error:
                    if is_interrupt(error):
                        del copies[usage]
                    self._skip(original.graph, error)
            return copies[usage]

    def give_back(self) -> None:
        """Let go of what nothing runs any more once no call is recorded.

        A call in progress keeps its own; sessions and datasets go on to run theirs.
        """
        with self._lock:
            for original in list(self._originals.values()):
                original.copies = {
                    usage: copy
                    for usage, copy in original.copies.items()
                    if usage.in_session or usage.stateless
                }
                original.computed.clear()

    def use_in(self, graph: Any) -> None:
        """Let the ops of a v1 graph that are new call the copies.

        An op that a session has run must not change, so this is for before each run.
        """
        kept = graph_state.state_of(graph)
        start, version = kept.ops_with_copies
        if version == graph.version:
            return
        ops = graph.get_operations()
        kept.ops_with_copies = len(ops), graph.version
        with graph_ops.unfinalized(graph):
            for op in ops[start:]:
                for attribute in function_attributes(op.type):
                    self._use_in_op(graph, op, attribute)

    def _use_in_op(self, graph: Any, op: Any, attribute: str) -> None:
        value = op.get_attr(attribute)
        names = [f.name for f in (value if isinstance(value, list) else [value])]
        usage = Usage(
            stateless=_is_dataset(op.type), in_session=True, in_loop=functions.is_loop(op)
        )
        if is_single_threaded(op.node_def):
            for name in names:
                self._leave_out(name, omissions.BY_SINGLE_THREAD)
            return
        kept = graph_state.state_of(graph)
        made_here = (name for name in names if functions.function_graph(graph, name) is not None)
        kept.calls_chosen = kept.calls_chosen or any(map(self._calls_chosen, made_here))
        copies = [self._of_graph(graph, name, usage) for name in names]
        for copy in copies:
            if copy is not None:
                functions.add_to_graph(graph, copy.function)
        if any(copies):
            called = [t.name if t else name for name, t in zip(names, copies, strict=True)]
            functions.call_instead(op, attribute, called)

    def _of_graph(self, graph: Any, name: str, usage: Usage) -> FunctionCopy | None:
        """Return the copy of a function of a v1 graph, if a session can run it.

        An imported graph brings its own functions, whose names may be those of others here.
        """
        made_of = functions.function_graph(graph, name)
        if made_of is None:
            copy = self._of_old_function(graph, name, usage)
        else:
            original = self._originals.get(name)
            if original is None or original.graph is not made_of:
                return None
            copy = self.of(name, usage)
        if copy is not None and copy.captures:
            self._leave_out(name, CANNOT_TAKE_VALUES)
            return None
        return copy

    def _of_old_function(self, graph: Any, name: str, usage: Usage) -> FunctionCopy | None:
        """Return a copy that calls copies: that of a function which makes a dataset."""
        definition = functions.old_definition(graph, name)
        if definition is None:
            self._leave_out(name, "it came with a graph that was imported")
            return None
        if any(map(_computes_numbers, definition.node_def)):
            self._leave_out(name, _HAS_NO_GRAPH)
        computed = pruning.everything(definition)
        children, captures = self._use_in_nodes(definition.node_def, usage, computed)
        if not children:
            return None
        definition.signature.name = own.copy_name(name)
        function = functions.make_function(definition, [child.function for child in children])
        return FunctionCopy(function, captures)

    def _make(self, original: _Original, name: str, usage: Usage) -> FunctionCopy | None:
        definition = functions.function_def(name)
        if not usage.outermost and is_chosen_later(definition):
            copy = self._make_alternatives(name, usage) if not usage.in_session else None
            if copy is None:
                self._leave_out(name, _IS_CHOSEN_LATER)
            return copy
        if usage.in_session and not usage.stateless and self._calls_chosen(name):
            self._leave_out(name, _CALLS_CHOSEN)
            return None
        return self._make_one(original, name, usage)

    def _make_alternatives(self, name: str, usage: Usage) -> FunctionCopy | None:
        """Return a copy of a function in whose place TensorFlow may run another one.

        It chooses among the copies as it does among the functions, and by the same device.  None
        where it would not, as they do not take the same.
        """
        what = self._originals[name].implements(name)
        if what is None:
            return None
        usage, among = usage._replace(counted=False, ordered=False), own.copy_name(what)
        originals = [(n, o) for n, o in list(self._originals.items()) if o.implements(n) == what]
        copies = {n: self._make_one(original, n, usage, among) for n, original in originals}
        alternatives = [copy for copy in copies.values() if copy and copy.takes_the_same]
        chosen = copies[name]
        if chosen is None or len(alternatives) < len(copies):
            return None
        return replace(chosen, kept=(*chosen.kept, *alternatives))

    def _make_one(
        self, original: _Original, name: str, usage: Usage, among: str | None = None
    ) -> FunctionCopy | None:
        """Return a copy of a function as it is; None where there is nothing to record in it.

        Args:
            original: The function.
            name: Its name.
            usage: What the copy is made for.
            among: What other copies also implement, among which TensorFlow chooses.
        """
        graph = original.graph
        definition = functions.function_def(name)
        if functions.is_compiled(graph, definition.attr):
            usage = usage._replace(compiled=True)
        if usage.compiled and functions.is_loop_condition(graph):
            return None  # XLA does not let it write anything.
        ops = graph.get_operations()[: original.num_ops]
        inputs = set(original.arguments)
        others = (op for op in ops if op.name not in inputs)
        computed = self._computed(name, usage.used)
        is_body = functions.is_loop_graph(graph) and not functions.is_loop_condition(graph)
        uses = (
            pruning.uses(definition, self._computed, is_loop_body=is_body)
            if usage.in_session
            else None
        )
        body = FunctionBody(definition, original.arguments, others, computed, uses)
        counter = functions.loop_counter(graph)
        if counter is not None:
            iteration = body.reference(counter) if counter.dtype == tf.int32 else None
        else:
            iteration = ITERATION if usage.counted else None
        takes_elements = self._holds_anywhere(without_data.takes_elements, name)
        inside = usage._replace(after_data=usage.after_data or takes_elements)
        at_once: frozenset[str] = frozenset()
        if inside.after_data and usage.orders_inside:
            at_once = without_data.done_without_data(
                definition, self._calls_such, given=usage.after_data
            )
        children, captures = self._use_in_nodes(
            definition.node_def, inside, computed, iteration, at_once
        )
        added = AddedGraph(body, usage, at_once)
        self._observe(graph, body, added)
        if added.ops is not None:
            body.add(added.ops)
            captures |= added.captures
        elif not children:
            return None
        if not usage.ordered:
            let_begin_at_once(definition)
        definition.signature.name = own.copy_name(name)
        if among is None:
            stand_alone(definition)
        else:
            implement(definition, among)
        set_captures(definition, list(captures), returned=False)
        if added.numbered:
            add_number_of_call(definition)
        called = [child.function for child in children] + added.children
        function = functions.make_function(definition, called)
        copy = FunctionCopy(function, captures, added.numbered, (*children, *added.kept))
        if usage.stateless:
            graph_state.state_of(graph).copies.append(copy)
        return copy

    def _computed(self, name: str, used: Slots) -> Computed:
        """Return what is computed of a function for some of its outputs."""
        original = self._originals.get(name)
        known = original.computed if original is not None else {}
        if used not in known:
            definition = functions.function_def(name)
            known[used] = pruning.everything(definition)  # It calls itself.
            known[used] = pruning.computed(definition, used, self._computed)
        return known[used]

    def _calls_chosen(self, name: str) -> bool:
        """Return whether TensorFlow chooses what implements a function, or one that it calls.

        In a session it does so once it has inlined the calls around, on their devices; it does not
        inline what records, if nothing waits for the call.
        """
        return self._holds_anywhere(is_chosen_later, name)

    def _holds_anywhere(self, what: Callable[[Any], bool], name: str) -> bool:
        """Return whether something holds for a function's FunctionDef, or for one that it calls."""
        original = self._originals.get(name)
        known = original.anywhere if original is not None else {}
        if what not in known:
            definition = functions.function_def(name)
            known[what] = what(definition)  # It may call itself.
            called = {f.name for node in definition.node_def for f in called_functions(node)}
            known[what] = known[what] or any(self._holds_anywhere(what, inner) for inner in called)
        return known[what]

    def _calls_such(self, what: Callable[[Any], bool], node: Any) -> bool:
        """Return whether something holds anywhere in what a node calls."""
        return any(self._holds_anywhere(what, function.name) for function in called_functions(node))

    def _copies_for(
        self, node: Any, usage: Usage, inside: Usage
    ) -> tuple[list[FunctionCopy | None], dict[str, Any]]:
        """Return the copies of what a node calls, as it can call them, and what it passes them.

        Args:
            node: The node.
            usage: What the function with the node is made for.
            inside: What the copies are made for.
        """
        names = [function.name for function in called_functions(node)]
        none: list[FunctionCopy | None] = [None] * len(names)
        if is_single_threaded(node):
            for name in names:
                self._leave_out(name, omissions.BY_SINGLE_THREAD)
            return none, {}
        copies = [self.of(name, inside) for name in names]
        self._tell_unknown(names)
        passed = {n: tensor for copy in filter(None, copies) for n, tensor in copy.captures.items()}
        takes_values = any(tensor is not None for tensor in passed.values())
        if passed and (not hands_on_inputs(node) or (usage.stateless and takes_values)):
            for name in names:
                self._leave_out(name, CANNOT_TAKE_VALUES)
            return none, {}
        if passed:
            body = node.attr["body"].func.name if "body" in node.attr else None
            copies = [
                _with_captures(name, copy, passed, returned=name == body)
                for name, copy in zip(names, copies, strict=True)
            ]
        return copies, passed

    def _use_in_nodes(
        self,
        nodes: Any,
        usage: Usage,
        computed: Computed,
        iteration: str | None = None,
        at_once: frozenset[str] = frozenset(),
    ) -> tuple[list[FunctionCopy], dict[str, Any]]:
        """Let the nodes that run call the copies; return these, and all that they capture.

        Args:
            nodes: The nodes of a function.
            usage: What the function is made for.
            computed: What is computed of it.
            iteration: What is there the iteration of the loop around; None where nothing is.
            at_once: The names of nodes that must not wait.
        """
        used: list[FunctionCopy] = []
        captures: dict[str, Any] = {}
        for node in (node for node in nodes if node.name in computed.nodes):
            is_counted = iteration is not None and hands_on_inputs(node) and "body" not in node.attr
            inside = usage._replace(
                stateless=usage.stateless or _is_dataset(node.op),
                in_loop=usage.in_loop or "body" in node.attr,
                counted=is_counted,
                # What changes something would not run where an op before the node stops the call.
                ordered=usage.orders_inside
                and hands_on_inputs(node)
                and (node.name in at_once or self._calls_such(has_effects, node)),
                outermost=False,
                used=computed.nodes[node.name],
            )
            copies, passed = self._copies_for(node, usage, inside)
            if passed:
                known = {ITERATION: iteration} if iteration else {}
                add_inputs(node, {name: known.get(name, name) for name in passed})
            for function, copy in zip(called_functions(node), copies, strict=True):
                if copy is not None:
                    function.name = copy.name
                    used.append(copy)
                    if IN_THREADS in node.attr:
                        node.attr[IN_THREADS].b = True  # what records it has branches
            captures |= passed
        if iteration != ITERATION:
            captures.pop(ITERATION, None)  # The function has it itself.
        if not usage.ordered:
            captures.pop(AFTER, None)
        return used, captures

    def _tell_unknown(self, names: Iterable[str]) -> None:
        """Say which functions that give numbers are not on record: no graph of them is known."""
        for name in names:
            if name not in self._originals and _gives_numbers(functions.function_def(name)):
                self._leave_out(name, _HAS_NO_GRAPH)


def _with_captures(
    name: str, copy: FunctionCopy | None, captures: dict[str, Any], *, returned: bool
) -> FunctionCopy:
    """Return a copy that takes just these captures, and in a loop's body returns them too."""
    definition = functions.function_def(copy.name if copy else name)
    set_captures(definition, list(captures), returned=returned)
    stand_alone(definition)
    definition.signature.name = own.copy_name(name)
    children = [copy] if copy else []
    function = functions.make_function(definition, [child.function for child in children])
    return FunctionCopy(function, captures, kept=children)


def _is_dataset(op_type: str) -> bool:
    return "Dataset" in op_type


def _gives_numbers(definition: Any) -> bool:
    """Whether an output of a function is a floating tensor."""
    types = [tf.as_dtype(output.type) for output in definition.signature.output_arg]
    return any(dtype.is_floating or dtype.is_complex for dtype in types)


def _computes_numbers(node: Any) -> bool:
    """Whether a node computes floating tensors."""
    if _is_dataset(node.op) or node.op == "Const":
        return False
    types = [tf.as_dtype(value.type) for value in node.attr.values() if value.type]
    return any(dtype.is_floating or dtype.is_complex for dtype in types)
