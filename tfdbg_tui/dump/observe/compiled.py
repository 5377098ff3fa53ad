"""Functions that XLA compiles: no Python can run inside them, so values leave through a variable.

Every compiled graph gets one buffer, a captured `tf.Variable`, that its counts are assigned to; it
is read when the outermost call has returned.  Of a graph that runs several times in one call the
first run that makes NaN or ∞ is kept, and else the last one; of a loop, `_LOOP_RUNS` iterations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.observe import compiled_counts, coverage, magnitudes
from tfdbg_tui.dump.observe.compiled_counts import CompiledCounts
from tfdbg_tui.dump.tensorflow import graph_ops, own, resources
from tfdbg_tui.wire.modes import BAD_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.causes import Measured
    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Values
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import Place

_LOOP_RUNS = 64
_BEFORE = 4  # iterations that are kept before the first one that makes NaN or ∞


class CompiledBuffer:
    """Where the values of a compiled graph wait to be read.

    Args:
        place: Takes the ops.
        items: The tensors, one for each row of `group`.
        group: Makes records of the values.
        iteration: The counter of the loop that the graph is the body of, or None.

    Attributes:
        nbytes: How much memory that takes.
        op: What has to run when the graph does.
    """

    def __init__(
        self, place: Place, items: Sequence[Observed], group: Group, iteration: Any
    ) -> None:
        if group.plan.mode in BAD_COLUMNS:
            compiled_counts.try_out()
        graph = place.graph
        self.group = group
        self.graph_id = group.plan.graph_id
        self._runs = 1 if iteration is None else _LOOP_RUNS
        with (
            own.adding_ops(),
            graph.as_default(),
            graph.name_scope(own.SCOPE),
        ):
            counted = _counted(items, group.plan)
            tensors = [_of_sure_shape(item, place.tensor(item.tensor)) for item in counted]
            plan = group.plan
            self._counts = CompiledCounts(tensors, plan.mode, measured=plan.measured)
            number = tf.constant(0, tf.int64)
            if iteration is not None:
                number = tf.cast(place.tensor(iteration), tf.int64)
            values = tf.concat([tf.reshape(number + 1, [1]), self._counts.values], axis=0)
            with tf.init_scope(), own.work():
                # Kept: where nothing else refers to the memory of a variable, XLA takes it over for
                # the update, and TensorFlow frees it once more if the function then fails.
                self._zeros = tf.zeros([self._runs + 2, int(values.shape[0])], tf.int64)
                # Not `tf.Variable`: functions forbid that one after their first trace.
                self._variable = graph_ops.ResourceVariable(self._zeros, trainable=False)
            self.nbytes = self._zeros.shape.num_elements() * self._zeros.dtype.size
            self.op = self._add_update(values, number, self._counts.number_of_bad)

    def _add_update(self, values: Any, number: Any, bad: Any) -> Any:
        """Add the op that keeps the values of a run, if no bad ones before it have to be kept.

        Args:
            values: The row for the run.
            number: Its iteration; 0 where the graph is no loop's body.
            bad: How many elements are NaN or ∞; None where that is not counted.
        """
        handle = self._variable.handle
        values = tf.reshape(values, [1, -1])
        slot = tf.reshape(number % self._runs, [1])
        if bad is None:
            return tf.raw_ops.ResourceScatterUpdate(resource=handle, indices=slot, updates=values)
        # Behind the rows of runs there is one that says of which iteration the first bad values
        # are, from 1, and whether they are to be kept; and one for what is not kept.
        state_row, unused_row = ([self._runs + more] for more in (0, 1))
        state = tf.raw_ops.ResourceGather(resource=handle, indices=state_row, dtype=tf.int64)
        first, kept, rest = tf.split(state, [1, 1, state.shape[1] - 2], axis=1)
        begins_or_is_far = tf.equal(number, 0) | (number - first >= self._runs - _BEFORE)
        keeps = (kept > 0) | ((first > 0) & begins_or_is_far)
        first = tf.where((first > 0) | tf.equal(bad, 0), first, number + 1)
        state = tf.concat([first, tf.cast(keeps, tf.int64), rest], axis=1)
        slot = tf.where(keeps[0], tf.constant(unused_row, tf.int64), slot)
        return tf.raw_ops.ResourceScatterUpdate(
            resource=handle,
            indices=tf.concat([slot, state_row], axis=0),
            updates=tf.concat([values, state], axis=0),
        )

    def take(self) -> Any:
        """Return what the runs since the last time have left; do not wait for it, and forget it."""
        handle, device = self._variable.handle, self._variable.device
        dtype = "dtype", tf.int64.as_datatype_enum
        (left,) = resources.run_op("ReadVariableOp", [handle], dtype, device=device)
        attrs = *dtype, "validate_shape", False
        zeros = self._zeros
        resources.run_op("AssignVariableOp", [handle, zeros], attrs, outputs=0, device=device)
        return left

    def values_in(self, left: Any, measured: Measured) -> list[Values]:
        """Return the values of runs.

        Args:
            left: What `take` has returned.
            measured: Of what in them the extremes are recorded, besides those with NaN or ∞.
        """
        buffer = left.numpy()[: self._runs]
        written = buffer[buffer[:, 0] > 0]
        ordered = written[np.argsort(written[:, 0])]
        are_due = magnitudes.are_measured(ordered[:, 0] - 1, np.full(len(ordered), measured))
        return [
            self.group.compiled_values(self._counts.rows(run[1:]), is_due)
            | ({"iteration": [run[:1] - 1]} if self._runs > 1 else {})
            for run, is_due in zip(ordered, are_due, strict=True)
        ]


def _counted(items: Sequence[Observed], plan: GroupPlan) -> list[Observed]:
    """Return the items that are counted; note in the plan what is known of the others."""
    if plan.mode in BAD_COLUMNS:
        coverage.note_known(items, plan)
    if len(plan.constants) + len(plan.aliases) == len(items):
        del plan.constants[0]  # The first is nothing else, and a buffer is not empty.
    known = {*plan.constants, *(row for row, _ in plan.aliases)}
    return [item for number, item in enumerate(items) if number not in known]


def _of_sure_shape(item: Observed, tensor: Any) -> Any:
    """Return what stands for an item, or what says nothing of its shape where that is doubtful."""
    if item.row.rank is not None or tensor.shape.rank is None:
        return tensor
    return tf.raw_ops.PlaceholderWithDefault(input=tensor, shape=tf.TensorShape(None))
