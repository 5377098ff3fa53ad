"""Ops of graphs: how they are made, and what TensorFlow says of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.python.debug.lib.op_callbacks_common import OP_CALLBACK_SKIP_OPS
from tensorflow.python.framework.op_def_library import _apply_op_helper
from tensorflow.python.framework.ops import _create_c_op
from tensorflow.python.ops.resource_variable_ops import ResourceVariable as ResourceVariable

from tfdbg_tui.dump.tensorflow import own
from tfdbg_tui.dump.tensorflow.private import attribute, method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_from_c_op = attribute(tf.Operation, "_from_c_op")
_unsafe_unfinalize = method(tf.Graph, "_unsafe_unfinalize")
_is_ref_dtype = attribute(tf.DType, "_is_ref_dtype")

is_stateful = attribute(tf.Operation, "_is_stateful")
"""Returns whether an op has a state or a side effect."""

SKIPPED_BY_TENSORFLOW = frozenset(name.decode() for name in OP_CALLBACK_SKIP_OPS)
"""The op types that TensorFlow's own instrumentation does not record as events."""


MAKES_OP = _create_c_op.__name__
"""The function that extracts the stack of a new op, whose `_init` comes next."""


def new_input(graph: Any, name: str, dtype: Any, shape: Any, device: str) -> Any:
    """Return a new placeholder in a graph of ours.

    A training step has thousands, which take a third of the time that `tf.placeholder` does.

    Args:
        graph: The graph.
        name: Name of the op.
        dtype: Type of its elements.
        shape: Its static shape.
        device: Name of its device, "" for any.
    """
    node = NodeDef(op="Placeholder", name=name, device=device)
    node.attr["dtype"].type = tf.as_dtype(dtype).base_dtype.as_datatype_enum
    node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
    made = _create_c_op(graph, node, [], [], extract_traceback=False)
    return _from_c_op(tf.Operation)(made, graph).outputs[0]


def new_op(op_type: str, **arguments: Any) -> Any:
    """Return a new op of the current graph, also where it has no outputs."""
    return _apply_op_helper(op_type, **arguments)[2]


def copy_of(graph: Any, op: Any, inputs: Sequence[Any]) -> Any:
    """Return a new op of a graph like another, which waits for what ops wait for there just now.

    Args:
        graph: The graph, which is the default one.
        op: The op.
        inputs: What the new one takes.
    """
    node = op.node_def
    with tf.device(node.device):
        return graph.create_op(
            op.type, list(inputs), [], name=own.copy_name(op.name), attrs=dict(node.attr)
        )


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
    return tf.get_static_value(op.inputs[names.index(name)]) if name in names else None


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
