"""The functions of TensorFlow's runtime, and the graphs that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue, NameAttrList
from tensorflow.core.framework.function_pb2 import FunctionDef
from tensorflow.core.function.polymorphism.function_type import FunctionType
from tensorflow.python.eager.context import Context, context
from tensorflow.python.eager.polymorphic_function.atomic_function import (
    AtomicFunction,
    from_func_graph,
    from_function_def,
)
from tensorflow.python.eager.polymorphic_function.attributes import (
    FORWARD_FUNCTION,
    NO_INLINE,
    XLA_COMPILE,
)
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.function import _DefinedFunction
from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext
from tensorflow.python.ops.control_flow_util_v2 import (
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
    unique_fn_name,
)

from tfdbg_tui.dump.tensorflow import devices, graph_ops, op_types, own
from tfdbg_tui.dump.tensorflow.function_defs import IN_THREADS, function_attributes, output_names
from tfdbg_tui.dump.tensorflow.private import attribute, declare

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_PREFIXES = ("__inference_", "__forward_", "__backward_")

_get_function_def = attribute(Context, "get_function_def")
_name = attribute(AtomicFunction, "name")
_definition = attribute(AtomicFunction, "definition")
_children = attribute(AtomicFunction, "children")
_CHILDREN = declare(AtomicFunction, "_children").name
_get_function = attribute(tf.Graph, "_get_function")
_add_function_recursive = attribute(tf.Graph, "_add_function_recursive")
_python_function = attribute(_DefinedFunction(None, [], (), None), "_func")
_KEPT = "_tfdbg_tui"
_ONLY = "op"
"""The name of the node of a function that has no other."""
_NO_TYPE = FunctionType([])
"""Stands for the type of a function that is made for its definition: to find it takes long."""

_set_attr = attribute(tf.Operation, "_set_attr")
_set_func_attr = attribute(tf.Operation, "_set_func_attr")
_set_func_list_attr = attribute(tf.Operation, "_set_func_list_attr")

captured_tensors = attribute(FuncGraph, "external_captures")
"""Returns what a function takes from outside, besides its arguments."""
capture_inputs = attribute(FuncGraph, "internal_captures")
"""Returns the inputs of the function's graph that stand for these."""
deferred_captures = attribute(FuncGraph, "deferred_external_captures")
"""Returns what it takes from outside that is known at each call only."""


def is_function_name(op_type: str | bytes) -> bool:
    """Return whether an eager op type is the name of a traced function.

    TensorFlow's generated Python names ops in bytes, but functions in str.
    """
    return isinstance(op_type, str) and op_type.startswith(_PREFIXES)


def function_name(function: Any) -> str:
    """Return the name of a runtime function."""
    name = _name(function)
    return name.decode() if isinstance(name, bytes) else str(name)


def named_by(op_type: str, attributes: Sequence[Any]) -> list[str]:
    """Return the names of the program's functions that the attributes of an eager op name.

    Args:
        op_type: Type of the op.
        attributes: Name and value of each, as op callbacks are told them.
    """
    wanted = function_attributes(op_type)
    given = dict(zip(attributes[::2], attributes[1::2], strict=False))
    values = (given[name] for name in wanted if name in given)
    named = (one for value in values for one in (value if isinstance(value, list) else [value]))
    found = (getattr(getattr(one, "func", one), "name", one) for one in named)
    return [own.original_name(op_types.text(name)) for name in found]


def keep(function: Any, what: Any) -> None:
    """Keep an object for as long as a runtime function of the program is there.

    Its graph may be there longer: what holds the graph of a Keras model's training never lets go.
    """
    kept = getattr(function, _KEPT, None)
    if kept is None:
        kept = []
        setattr(function, _KEPT, kept)
    kept.append(what)


def forward_function_name(attrs: Any) -> str | None:
    """Return the name of the forward function that a backward function's attributes give."""
    value = (attrs or {}).get(FORWARD_FUNCTION)
    if value is None:
        return None
    name = getattr(value, "s", value)
    return name.decode() if isinstance(name, bytes) else str(name)


def is_compiled(graph: Any, attributes_of_function: Any) -> bool:
    """Return whether XLA compiles a function by itself, whoever calls it."""
    value = attributes_of_function.get(XLA_COMPILE)
    return bool(value is not None and value.b) or bool(GraphOrParentsInXlaContext(graph))


def is_loop_graph(graph: Any) -> bool:
    """Return whether a graph is the condition or body of a While loop."""
    return isinstance(graph, (WhileCondFuncGraph, WhileBodyFuncGraph))


def is_loop_condition(graph: Any) -> bool:
    """Return whether a graph is the condition of a While loop."""
    return isinstance(graph, WhileCondFuncGraph)


def loop_counter(graph: Any) -> Any:
    """Return the iteration counter of a loop's graph: its first argument; None of other graphs."""
    if is_loop_graph(graph) and graph.inputs:
        first = graph.inputs[0]
        if first.dtype.is_integer and first.shape.rank == 0:
            return first
    return None


def is_loop(op: Any) -> bool:
    """Return whether an op is a While loop."""
    return op.type in ("While", "StatelessWhile")


def new_name(what: str) -> str:
    """Return a new name for a function of ours."""
    return str(unique_fn_name(own.NAME, what))


def definition_of(graph: Any) -> tuple[Any, list[Any]]:
    """Return the FunctionDef of a graph of ours, and the runtime functions that it calls."""
    function = from_func_graph(new_name("added"), graph, {}, _NO_TYPE)
    return _definition(function), _children(function)


def function_def(name: str) -> Any:
    """Return a copy of the FunctionDef of a runtime function."""
    return _get_function_def(context())(name)


def make_function(definition: Any, children: Iterable[Any]) -> Any:
    """Return a new runtime function, which is there as long as this object.

    Args:
        definition: Its FunctionDef.
        children: The runtime functions that it calls, themselves made here or of graphs.
    """
    function = from_function_def(definition, None)
    called = {_name(child): child for made in children for child in (made, *_children(made))}
    setattr(function, _CHILDREN, list(called.values()))
    return function


def graph_that_takes(tensors: Sequence[Any]) -> Any:
    """Return a graph of ours that takes what stands for some tensors, and returns nothing yet."""
    graph = own.new_graph()
    graph.inputs = [
        graph_ops.new_input(graph, f"input_{place}", tensor.dtype, tensor.shape, tensor.device)
        for place, tensor in enumerate(tensors)
    ]
    return graph


def call(ops: OpMaker, graph: Any, arguments: Sequence[Any]) -> Any:
    """Return the outputs of a graph of ours, which is called in another one.

    TensorFlow goes through all ops of a branch that is not taken, but not through those of a call.

    Args:
        ops: Makes the op that calls it.
        graph: The graph.
        arguments: Its arguments.
    """
    made = from_func_graph(new_name("called"), graph, {NO_INLINE: AttrValue(b=True)}, _NO_TYPE)
    definition = _definition(made)
    definition.signature.name = new_name("called")
    # Of a function that says it has a state, TensorFlow saves no dataset.
    definition.signature.is_stateful = False
    function = make_function(definition, _children(made))
    name = function_name(function)
    add_to_graph(ops.graph, function)
    if not devices.has_accelerator():
        # All of it runs on the device of the call, which saves finding out what runs where.
        return ops.op(name, *arguments).outputs
    types = [output.dtype for output in graph.outputs]
    called = NameAttrList(name=name)
    return ops.op("StatefulPartitionedCall", list(arguments), Tout=types, f=called).outputs


def hide_state(graph: Any, definition: Any, children: Iterable[Any]) -> list[Any]:
    """Move the ops of a graph of ours that have a state into functions that say they have none.

    TensorFlow saves no dataset with a function that holds such ops, but does not look into those
    that it calls by their names.

    Args:
        graph: The graph.
        definition: The FunctionDef of it, which is changed.
        children: The runtime functions that it calls.

    Returns:
        The runtime functions that it calls now.
    """
    called = list(children)
    outputs: dict[str, str] = {}
    for node in definition.node_def:
        op = graph.get_operation_by_name(node.name)
        if graph_ops.is_stateful(op):
            hidden = _function_of_op(op, node)
            called.append(make_function(hidden, children))
            given = zip(output_names(node), hidden.signature.output_arg, strict=True)
            outputs |= {f"{node.name}:{name}": f"{node.name}:{a.name}:0" for name, a in given}
            node.op = hidden.signature.name
            node.attr.clear()
    for node in definition.node_def:
        node.input[:] = [outputs.get(reference, reference) for reference in node.input]
    for name, reference in definition.ret.items():
        definition.ret[name] = outputs.get(reference, reference)
    return called


def _function_of_op(op: Any, node: Any) -> Any:
    """Return the FunctionDef of a function that runs a node and says that it has no state."""
    made = FunctionDef()
    made.signature.name = new_name("called")
    made.attr[NO_INLINE].b = True
    inner = made.node_def.add(name=_ONLY, op=node.op, attr=node.attr, device=node.device)
    for number, tensor in enumerate(op.inputs):
        dtype = tensor.dtype.base_dtype.as_datatype_enum
        made.signature.input_arg.add(name=f"input_{number}", type=dtype)
        inner.input.append(f"input_{number}")
    for name, tensor in zip(output_names(node), op.outputs, strict=True):
        argument = name.replace(":", "_")
        made.signature.output_arg.add(name=argument, type=tensor.dtype.as_datatype_enum)
        made.ret[argument] = f"{_ONLY}:{name}"
    made.signature.control_output.append(_ONLY)
    made.control_ret[_ONLY] = _ONLY
    return made


def call_in_v1_graph(
    graph: Any, called: Any, arguments: Sequence[Any] = (), after: Sequence[Any] = ()
) -> Any:
    """Return a new op of a v1 graph that calls a graph of ours; it may be in a loop.

    Args:
        graph: The v1 graph.
        called: The graph of ours.
        arguments: What it is called with, from where in the loop it is called.
        after: Ops that it waits for, from there too.
    """
    name = new_name("called")
    add_to_graph(graph, from_func_graph(name, called, {}))
    return graph_ops.new_node(
        graph,
        "StatefulPartitionedCall",
        arguments,
        after,
        Tin=[tensor.dtype.base_dtype for tensor in arguments],
        Tout=[tensor.dtype for tensor in called.outputs],
        f=AttrValue(func=NameAttrList(name=name)),
    )


def call_instead(op: Any, attribute_name: str, names: list[str]) -> None:
    """Let an op of a v1 graph, which no session has run, call other functions.

    Args:
        op: The op.
        attribute_name: Its attribute that names functions.
        names: The functions; one, where the attribute is no list.
    """
    if isinstance(op.get_attr(attribute_name), list):
        _set_func_list_attr(op)(attribute_name, names)
    else:
        _set_func_attr(op)(attribute_name, names[0])
    if IN_THREADS in op.node_def.attr:  # what records it has branches
        _set_attr(op)(IN_THREADS, AttrValue(b=True))


def add_to_graph(graph: Any, function: Any) -> None:
    """Add a runtime function to a v1 graph."""
    _add_function_recursive(graph)(function)


def function_graph(graph: Any, name: str) -> Any:
    """Return the FuncGraph that a function of a v1 graph was made of; None for an imported one."""
    return getattr(_get_function(graph)(name), "graph", None)


def old_definition(graph: Any, name: str) -> Any:
    """Return a copy of the FunctionDef of a function of a v1 graph that Python made the old way.

    That is what `make_one_shot_iterator` does.  None for one that came with an imported graph.
    """
    function = _get_function(graph)(name)
    if not isinstance(function, _DefinedFunction) or _python_function(function) is None:
        return None
    definition = type(function.definition)()
    definition.CopyFrom(function.definition)
    return definition
