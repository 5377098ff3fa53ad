"""Bad tensors that a graph counts itself, without entering Python: what Python has seen enough of.

The body of a loop, and a function of a dataset, may run thousands of times in a call; a function of
few small tensors takes less time than to enter Python.  A *pattern* says which tensors of a group
are bad, with which kinds of bad elements.  Where Python has seen one so often that it tells nothing
new, it notes it in a set of TensorFlow's, which all graphs know by its name.  A graph that finds it
there hands over its own counts in the queue (see `row_queue`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from tfdbg_tui.dump.encode import queue_rows
from tfdbg_tui.dump.tensorflow import functions, graph_ops, own, resources, tensor_ops
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan

_NAME = "tfdbg_tui_patterns"
_MODE = TensorDebugMode.CONCISE_HEALTH
_COLUMNS = len(VALUE_VECTORS[_MODE])
_MAX_WEIGHT = 1 << 20
"""Sums of the squares of such integers are exact in float64, and hardly ever the same by chance."""


def count(
    number: int,
    plan: GroupPlan,
    row: Any,
    tensors: Sequence[Any],
    measured: Any,
    *,
    repeated: bool,
) -> tuple[Any, Any]:
    """Add ops to the current graph that count the bad elements of rows in `GroupPlan.counted`.

    Args:
        number: The group's, by `callbacks.number_of`.
        plan: The group's.
        row: That of a healthy execution; where it is not there, nothing is counted.
        tensors: See `GroupPlan.places`.
        measured: 1.0 where Python is to look at the tensors in any case, else 0.0; None for never.
        repeated: Whether the graph may run many times in a call.  TensorFlow goes through all ops
            of a branch that is not taken, so then they stay in a function of their own.

    Returns:
        The counts, where Python is to look at the tensors, and the rows for the queue where not.
    """
    used = sorted({plan.places[counted][0] for counted in plan.counted})
    arguments = [row, *(tensors[index] for index in used)]
    arguments += [] if measured is None else [measured]
    graph = own.new_graph()
    graph.inputs = [
        graph_ops.new_input(graph, f"input_{place}", tensor.dtype, tensor.shape, tensor.device)
        for place, tensor in enumerate(arguments)
    ]
    with graph.as_default():
        inner = dict(zip(used, graph.inputs[1:], strict=False))
        counts = tf.raw_ops.Pack(values=_summaries(plan, inner), axis=0)
        is_measured = None if measured is None else graph.inputs[-1]
        is_known = _is_known(number, plan, counts, is_measured)
        counts = tf.raw_ops.Cast(x=counts, DstT=tf.int64)
        graph.outputs = [counts, _rows(plan, graph.inputs[0], counts), is_known]
    counts, rows, is_known = functions.call(graph, arguments, stays_apart=repeated)
    counts.set_shape([len(plan.counted), _COLUMNS])
    rows.set_shape([len(plan.counted), queue_rows.WIDTH])
    new, _ = tf.raw_ops.Switch(data=counts, pred=is_known)
    _, known = tf.raw_ops.Switch(data=rows, pred=is_known)
    return new, known


def _summaries(plan: GroupPlan, tensors: Mapping[int, Any]) -> list[Any]:
    """Return the counts of each row; the first begins with the key of the row that it becomes."""
    ids = [queue_rows.COUNTED, *range(1, len(plan.counted))]
    found: list[Any] = []
    for tensor, tensor_id in zip(_counted(plan, tensors), ids, strict=True):
        # One after the other: to wake other threads takes longer.
        with tf.control_dependencies(found[-1:]):
            found.append(tensor_ops.summary(tensor, _MODE, tensor_id))
    return found


def _is_known(number: int, plan: GroupPlan, counts: Any, measured: Any) -> Any:
    """Return whether Python has seen enough of some counts, and need not measure."""
    weighted = tf.raw_ops.Sign(x=counts) * _weights(number, len(plan.counted))
    pattern = tf.raw_ops.L2Loss(t=weighted)
    if measured is not None:
        pattern = tf.raw_ops.AddV2(x=pattern, y=measured)  # Patterns are even.
    found = resources.weight_in_set(_NAME, tf.raw_ops.Cast(x=pattern, DstT=tf.int64))
    return tf.raw_ops.Cast(x=found, DstT=tf.bool)


def _rows(plan: GroupPlan, row: Any, counts: Any) -> Any:
    """Return the rows for the queue: each begins with the group and the iteration of the loop."""
    heads = np.zeros((len(plan.counted), queue_rows.WIDTH - _COLUMNS), np.int64)
    heads[:, queue_rows.PART] = range(len(heads))
    return tf.concat([row[:1, : heads.shape[1]] + heads, counts], axis=1)


def note_known(number: int, counts: Any) -> int:
    """Note that Python has seen enough of the counts that it got from a group.

    Returns:
        Their pattern, for `forget`.
    """
    squares = np.square(_weights(number, len(counts)))
    pattern = int(squares[counts != 0].sum()) // 2
    resources.add_to_set(_NAME, [pattern])
    return pattern


def forget(patterns: Sequence[int]) -> None:
    """Forget what was noted of a group whose graph is gone."""
    resources.remove_from_set(_NAME, patterns)


def _counted(plan: GroupPlan, tensors: Mapping[int, Any]) -> Iterator[Any]:
    """Yield the tensor of each row in `GroupPlan.counted`."""
    packs: dict[int, Any] = {}
    for row in plan.counted:
        index, place = plan.places[row]
        if place is None:
            yield tensors[index]
            continue
        if index not in packs:
            with tensor_ops.beside(tensors[index]):
                packs[index] = tf.unstack(tensors[index])
        yield packs[index][place]


def _weights(number: int, tensors: int) -> npt.NDArray[np.float64]:
    """Return what stands for each kind of bad elements, of each tensor, in the number of a pattern.

    Before these come the id and the size of a tensor, whose weights tell groups apart.  All weights
    are even, so that half the sum of their squares is.
    """
    halves = np.random.default_rng(number).integers(_MAX_WEIGHT // 2, size=(tensors, _COLUMNS))
    return 2 * halves.astype(np.float64)
