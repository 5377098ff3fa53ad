"""Queues that functions know by their names, read without anybody's op callbacks."""

from __future__ import annotations

from typing import Any

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
    """Put a vector into a queue; wait while it is full."""
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


def _run_op(op_type: str, inputs: list[Any], attrs: tuple[Any, ...], outputs: int = 1) -> Any:
    """Run an eager op that no op callback sees; return its outputs."""
    return TFE_Py_Execute(_handle(context()), "/device:CPU:0", op_type, inputs, attrs, outputs)
