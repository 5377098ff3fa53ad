"""Queues, flags and sets that all graphs know by their names, used without anybody's op callbacks.

A flag is a variable of which graphs ask only whether somebody has assigned it: they never read it,
as that would end the program where nobody has, for example in a process that was forked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.context import Context, context
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.pywrap_tfe import TFE_Py_Execute

from tfdbg_tui.dump.tensorflow.private import attribute

_handle = attribute(Context, "_handle")

_queues: dict[str, tuple[Any, Any]] = {}


def queue(name: str, dtype: Any, width: int, capacity: int) -> Any:
    """Return the handle of a queue of vectors.

    Args:
        name: Its name.
        dtype: Type of the elements.
        width: Length of the vectors.
        capacity: How many it holds.
    """
    handle = _handle(context())
    known, found = _queues.get(name, (None, None))
    if known is not handle:
        types = ("component_types", [dtype.as_datatype_enum], "shapes", [[width]])
        (found,) = _run_op("FIFOQueueV2", [], (*types, "capacity", capacity, "shared_name", name))
        _queues[name] = handle, found
    return found


def enqueue(handle: Any, vector: Any, dtype: Any) -> None:
    """Put a vector into a queue; wait while it is full.

    Args:
        handle: The queue.
        vector: The elements of the vector.
        dtype: Their type.
    """
    number = dtype.as_datatype_enum
    element = EagerTensor(vector, "/device:CPU:0", number)
    _run_op("QueueEnqueueV2", [handle, element], ("Tcomponents", [number]), outputs=0)


def dequeue_all(handle: Any, dtype: Any) -> Any:
    """Take all that is in a queue, as an array; None if there is nothing."""
    (size,) = _run_op("QueueSizeV2", [handle], ())
    if not size.numpy():
        return None
    types = ("component_types", [dtype.as_datatype_enum])
    (vectors,) = _run_op("QueueDequeueManyV2", [handle, size], types)
    return vectors.numpy()


def flag_in_graph(name: str) -> Any:
    """Return a tensor in the current graph that tells whether a flag is set."""
    with tf.device("/device:CPU:0"):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.bool, shape=[], shared_name=name)
        return tf.raw_ops.VarIsInitializedOp(resource=handle)


def set_flag(name: str, value: bool) -> None:
    """Set a flag, or take it back."""
    number = tf.bool.as_datatype_enum
    (handle,) = _run_op("VarHandleOp", [], ("dtype", number, "shape", [], "shared_name", name))
    if value:
        element = EagerTensor(np.array(True), "/device:CPU:0", number)
        _run_op("AssignVariableOp", [handle, element], ("dtype", number), outputs=0)
    else:
        _run_op("DestroyResourceOp", [handle], ("ignore_lookup_error", True), outputs=0)


def is_in_set(name: str, number: Any) -> Any:
    """Return a tensor in the current graph that tells whether an int64 tensor is in a set."""
    with tf.device("/device:CPU:0"):
        table = tf.raw_ops.MutableHashTableV2(
            key_dtype=tf.int64, value_dtype=tf.int64, shared_name=name
        )
        zero = tf.constant(0, tf.int64)
        found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=number, default_value=zero)
        return tf.raw_ops.Cast(x=found, DstT=tf.bool)


def add_to_set(name: str, number: int) -> None:
    """Put a number into a set."""
    int64 = tf.int64.as_datatype_enum
    types = ("key_dtype", int64, "value_dtype", int64, "shared_name", name)
    (table,) = _run_op("MutableHashTableV2", [], types)
    key, one = (EagerTensor(np.int64(n), "/device:CPU:0", int64) for n in (number, 1))
    _run_op("LookupTableInsertV2", [table, key, one], ("Tin", int64, "Tout", int64), outputs=0)


def _run_op(op_type: str, inputs: list[Any], attrs: tuple[Any, ...], outputs: int = 1) -> Any:
    """Run an eager op that no op callback sees; return its outputs."""
    return TFE_Py_Execute(_handle(context()), "/device:CPU:0", op_type, inputs, attrs, outputs)
