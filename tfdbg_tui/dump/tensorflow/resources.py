"""Tables that all graphs know by their names, and eager ops, run without anybody's op callbacks.

A table of TensorFlow's comes into being with whoever asks for it first.  A set of numbers is one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.config_pb2 import ConfigProto
from tensorflow.python.eager.context import Context, context
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.pywrap_tfe import TFE_Py_Execute

from tfdbg_tui.dump.tensorflow import executors, functions
from tfdbg_tui.dump.tensorflow.eager_tensor import datatype_enum
from tfdbg_tui.dump.tensorflow.private import attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_INT32 = tf.int32.as_datatype_enum
_INT64 = tf.int64.as_datatype_enum
_FLOAT64 = tf.float64.as_datatype_enum

CONTAINER = "tfdbg-tui"
"""What the writer keeps is in a container of its own: whether there is that of the program's
variables, which comes into being with the first of them, is in TensorFlow's messages."""

TABLE_TYPES = {(_INT32, _FLOAT64), (_INT64, _INT64), (_INT32, 0)}
"""Those of keys and values of our tables, as eager ops about these have them; some have one."""

_handle = attribute(Context, "_handle")


def set_in_graph(ops: OpMaker, name: str) -> Any:
    """Return what stands for a set in a graph."""
    return _table_in_graph(ops, name, tf.int32, tf.float64)


def weight_or(ops: OpMaker, numbers: Any, number: Any, value: Any) -> Any:
    """Return a float64 tensor of a graph: 1 where a number is in a set, else some value.

    Args:
        ops: Makes the op, on the CPU.
        numbers: What stands for the set.
        number: The int32 number.
        value: The float64 value.
    """
    return ops.tensor("LookupTableFindV2", numbers, number, value)


def weight_in_graph(ops: OpMaker, numbers: Any, number: Any) -> Any:
    """Return a float64 tensor of a graph: the weight of a number in a set, 0 if it is not in it.

    Args:
        ops: Makes the ops, on the CPU.
        numbers: What stands for the set.
        number: The int32 number.
    """
    return weight_or(ops, numbers, number, ops.constant(0, tf.float64))


def count_down(ops: OpMaker, numbers: Any, number: Any) -> Any:
    """Return an op of a graph that takes 1 off the weight of a number in a set, as far as to 0.

    Args:
        ops: Makes the ops, on the CPU.
        numbers: What stands for the set.
        number: The int32 number.
    """
    less = ops.tensor("Sub", weight_in_graph(ops, numbers, number), ops.constant(1, tf.float64))
    left = ops.tensor("Maximum", less, ops.constant(0, tf.float64))
    return ops.op("LookupTableInsertV2", numbers, number, left)


def insert_in_graph(ops: OpMaker, numbers: Any, some: Sequence[int]) -> Any:
    """Return an op of a graph that puts numbers into a set.

    Args:
        ops: Makes the ops, on the CPU.
        numbers: What stands for the set.
        some: The int32 numbers.
    """
    ones = ops.constant(np.ones(len(some)), tf.float64)
    return ops.op("LookupTableInsertV2", numbers, ops.constant(some, tf.int32), ones)


def remove_in_graph(ops: OpMaker, numbers: Any, some: Sequence[int]) -> Any:
    """Return an op of a graph that takes numbers out of a set, if they are in it.

    Args:
        ops: Makes the ops, on the CPU.
        numbers: What stands for the set.
        some: The int32 numbers.
    """
    return ops.op("LookupTableRemoveV2", numbers, ops.constant(some, tf.int32))


def add_to_set(name: str, numbers: Sequence[int], weight: int = 1) -> None:
    """Put numbers into a set.

    Args:
        name: The set's.
        numbers: The numbers.
        weight: That of each.
    """
    types = ("Tin", _INT32, "Tout", _FLOAT64)
    weights = EagerTensor(np.full(len(numbers), float(weight)), "/device:CPU:0", _FLOAT64)
    with executors.synchronous():
        run_op("LookupTableInsertV2", [_set(name), _keys(numbers), weights], types, outputs=0)


def remove_from_set(name: str, numbers: Sequence[int]) -> None:
    """Take numbers out of a set, if they are in it."""
    with executors.synchronous():
        run_op("LookupTableRemoveV2", [_set(name), _keys(numbers)], ("Tin", _INT32), outputs=0)


def numbers_in_graph(ops: OpMaker, name: str) -> Any:
    """Return what stands in a graph for a table of int64 numbers by int64 numbers."""
    return _table_in_graph(ops, name, tf.int64, tf.int64)


def number_or_zero(ops: OpMaker, numbers: Any, key: Any) -> Any:
    """Return a number of a table; 0 where there is none.

    Args:
        ops: Makes the op, on the CPU.
        numbers: What stands for the table.
        key: The number's key.
    """
    return ops.tensor("LookupTableFindV2", numbers, key, ops.constant(0, tf.int64))


def put_number(name: str, key: int, number: int) -> None:
    """Put a number into a table.

    Args:
        name: The table's.
        key: The number's key.
        number: The number.
    """
    values = [EagerTensor(np.array([n]), "/device:CPU:0", _INT64) for n in (key, number)]
    into = ("Tin", _INT64, "Tout", _INT64)
    with executors.synchronous():
        run_op("LookupTableInsertV2", [_table(name, _INT64, _INT64), *values], into, outputs=0)


def _set(name: str) -> Any:
    return _table(name, _INT32, _FLOAT64)


def _table(name: str, key: int, value: int) -> Any:
    types = ("key_dtype", key, "value_dtype", value)
    named = ("container", CONTAINER, "shared_name", name)
    (table,) = run_op("MutableHashTableV2", [], (*types, *named))
    return table


def _table_in_graph(ops: OpMaker, name: str, key: Any, value: Any) -> Any:
    types = {"key_dtype": key, "value_dtype": value}
    named = {"container": CONTAINER.encode(), "shared_name": name.encode()}
    return ops.tensor("MutableHashTableV2", **types, **named)


def int32(number: int) -> Any:
    """Return a number as an eager tensor."""
    return EagerTensor(np.array(number, np.int32), "/device:CPU:0", _INT32)


def _keys(numbers: Sequence[int]) -> Any:
    return EagerTensor(np.array(numbers, np.int32), "/device:CPU:0", _INT32)


def current_context() -> Any:
    """Return the context of TensorFlow's in which ops run now: a program may make another one."""
    return context()


class OfContexts:
    """What is made once for each context of TensorFlow's, and is given back with it.

    Args:
        most: So much is kept for each; None for all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._made: dict[Any, dict[Any, Any]] = {}

    def get(self, context: Any, key: Any, make: Callable[..., Any]) -> Any:
        """Return what is made for a context.

        Args:
            context: The context.
            key: What `make` takes.
            make: Makes it.
        """
        made = self._made.setdefault(context, {})
        found = made.get(key)
        if found is None:
            if self._most is not None and len(made) >= self._most:
                made.clear()
            found = made[key] = make(*key)
        return found

    def forget(self, context: Any) -> None:
        """Give back what was made for a context that the program has thrown away."""
        self._made.pop(context, None)


def run_function(
    function: Any,
    inputs: list[Any],
    types: Sequence[int],
    where: Any = None,
    device: str = "/device:CPU:0",
) -> Any:
    """Run a runtime function of ours in the thread that calls it; return its outputs.

    Args:
        function: The function: its ops are all on the device.
        inputs: What it takes.
        types: The types of its outputs.
        where: See `run_op`.
        device: See `run_op`.
    """
    taken = list(map(datatype_enum, inputs))
    called = "Tin", taken, "Tout", list(types), "f", functions.function_name(function)
    # It runs in the thread that calls it, if it is called by way of this op.
    how = "config_proto", _as_it_is(), "executor_type", "SINGLE_THREADED_EXECUTOR"
    return run_op("PartitionedCall", inputs, (*called, *how), len(types), where, device)


@functools.cache
def _as_it_is() -> bytes:
    """Return a configuration in which TensorFlow optimizes nothing, which would take longer."""
    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return bytes(config.SerializeToString())


def run_op(
    op_type: str,
    inputs: list[Any],
    attrs: tuple[Any, ...],
    outputs: int = 1,
    where: Any = None,
    device: str = "/device:CPU:0",
) -> Any:
    """Run an eager op that no op callback and no tape sees; return its outputs.

    Args:
        op_type: Its type.
        inputs: What it takes.
        attrs: Names and values of its attributes.
        outputs: How many outputs it has.
        where: The context of TensorFlow's to run it in; None for the current one.
        device: Where to run it.
    """
    handle = _handle(where or context())
    return TFE_Py_Execute(handle, device, op_type, inputs, attrs, outputs)
