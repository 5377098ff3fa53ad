"""FunctionDefs, which TensorFlow's runtime runs: reading them, and adding nodes to them.

In a FunctionDef a tensor is named ``argument`` or ``node:output:index``, a control input ``^node``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework.auto_control_deps_utils import RESOURCE_READ_OPS
from tensorflow.python.framework.op_def_registry import get as op_def_of

from tfdbg_tui.dump.tensorflow import devices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


_RESOURCE: int = tf.resource.as_datatype_enum
_INT32: int = tf.int32.as_datatype_enum

CAPTURE = "tfdbg_tui_capture_"
"""What the names of our arguments begin with."""

ITERATION = f"{CAPTURE}iteration"
"""The name of an argument for the int32 iteration of the loop around."""

AFTER = f"{CAPTURE}after"
"""The name of an argument for an int32 number that is there once the first sink may run; all others
are resources."""

CALL = "tfdbg_tui_call"
"""The name of an argument for the number of the call."""


@functools.cache
def function_attributes(op_type: str) -> tuple[str, ...]:
    """Return the attributes of an op type that name functions."""
    op_def = op_def_of(op_type)
    attributes = op_def.attr if op_def is not None else ()
    return tuple(a.name for a in attributes if a.type in ("func", "list(func)"))


def called_functions(node: Any) -> Iterator[Any]:
    """Yield the NameAttrList of each function that a node calls; its name may be set."""
    for name in function_attributes(node.op):
        if name in node.attr:
            value = node.attr[name]
            yield from value.list.func if value.HasField("list") else [value.func]


_ONLY_CHECKS = frozenset(("Assert", "CheckNumerics", "CheckNumericsV2"))
"""Ops that have a state for TensorFlow so that it does not prune them."""


def has_effects(definition: Any) -> bool:
    """Return whether a node of a function leaves something changed; what it calls is not asked."""
    return any(map(has_effect, definition.node_def))


def has_effect(node: Any) -> bool:
    """Return whether a node leaves something changed; what it calls is not asked."""
    op_def = op_def_of(node.op)
    if op_def is None or function_attributes(node.op):
        return False
    if any(argument.is_ref for argument in op_def.input_arg):
        return True
    return bool(op_def.is_stateful) and node.op not in (RESOURCE_READ_OPS | _ONLY_CHECKS)


SINGLE_THREADED = "SINGLE_THREADED_EXECUTOR"
"""The executor of `tf.experimental.function_executor_type` that knows no v1 control flow."""


IN_THREADS = "use_inter_op_parallelism"
"""Attribute of a dataset's op: where it is false, its function runs on that executor, too."""


_IMPLEMENTS = "api_implements"
"""Attribute of a function with the name that it shares with others that may run in its place."""

_PAIRED = "forward_function_name", "backward_function_name"
"""Attributes of a function that computes a gradient, or keeps values for one, with its other."""


def is_chosen_later(definition: Any) -> bool:
    """Return whether a graph that calls a function may come to run another one in its place.

    TensorFlow replaces it by what implements the same for the device; a copy would stay.  On the
    CPU alone one for the CPU stays, too.
    """
    attributes = definition.attr
    if _IMPLEMENTS not in attributes:
        return False
    device = attributes["api_preferred_device"].s if "api_preferred_device" in attributes else b""
    return device != b"CPU" or devices.has_accelerator()


def implements(definition: Any) -> str | None:
    """Return what TensorFlow may choose a function for by itself, as it may others; None if not.

    One that keeps values for its gradient is chosen together with the function of that.
    """
    attributes = definition.attr
    if _IMPLEMENTS not in attributes or any(name in attributes for name in _PAIRED):
        return None
    return str(attributes[_IMPLEMENTS].s.decode())


def stand_alone(definition: Any) -> None:
    """Let a function implement nothing that others do.

    Those that do have to take the same arguments, or TensorFlow chooses none of them, and no others
    of the graph either.
    """
    definition.attr.pop(_IMPLEMENTS, None)


def implement(definition: Any, what: str) -> None:
    """Let TensorFlow choose among all functions that implement the same."""
    definition.attr[_IMPLEMENTS].s = what.encode()


def is_single_threaded(node: Any) -> bool:
    """Return whether a node calls its function on the executor that knows no v1 control flow."""
    return "executor_type" in node.attr and node.attr["executor_type"].s.decode() == SINGLE_THREADED


_INPUT_TYPES = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), "Tin"),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase"), "Tin"),
    **dict.fromkeys(("While", "StatelessWhile"), "T"),
}
"""The attribute with the types of what an op hands to the functions that it calls."""


def hands_on_inputs(node: Any) -> bool:
    """Return whether a node hands its inputs to functions, and returns what these return."""
    return node.op in _INPUT_TYPES


def add_inputs(node: Any, captures: Mapping[str, str]) -> None:
    """Let a node hand more to the functions that it calls; a loop also returns it.

    Args:
        node: The node.
        captures: What stands for each capture where the node is.
    """
    waits = [name for name in node.input if name.startswith("^")]
    tensors = [name for name in node.input if not name.startswith("^")]
    node.input[:] = [*tensors, *captures.values(), *waits]
    types = node.attr[_INPUT_TYPES[node.op]].list.type
    types.extend(map(_type_of, captures))
    if node.op.endswith("While") and node.attr["output_shapes"].list.shape:
        for _ in captures:
            node.attr["output_shapes"].list.shape.add()


def set_captures(definition: Any, names: Sequence[str], *, returned: bool) -> None:
    """Let a function take just these captures of ours after its arguments.

    Args:
        definition: The FunctionDef.
        names: The names of the captures.
        returned: Whether the function returns them after its outputs.
    """
    signature = definition.signature
    arguments = [a for a in signature.input_arg if not a.name.startswith(CAPTURE)]
    del signature.input_arg[:]
    signature.input_arg.extend(arguments)
    for name in names:
        signature.input_arg.add(name=name, type=_type_of(name))
        if returned:
            signature.output_arg.add(name=f"{name}_out", type=_type_of(name))
            definition.ret[f"{name}_out"] = name


def _type_of(capture: str) -> int:
    return _INT32 if capture in (ITERATION, AFTER) else _RESOURCE


def let_begin_at_once(definition: Any) -> None:
    """Give the nodes of a function that take `AFTER` a number of its own."""
    nodes = [node for node in definition.node_def if AFTER in node.input]
    if not nodes:
        return
    number = definition.node_def.add(name=AFTER, op="Const")
    number.attr["dtype"].type = _INT32
    number.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(0, tf.int32))
    for node in nodes:
        _give(node, f"{AFTER}:output:0")


def _give(node: Any, reference: str) -> None:
    """Let a node take a tensor as `AFTER`."""
    node.input[:] = [reference if name == AFTER else name for name in node.input]


def add_number_of_call(definition: Any) -> None:
    """Let a function take the number of the call after all its arguments."""
    definition.signature.input_arg.add(name=CALL, type=_INT32)


@dataclass(frozen=True, slots=True)
class AddedOps:
    """Ops to be added to a function.

    Attributes:
        definition: A FunctionDef of them.
        references: The names in the function of the tensors that its arguments stand for.
        required: Names of the ops that have to run when the function does, its own or added ones.
        waits: Pairs of an op of the function and the names of ops that it has to wait for.
        given: Pairs of an op of the function and the name of one whose output it takes as `AFTER`.
    """

    definition: Any
    references: Sequence[str]
    required: Sequence[str]
    waits: Sequence[tuple[str, Sequence[str]]]
    given: Sequence[tuple[str, str]]


Slots = frozenset[int] | None
"""The numbers of some outputs; None for all."""


Uses = frozenset[int]
"""The numbers of the outputs that something is computed for, and `EFFECTS`."""

EFFECTS = -1
"""Stands among the numbers of outputs for the side effects of a function."""


@dataclass(frozen=True, slots=True)
class Computed:
    """What TensorFlow computes of a function; see `pruning`.

    Attributes:
        arguments: The numbers of the arguments that are used.
        nodes: The outputs that are computed of each node that runs, by its name.
    """

    arguments: frozenset[int]
    nodes: dict[str, Slots]


class FunctionBody:
    """A FunctionDef, and where the ops of the graph that it was made of are in it.

    Args:
        definition: The FunctionDef; `add` changes it.
        arguments: The names of the placeholders in the graph, in the order of arguments.
        ops: The other ops of the graph when it became the function, in order of creation.
        computed: What TensorFlow computes of the function.
        uses: For which outputs each node and argument is computed, where that matters.
    """

    def __init__(
        self,
        definition: Any,
        arguments: Sequence[str],
        ops: Iterable[Any],
        computed: Computed,
        uses: dict[str, Uses] | None,
    ) -> None:
        self.definition = definition
        self._uses = uses or {}
        signature = definition.signature
        self._arguments: dict[str, str] = dict(
            zip(arguments, (a.name for a in signature.input_arg), strict=True)
        )
        self._nodes = _nodes_of(ops, definition)
        self._outputs: dict[str, list[str]] = {}  # a node may have thousands, each asked for
        self._computed = computed.nodes
        self._used_arguments = {arguments[number] for number in computed.arguments}

    def runs(self, op: Any) -> bool:
        """Return whether an op of the graph runs when the function does, or is a used argument."""
        node = self._nodes.get(op.name)
        is_computed = node is not None and node.name in self._computed
        return is_computed or op.name in self._used_arguments

    def calls(self, op: Any) -> list[str]:
        """Return the names of the functions that an op of the graph calls in this function."""
        node = self._nodes.get(op.name)
        return [] if node is None else [function.name for function in called_functions(node)]

    def takes_after(self, op_name: str) -> bool:
        """Return whether an op of the graph, given by its name, takes `AFTER`."""
        return AFTER in self._nodes[op_name].input

    def uses_of(self, op: Any) -> Uses:
        """Return for which outputs of the function an op of the graph is computed."""
        name = self._arguments.get(op.name) or self.node_name(op.name)
        return self._uses.get(name, frozenset())

    def reference(self, tensor: Any) -> str | None:
        """Return the name of a tensor of the graph; None where the function does not compute it."""
        op_name, slot = tensor.op.name, tensor.value_index
        if op_name in self._arguments:
            return self._arguments[op_name]
        node = self._nodes.get(op_name)
        slots = self._computed.get(node.name, ()) if node is not None else ()
        if node is None or (slots is not None and slot not in slots):
            return None
        outputs = self._outputs.get(op_name)
        if outputs is None:
            outputs = self._outputs[op_name] = output_names(node)
        return f"{node.name}:{outputs[slot]}" if slot < len(outputs) else None

    def outputs(self) -> list[tuple[str, int]]:
        """Return the names and the DataType numbers of the outputs."""
        outputs = self.definition.signature.output_arg
        return [(self.definition.ret[output.name], output.type) for output in outputs]

    def add(self, ops: AddedOps) -> None:
        """Add ops, in place of whose arguments the function has tensors of its own."""
        definition, added = self.definition, ops.definition
        stand_ins = (argument.name for argument in added.signature.input_arg)
        own = dict(zip(stand_ins, ops.references, strict=True))
        for op_name, awaited in ops.waits:
            names = map(self.node_name, awaited)
            self._nodes[op_name].input.extend(_replaced(f"^{name}", own) for name in names)
        for op_name, number in ops.given:
            _give(self._nodes[op_name], f"{number}:output:0")
        for node in added.node_def:
            node.input[:] = [_replaced(ref, own) for ref in node.input]
        definition.node_def.extend(added.node_def)
        if added.ret:
            outputs = zip(definition.signature.output_arg, added.signature.output_arg, strict=True)
            for output, waiting in outputs:
                definition.ret[output.name] = _replaced(added.ret[waiting.name], own)
        for name in dict.fromkeys(map(self.node_name, ops.required)):
            if name not in definition.control_ret.values():
                definition.signature.control_output.append(name)
                definition.control_ret[name] = name

    def node_name(self, op_name: str) -> str:
        """Return the name of the node of an op of the graph, or that of an added op."""
        node = self._nodes.get(op_name)
        return str(node.name) if node is not None else op_name


def _nodes_of(ops: Iterable[Any], definition: Any) -> dict[str, Any]:
    """Return the node of each op by its name.

    Nodes are in the order of the ops, unless TensorFlow has sorted them, as of a function that was
    frozen; they have the names of the ops, unless one is that of an argument.
    """
    names, nodes = [op.name for op in ops], list(definition.node_def)
    by_name = {node.name: node for node in nodes}
    if len(names) == len(nodes) and by_name.keys() == set(names):
        return {name: by_name[name] for name in names}
    return dict(zip(names, nodes, strict=True))


def _replaced(reference: str, own: dict[str, str]) -> str:
    if reference.startswith("^"):
        name = own.get(reference[1:])
        return "^" + name.partition(":")[0] if name is not None else reference
    return own.get(reference, reference)


def output_names(node: Any) -> list[str]:
    """Return ``output:index`` of each output of a node; none of one whose op is not known."""
    op_def = op_def_of(node.op)
    if op_def is None:
        return []
    return [
        f"{output.name}:{index}"
        for output in op_def.output_arg
        for index in range(_length(output, node))
    ]


def _length(output: Any, node: Any) -> int:
    if output.number_attr:
        return int(node.attr[output.number_attr].i)
    if output.type_list_attr:
        return len(node.attr[output.type_list_attr].list.type)
    return 1
