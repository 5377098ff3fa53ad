"""Queues and sets that all graphs know by their names, used without anybody's op callbacks.

A set of numbers is a table of TensorFlow's, which comes into being with whoever asks for it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.context import Context, context
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.pywrap_tfe import TFE_Py_Execute

from tfdbg_tui.dump.tensorflow.private import attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

_INT64 = tf.int64.as_datatype_enum
_FLOAT64 = tf.float64.as_datatype_enum

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


def weight_in_set(name: str, number: Any) -> Any:
    """Return a float64 tensor in the current graph: 1 where an int64 tensor is in a set, else 0."""
    with tf.device("/device:CPU:0"):
        table = tf.raw_ops.MutableHashTableV2(
            key_dtype=tf.int64, value_dtype=tf.float64, shared_name=name
        )
        zero = tf.constant(0.0, tf.float64)
        return tf.raw_ops.LookupTableFindV2(table_handle=table, keys=number, default_value=zero)


def add_to_set(name: str, numbers: Sequence[int]) -> None:
    """Put numbers into a set."""
    types = ("Tin", _INT64, "Tout", _FLOAT64)
    ones = EagerTensor(np.ones(len(numbers)), "/device:CPU:0", _FLOAT64)
    _run_op("LookupTableInsertV2", [_set(name), _keys(numbers), ones], types, outputs=0)


def remove_from_set(name: str, numbers: Sequence[int]) -> None:
    """Take numbers out of a set, if they are in it."""
    _run_op("LookupTableRemoveV2", [_set(name), _keys(numbers)], ("Tin", _INT64), outputs=0)


def _set(name: str) -> Any:
    types = ("key_dtype", _INT64, "value_dtype", _FLOAT64, "shared_name", name)
    (table,) = _run_op("MutableHashTableV2", [], types)
    return table


def _keys(numbers: Sequence[int]) -> Any:
    return EagerTensor(np.array(numbers, np.int64), "/device:CPU:0", _INT64)


def _run_op(op_type: str, inputs: list[Any], attrs: tuple[Any, ...], outputs: int = 1) -> Any:
    """Run an eager op that no op callback sees; return its outputs."""
    return TFE_Py_Execute(_handle(context()), "/device:CPU:0", op_type, inputs, attrs, outputs)
