"""Bad tensors that a graph counts itself, without entering Python: what Python has seen enough of.

The body of a loop, and a function of a dataset, may run thousands of times in a call.  Where Python
has seen the same tensors with the same kinds of bad elements so often that they tell nothing new,
it notes that *sight* in a set of TensorFlow's, which all graphs know by its name.  A graph that
finds it there hands over its own counts in the queue (see `row_queue`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from tfdbg_tui.dump.encode import queue_rows
from tfdbg_tui.dump.tensorflow import resources, tensor_ops
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan

_NAME = "tfdbg_tui_sights"
_MODE = TensorDebugMode.CONCISE_HEALTH
_COLUMNS = len(VALUE_VECTORS[_MODE])
_MAX_WEIGHT = 1 << 20
"""Sums of the squares of such integers are exact in float64, and hardly ever the same by chance."""


class GraphCounts:
    """Ops in the current graph that count the bad elements of the rows in `GroupPlan.counted`.

    Args:
        number: The group's, by `callbacks.number_of`.
        plan: The group's.
        tensors: See `GroupPlan.places`.
        iteration: That of the loop, an int64 tensor, or None.
        measured: Whether Python is to look at the tensors in any case; None for never.

    Attributes:
        new: The counts, where Python is to look at the tensors.
    """

    def __init__(
        self, number: int, plan: GroupPlan, tensors: Sequence[Any], iteration: Any, measured: Any
    ) -> None:
        self._number, self._plan, self._iteration = number, plan, iteration
        # The first is to begin with the key of the row that it becomes.
        ids = [queue_rows.COUNTED, *range(1, len(plan.counted))]
        values: list[Any] = []
        for tensor, tensor_id in zip(_counted(plan, tensors), ids, strict=True):
            with tf.control_dependencies(values[-1:]):
                values.append(tensor_ops.summary(tensor, _MODE, tensor_id))
        counts = tf.raw_ops.Pack(values=values, axis=0)
        weighted = tf.raw_ops.Sign(x=counts) * _weights(number, len(ids))
        sight = tf.raw_ops.Cast(x=tf.raw_ops.L2Loss(t=weighted), DstT=tf.int64)
        is_known = resources.is_in_set(_NAME, sight)
        if measured is not None:
            is_known &= ~measured
        counts = tf.raw_ops.Cast(x=counts, DstT=tf.int64)
        self.new, self._known = tf.raw_ops.Switch(data=counts, pred=is_known)

    def rows(self) -> Any:
        """Return the rows for the queue, where Python need not look at the tensors."""
        heads: Any = np.zeros((len(self._plan.counted), queue_rows.WIDTH - _COLUMNS), np.int64)
        heads[:, queue_rows.NUMBER], heads[:, queue_rows.PART] = self._number, range(len(heads))
        if self._iteration is not None:
            column = np.arange(heads.shape[1]) == queue_rows.ITERATION
            heads += self._iteration * column.astype(np.int64)
        return tf.concat([heads, self._known], axis=1)


def note_known(number: int, counts: Any) -> None:
    """Note that Python has seen enough of what it got as `GraphCounts.new` from a group."""
    squares = np.square(_weights(number, len(counts)))
    resources.add_to_set(_NAME, int(squares[counts != 0].sum()) // 2)


def _counted(plan: GroupPlan, tensors: Sequence[Any]) -> Iterator[Any]:
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
    """Return what stands for each kind of bad elements, of each tensor, in the number of a sight.

    Before these come the id and the size of a tensor, whose weights tell groups apart.
    """
    halves = np.random.default_rng(number).integers(_MAX_WEIGHT // 2, size=(tensors, _COLUMNS))
    return 2 * halves.astype(np.float64)
