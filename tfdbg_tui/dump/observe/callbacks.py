"""What a graph calls when it runs: two Python functions for all graphs, which are always there.

A PyFunc op names a registered Python function, and one that is no longer there ends the program.
A graph's group must not stay for ever, though: it costs as much as the graph.  So the op hands in
a row with the number of its group (see `row_queue`), which is kept by its graph and looked up here
when the graph runs.  Where TensorFlow still runs a function whose graph is gone, such as one in the
pipeline of a `tf.data` variant, the program goes on and the logdir says that this is not on record.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, WeakValueDictionary

import tensorflow as tf

from tfdbg_tui.dump.observe import elements
from tfdbg_tui.dump.tensorflow import devices, functions, own, tensor_ops
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan
    from tfdbg_tui.dump.observe.elements import Argument
    from tfdbg_tui.dump.observe.groups import Dump, Group

dumps: WeakSet[Dump] = WeakSet()
"""Those that have groups."""

_groups: WeakValueDictionary[int, Group] = WeakValueDictionary()
_numbers = itertools.count(1)
_missed: set[int] = set()


def number_of(group: Group) -> int:
    """Return a number by which a graph can call a group for as long as the group is there."""
    number = next(_numbers)
    _groups[number] = group
    return number


@functools.cache
def _sink_token() -> str:
    """Return the token of the PyFunc that hands the values of a group to its `sink`."""
    return own.py_func_token(_sink)


@functools.cache
def _measure_token() -> str:
    """Return the token of the PyFunc that hands the extremes of a group to its `measure`."""
    return own.py_func_token(_measure)


@functools.cache
def _detail_token() -> str:
    """Return the token of the PyFunc that hands bad tensors of a group to its `detail`."""
    return own.py_func_token(_detail)


@functools.cache
def _keep_token() -> str:
    """Return the token of the PyFunc that hands whole tensors of a group to its `keep`."""
    return own.py_func_token(_keep)


def call_sink(ops: OpMaker, inputs: Sequence[Any]) -> Any:
    """Return an op that hands the values of a group to its `sink`: a row, and the columns."""
    return _py_func(ops, _sink_token(), inputs, [])


def detailed(
    ops: OpMaker,
    row: Any,
    curt: Any,
    arguments: Sequence[Argument],
    plan: GroupPlan,
    dimension: int,
) -> Any:
    """Return the rows of a group with the key of the details that Python finds out.

    Args:
        ops: Makes the ops, on the device of the tensors.
        row: See `row_ops.row_tensor`; it is there only where Python is to look at the tensors.
        curt: What tells which tensors are bad.
        arguments: The tensors.
        plan: The group's; how they are sent is noted in it.
        dimension: What an unknown dimension is taken to be.
    """
    taken = [row, curt, *(argument.tensor for argument in arguments)]
    if devices.has_accelerator():
        # What is called takes the tensors where they are: they are copied to the host only when it
        # runs.
        graph = functions.graph_that_takes(taken)
        inner = OpMaker(graph, ops.device)
        there = [
            argument._replace(tensor=tensor)
            for argument, tensor in zip(arguments, graph.inputs[2:], strict=True)
        ]
        given, plan.sent = elements.sent(inner, there, dimension)
        given = [*graph.inputs[:2], *given]
        graph.outputs = _rows_of(inner.on_host(), _detail_token(), given)
        (found,) = functions.call(ops, graph, taken)
    else:
        (found,) = _rows_of(ops.on_host(), _detail_token(), taken)
    found.set_shape([None, row.shape[1]])
    return found


def measured(ops: OpMaker, row: Any, tensors: Sequence[Any]) -> Any:
    """Return the rows of a group with the key of what an accelerator has measured.

    Args:
        ops: Makes the ops, on the device of the tensors.
        row: See `row_ops.row_tensor`; it is there only where all are healthy and measured.
        tensors: Those of `GroupPlan.rows_of_arguments`.
    """
    taken = [row, *tensors]
    graph = functions.graph_that_takes(taken)
    inner = OpMaker(graph, ops.device)
    ends = [e for tensor in graph.inputs[1:] for e in tensor_ops.ends_of_finite(inner, tensor)]
    given = [graph.inputs[0], _together(inner, ends)]
    graph.outputs = _rows_of(inner.on_host(), _measure_token(), given)
    (found,) = functions.call(ops, graph, taken)
    found.set_shape([None, row.shape[1]])
    return found


def kept(ops: OpMaker, row: Any, tensors: Sequence[Any]) -> Any:
    """Return the row of a group with the key of tensors that are recorded whole.

    Args:
        ops: Makes the ops, on the host.
        row: See `row_ops.row_tensor`.
        tensors: The tensors.
    """
    (found,) = _rows_of(ops, _keep_token(), [row, *tensors])
    found.set_shape(row.shape)
    return found


def _together(ops: OpMaker, numbers: Sequence[Any]) -> Any:
    """Return float32 and float64 numbers as one vector of float64."""
    alike = itertools.groupby(numbers, lambda number: number.dtype)
    vectors = [ops.tensor("Pack", list(some)) for _, some in alike]
    wide = [
        vector if vector.dtype == tf.float64 else ops.tensor("Cast", vector, DstT=tf.float64)
        for vector in vectors
    ]
    return wide[0] if len(wide) == 1 else ops.tensor("ConcatV2", wide, ops.constant(0, tf.int32))


def _rows_of(ops: OpMaker, token: str, given: Sequence[Any]) -> Any:
    return _py_func(ops, token, given, [tf.int64]).outputs


def group_of(number: int) -> Group | None:
    """Return a group by its number; where it is gone, say so in the logdir, once."""
    group = _groups.get(number)
    if group is None:
        _miss(number)
    return group


def _sink(row: Any, *arrays: Any) -> list[Any]:
    group = group_of(int(row.flat[0]))
    return group.sink(row, *arrays) if group is not None else []


def _measure(row: Any, extremes: Any) -> Any:
    group = _groups.get(int(row.flat[0]))
    return group.measure(row, extremes) if group is not None else row


def _detail(row: Any, curt: Any, *tensors: Any) -> Any:
    group = _groups.get(int(row.flat[0]))
    return group.detail(row, curt, *tensors) if group is not None else row


def _keep(row: Any, *tensors: Any) -> Any:
    group = _groups.get(int(row.flat[0]))
    return group.keep(row, *tensors) if group is not None else row


def _py_func(ops: OpMaker, token: str, inputs: Sequence[Any], dtypes: list[Any]) -> Any:
    """Return an op that calls a Python function for a group.

    It has a side effect for TensorFlow; what counts for a dataset is what its function says of
    itself, and that stays as it was.
    """
    return ops.op("PyFunc", list(inputs), token=token.encode(), Tout=dtypes)


def _miss(number: int) -> None:
    if number in _missed:
        return
    _missed.add(number)
    for dump in list(dumps):
        if dump.active:
            dump.skip("a function", "TensorFlow runs it although the program has deleted it")
