"""Sets that all graphs know by their names, and eager ops, run without anybody's op callbacks.

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

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_INT64 = tf.int64.as_datatype_enum
_FLOAT64 = tf.float64.as_datatype_enum

_handle = attribute(Context, "_handle")


def weight_in_set(ops: OpMaker, name: str, number: Any) -> Any:
    """Return a float64 tensor of a graph: 1 where an int64 tensor is in a set, else 0.

    Args:
        ops: Makes the ops, on the CPU.
        name: The set's.
        number: The int64 tensor.
    """
    types = {"key_dtype": tf.int64, "value_dtype": tf.float64}
    table = ops.tensor("MutableHashTableV2", **types, shared_name=name.encode())
    return ops.tensor("LookupTableFindV2", table, number, ops.constant(0.0, tf.float64))


def add_to_set(name: str, numbers: Sequence[int]) -> None:
    """Put numbers into a set."""
    types = ("Tin", _INT64, "Tout", _FLOAT64)
    ones = EagerTensor(np.ones(len(numbers)), "/device:CPU:0", _FLOAT64)
    run_op("LookupTableInsertV2", [_set(name), _keys(numbers), ones], types, outputs=0)


def remove_from_set(name: str, numbers: Sequence[int]) -> None:
    """Take numbers out of a set, if they are in it."""
    run_op("LookupTableRemoveV2", [_set(name), _keys(numbers)], ("Tin", _INT64), outputs=0)


def _set(name: str) -> Any:
    types = ("key_dtype", _INT64, "value_dtype", _FLOAT64, "shared_name", name)
    (table,) = run_op("MutableHashTableV2", [], types)
    return table


def _keys(numbers: Sequence[int]) -> Any:
    return EagerTensor(np.array(numbers, np.int64), "/device:CPU:0", _INT64)


def run_op(op_type: str, inputs: list[Any], attrs: tuple[Any, ...], outputs: int = 1) -> Any:
    """Run an eager op that no op callback sees; return its outputs.

    Args:
        op_type: Its type.
        inputs: What it takes.
        attrs: Names and values of its attributes.
        outputs: How many outputs it has.
    """
    return TFE_Py_Execute(_handle(context()), "/device:CPU:0", op_type, inputs, attrs, outputs)
