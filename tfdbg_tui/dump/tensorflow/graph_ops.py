"""Ops of graphs: how they are made, and what TensorFlow says of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue, NameAttrList
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.python.debug.lib.op_callbacks_common import OP_CALLBACK_SKIP_OPS
from tensorflow.python.framework.ops import _create_c_op
from tensorflow.python.ops.resource_variable_ops import ResourceVariable as ResourceVariable

from tfdbg_tui.dump.tensorflow import objects, own
from tfdbg_tui.dump.tensorflow.private import attribute, method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_from_c_op = attribute(tf.Operation, "_from_c_op")
_unsafe_unfinalize = method(tf.Graph, "_unsafe_unfinalize")
_add_control_inputs = attribute(tf.Operation, "_add_control_inputs")
_update_input = attribute(tf.Operation, "_update_input")
_is_ref_dtype = attribute(tf.DType, "_is_ref_dtype")

is_stateful = attribute(tf.Operation, "_is_stateful")
"""Returns whether an op has a state or a side effect."""

SKIPPED_BY_TENSORFLOW = frozenset(name.decode() for name in OP_CALLBACK_SKIP_OPS)
"""The op types that TensorFlow's own instrumentation does not record as events."""


MAKES_OP = _create_c_op.__name__
"""The function that extracts the stack of a new op, whose `_init` comes next."""


def trainable_variables(graph: Any) -> list[str]:
    """Return the names of the ops of the variables that optimizers of TensorFlow 1 train."""
    collected = graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
    ops = (objects.library_property(variable, "op") for variable in collected)
    return [op.name for op in ops if op is not None]


def new_input(graph: Any, name: str, dtype: Any, shape: Any, device: str) -> Any:
    """Return a new placeholder in a graph of ours.

    A training step has thousands, which take a third of the time that `tf.placeholder` does.

    Args:
        graph: The graph.
        name: Name of the op, after what tells that it is ours.
        dtype: Type of its elements.
        shape: Its static shape.
        device: Name of its device, "" for any.
    """
    node = NodeDef(op="Placeholder", name=f"{own.NAME}_{name}", device=device)
    node.attr["dtype"].type = tf.as_dtype(dtype).base_dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
    return add_node(graph, node, []).outputs[0]


def new_node(
    graph: Any, op_type: str, inputs: Sequence[Any], after: Sequence[Any] = (), **attrs: Any
) -> Any:
    """Return a new op of ours in a v1 graph, just where its inputs are: in their loop.

    Args:
        graph: The graph.
        op_type: The op's type.
        inputs: What it takes.
        after: Ops that it waits for.
        **attrs: Its attributes: types, numbers, strings in bytes, or as TensorFlow stores them.
    """
    node = NodeDef(op=op_type, name=own.new_op_name())
    for key, value in attrs.items():
        node.attr[key].CopyFrom(attribute_value(value))
    return add_node(graph, node, inputs, after)


def new_number(graph: Any, value: int, after: Sequence[Any]) -> Any:
    """Return a new int64 number of ours in a v1 graph, which is where the ops are it waits for.

    Args:
        graph: The graph.
        value: The number.
        after: Ops that it waits for.
    """
    tensor = tf.make_tensor_proto(value, tf.int64)
    return new_node(graph, "Const", [], after, dtype=tf.int64, value=tensor).outputs[0]


def attribute_value(value: Any) -> AttrValue:
    """Return the value of an attribute as TensorFlow stores it; a list may be one of types."""
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, list):
        types = [dtype.as_datatype_enum for dtype in value]
        return AttrValue(list=AttrValue.ListValue(type=types))
    if isinstance(value, tf.DType):
        return AttrValue(type=value.as_datatype_enum)
    if isinstance(value, bytes):
        return AttrValue(s=value)
    if isinstance(value, NameAttrList):
        return AttrValue(func=value)
    if isinstance(value, TensorProto):
        return AttrValue(tensor=value)
    return AttrValue(b=value) if isinstance(value, bool) else AttrValue(i=value)


def set_input(op: Any, slot: int, tensor: Any) -> None:
    """Let an op of ours, which no session has run, take a tensor that was made after it.

    Args:
        op: The op.
        slot: Which of its inputs.
        tensor: The tensor.
    """
    _update_input(op)(slot, tensor)


def add_node(graph: Any, node: Any, inputs: Sequence[Any], after: Sequence[Any] = ()) -> Any:
    """Return a new op of a graph.

    Args:
        graph: The graph.
        node: Its NodeDef, without inputs.
        inputs: The tensors that it takes.
        after: The ops that it waits for.
    """
    made = _create_c_op(graph, node, list(inputs), list(after), extract_traceback=False)
    return _from_c_op(tf.Operation)(made, graph)


def copy_of(graph: Any, op: Any, inputs: Sequence[Any], after: Sequence[Any]) -> Any:
    """Return a new op of a graph like another.

    Args:
        graph: The graph, which is the default one.
        op: The op.
        inputs: What the new one takes.
        after: The ops that it waits for.  `tf.control_dependencies` would put a mark on each, and
            TensorFlow warns where an op is changed that a session knows.
    """
    node = op.node_def
    with tf.device(node.device):
        copy = graph.create_op(
            op.type, list(inputs), [], name=own.copy_name(op.name), attrs=dict(node.attr)
        )
    _add_control_inputs(copy)(list(after))
    return copy


def collective_keys(op: Any) -> list[int]:
    """Return the group and the instance key of a collective op; [] where no constants say them.

    All members of a group use the same ones.
    """
    if "Collective" not in op.type:
        return []
    keys = [_constant(op, name) for name in ("group_key", "instance_key")]
    return [] if None in keys else list(map(int, keys))


def _constant(op: Any, name: str) -> Any:
    """Return an attribute of an op, or an input that is a constant; None where there is neither."""
    if any(attribute.name == name for attribute in op.op_def.attr):
        return op.get_attr(name)
    names = [argument.name for argument in op.op_def.input_arg]  # no list comes before the keys
    return constant(op.inputs[names.index(name)]) if name in names else None


def constant(tensor: Any) -> Any:
    """Return the value of a constant of a graph, None of any other tensor.

    After `tf.get_static_value` a session lets nobody feed the tensor.
    """
    return tf.make_ndarray(tensor.op.get_attr("value")) if tensor.op.type == "Const" else None


def has_op(graph: Any, name: str) -> bool:
    """Return whether a graph has an op of a name."""
    try:
        graph.get_operation_by_name(name)
    except KeyError:
        return False
    return True


def is_reference(tensor: Any) -> bool:
    """Return whether a tensor is the memory of a variable, maybe not initialised yet."""
    return bool(_is_ref_dtype(tensor.dtype))


@contextlib.contextmanager
def unfinalized(graph: Any) -> Iterator[None]:
    """Let ops be added to a graph that the program has finalized."""
    was_final = graph.finalized
    if was_final:
        _unsafe_unfinalize(graph)
    try:
        yield
    finally:
        if was_final:
            graph.finalize()
