"""The functions that run in place of the program's: the same ops, and those that record.

The program's graphs and functions are left as they are, so that what the program exports,
differentiates, vectorises or counts is its own.  When a function is called for the first time, its
copy is made of its FunctionDef, and calls the copies of the functions that the function calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump import locks
from tfdbg_tui.dump.interrupts import is_interrupt
from tfdbg_tui.dump.observe.places import AddedGraph, Usage
from tfdbg_tui.dump.observe.program_functions import FunctionCopy
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
    is_chosen_later,
    is_single_threaded,
    let_begin_at_once,
    set_captures,
    stand_alone,
)
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.dump.observe.program_functions import ProgramFunction, ProgramFunctions
    from tfdbg_tui.dump.tensorflow.function_defs import Computed

_IS_CHOSEN_LATER = "TensorFlow chooses by device which implementation of it runs"
_HAS_NO_GRAPH = "no graph of it in Python is known"
_CALLS_CHOSEN = "TensorFlow chooses by device which implementation of a function runs that it calls"
CANNOT_TAKE_VALUES = "XLA compiles it, and its caller cannot take its values"
"""Why a function that XLA compiles may have to run as it is."""


class FunctionCopies:
    """Makes the copies of one dump.

    Args:
        program: The functions of the program.
        observe: Adds the ops that record a graph, as far as a function uses it.
        skip: Says that a function is not recorded, because of an error.
        leave_out: Says that a function, given by its name, runs as it is, and why.
        only_results: Says the same of one that gives numbers and changes nothing else.
    """

    def __init__(
        self,
        program: ProgramFunctions,
        observe: Callable[[Any, FunctionBody, AddedGraph], None],
        skip: Callable[[Any, BaseException], None],
        leave_out: Callable[[str, str], None],
        only_results: Callable[[str, str], None],
    ) -> None:
        self._program = program
        self._observe = observe
        self._skip = skip
        self._leave_out = leave_out
        self._only_results = only_results
        self._lock = locks.new()

    def of(self, name: str, usage: Usage) -> FunctionCopy | None:
        """Return the copy of a function of the program, or None where it runs as it is."""
        original = self._program.get(name)
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
            for _, original in self._program.all():
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
        kept.calls_chosen = kept.calls_chosen or any(map(self._program.calls_chosen, made_here))
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
            original = self._program.get(name)
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

    def _make(self, original: ProgramFunction, name: str, usage: Usage) -> FunctionCopy | None:
        definition = functions.function_def(name)
        if not usage.outermost and is_chosen_later(definition):
            copy = self._make_alternatives(original, name, usage) if not usage.in_session else None
            if copy is None:
                self._leave_out(name, _IS_CHOSEN_LATER)
            return copy
        if usage.in_session and not usage.stateless and self._program.calls_chosen(name):
            self._leave_out(name, _CALLS_CHOSEN)
            return None
        return self._make_one(original, name, usage)

    def _make_alternatives(
        self, original: ProgramFunction, name: str, usage: Usage
    ) -> FunctionCopy | None:
        """Return a copy of a function in whose place TensorFlow may run another one.

        It chooses among the copies as it does among the functions, and by the same device.  None
        where it would not, as they do not take the same.

        Args:
            original: The function.
            name: Its name.
            usage: What the copy is made for.
        """
        what = original.implements(name)
        if what is None:
            return None
        usage, among = usage._replace(counted=False, ordered=False), own.copy_name(what)
        same = [(n, other) for n, other in self._program.all() if other.implements(n) == what]
        copies = {n: self._make_one(other, n, usage, among) for n, other in same}
        alternatives = [copy for copy in copies.values() if copy and copy.takes_the_same]
        chosen = copies[name]
        if chosen is None or len(alternatives) < len(copies):
            return None
        return replace(chosen, kept=(*chosen.kept, *alternatives))

    def _make_one(
        self, original: ProgramFunction, name: str, usage: Usage, among: str | None = None
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
        computed = self._program.computed(name, usage.used)
        body = self._body_of(original, definition, computed, usage)
        takes_elements = self._program.holds_anywhere(without_data.takes_elements, name)
        inside = usage._replace(after_data=usage.after_data or takes_elements)
        at_once: frozenset[str] = frozenset()
        if inside.after_data and usage.orders_inside:
            at_once = without_data.done_without_data(
                definition, self._program.calls_such, given=usage.after_data
            )
        children, captures = self._use_in_nodes(
            definition.node_def, inside, computed, _iteration_in(body, graph, usage), at_once
        )
        added = AddedGraph(body, usage, at_once)
        self._observe(graph, body, added)
        if added.ops is None and not children:
            return None
        if added.ops is not None:
            body.add(added.ops)
            captures |= added.captures
        called = [child.function for child in children] + added.children
        kept = (*children, *added.kept)
        _finish(definition, usage, among, captures)
        if added.numbered:
            add_number_of_call(definition)
        function = functions.make_function(definition, called)
        copy = FunctionCopy(function, captures, added.numbered, kept)
        if usage.stateless:
            graph_state.state_of(graph).copies.append(copy)
        return copy

    def _body_of(
        self, original: ProgramFunction, definition: Any, computed: Computed, usage: Usage
    ) -> FunctionBody:
        """Return the FunctionDef of a copy, as the ops that record are added to it.

        Args:
            original: The function that it is a copy of.
            definition: The FunctionDef.
            computed: What is computed of it.
            usage: What the copy is made for.
        """
        inputs, uses = set(original.arguments), None
        if usage.in_session:
            graph = original.graph
            is_body = functions.is_loop_graph(graph) and not functions.is_loop_condition(graph)
            uses = pruning.uses(definition, self._program.computed, is_loop_body=is_body)
        others = (op for op in original.ops if op.name not in inputs)
        return FunctionBody(definition, original.arguments, others, computed, uses)

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
                and (node.name in at_once or self._program.calls_such(has_effects, node)),
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
            if self._program.get(name) is None and _gives_numbers(functions.function_def(name)):
                changes = self._program.holds_anywhere(has_effects, name)
                (self._leave_out if changes else self._only_results)(name, _HAS_NO_GRAPH)


def _iteration_in(body: FunctionBody, graph: Any, usage: Usage) -> str | None:
    """Return what is in a function the iteration of the loop around it; None where nothing is."""
    counter = functions.loop_counter(graph)
    if counter is None:
        return ITERATION if usage.counted else None
    return body.reference(counter) if counter.dtype == tf.int32 else None


def _finish(definition: Any, usage: Usage, among: str | None, captures: Iterable[str]) -> None:
    """Give the FunctionDef of a copy its name, and the inputs that it takes after the arguments.

    Args:
        definition: The FunctionDef.
        usage: What the copy is made for.
        among: What other copies also implement; None for a copy that always runs.
        captures: The names of these inputs.
    """
    if not usage.ordered:
        let_begin_at_once(definition)
    definition.signature.name = own.copy_name(definition.signature.name)
    if among is None:
        stand_alone(definition)
    else:
        implement(definition, among)
    set_captures(definition, list(captures), returned=False)


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
