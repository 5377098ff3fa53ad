"""What an op of a graph has made, computed once more by an eager op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor

from tfdbg_tui.dump.tensorflow import executors, resources
from tfdbg_tui.dump.tensorflow.eager_tensor import elements

if TYPE_CHECKING:
    from collections.abc import Callable


def recompute(op: Any) -> Callable[..., Any]:
    """Return a function that computes the output of an op on the CPU, given arrays for its inputs.

    Args:
        op: A symbolic op with one output, and with inputs that are no lists.
    """
    op_type, attributes = op.type, _attributes(op)
    types = [tensor.dtype.base_dtype.as_datatype_enum for tensor in op.inputs]

    def computed(*arrays: Any) -> Any:
        inputs = [
            EagerTensor(array, "/device:CPU:0", dtype)
            for array, dtype in zip(arrays, types, strict=True)
        ]
        with executors.synchronous():
            (made,) = resources.run_op(op_type, inputs, attributes)
            return elements(made)

    return computed


def _attributes(op: Any) -> tuple[Any, ...]:
    """Return the names and values of an op's attributes, as eager ops are told them."""
    names = [attribute.name for attribute in op.op_def.attr]
    values = [op.get_attr(name) for name in names]
    told = [v.as_datatype_enum if isinstance(v, tf.DType) else v for v in values]
    return tuple(part for pair in zip(names, told, strict=True) for part in pair)
