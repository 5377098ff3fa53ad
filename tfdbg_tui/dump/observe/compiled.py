"""Functions that XLA compiles: no Python can run inside them, so values leave through a variable.

Every compiled graph gets one buffer, a captured `tf.Variable`, that its counts are assigned to; it
is read when the outermost call has returned.  So of a graph that runs several times in one call
the last run is seen; of a loop, the last `_LOOP_RUNS` iterations.

Counting NaN, -∞ and +∞ exactly costs one reduction: each element becomes a small integer with one
field of ten bits a kind, whose sums over a row of less than 1024 elements cannot overflow.

XLA takes time to compile each op, and a training step has a thousand tensors, so tensors of one
shape share the ops that count, all of them where the tensors are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.tensorflow import graph_ops, own, tensor_ops
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.group_plan import Values
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import Place

_FIELD_BITS = 10
_FIELD = (1 << _FIELD_BITS) - 1
_LOOP_RUNS = 64
_SMALL = 4096
"""Elements of a tensor that is cheaper to copy than to count on its own."""


class CompiledBuffer:
    """Where the values of a compiled graph wait to be read.

    Args:
        place: Takes the ops.
        items: The tensors, one for each row of `group`.
        group: Makes records of the values.
        iteration: The counter of the loop that the graph is the body of, or None.

    Attributes:
        op: What has to run when the graph does.
    """

    def __init__(
        self, place: Place, items: Sequence[Observed], group: Group, iteration: Any
    ) -> None:
        graph = place.graph
        self.group = group
        self.graph_id = group.plan.graph_id
        self._runs = 1 if iteration is None else _LOOP_RUNS
        with (
            own.adding_ops(),
            graph.as_default(),
            graph.name_scope(own.SCOPE),
        ):
            tensors = [_of_sure_shape(item, place.tensor(item.tensor)) for item in items]
            alike = _alike(tensors)
            self._order = np.argsort(np.concatenate(alike))
            rows = [
                tf.reshape(_counts([tensors[i] for i in some], group.plan.mode), [-1])
                for some in alike
            ]
            number = tf.constant(0, tf.int64)
            if iteration is not None:
                number = tf.cast(place.tensor(iteration), tf.int64)
            values = tf.concat([tf.reshape(number + 1, [1]), *rows], axis=0)
            with tf.init_scope(), own.work():
                # Kept: where nothing else refers to the memory of a variable, XLA takes it over for
                # the update, and TensorFlow frees it once more if the function then fails.
                self._zeros = tf.zeros([self._runs, int(values.shape[0])], tf.int64)
                # Not `tf.Variable`: functions forbid that one after their first trace.
                self._variable = graph_ops.ResourceVariable(self._zeros, trainable=False)
            self.op = tf.raw_ops.ResourceScatterUpdate(
                resource=self._variable.handle,
                indices=tf.reshape(number % self._runs, [1]),
                updates=tf.reshape(values, [1, -1]),
            )

    def take(self) -> list[Values]:
        """Return the values of the runs since the last time, and forget them."""
        buffer = self._variable.numpy()
        written = buffer[buffer[:, 0] > 0]
        if len(written):
            self._variable.assign(self._zeros)
        ordered = written[np.argsort(written[:, 0])]
        rows = len(self.group.plan.rows)
        return [
            {
                "compiled": [run[1:].reshape(rows, -1)[self._order]],
                **({"iteration": [run[:1] - 1]} if self._runs > 1 else {}),
            }
            for run in ordered
        ]


def _of_sure_shape(item: Observed, tensor: Any) -> Any:
    """Return what stands for an item, or what says nothing of its shape where that is doubtful."""
    if item.row.rank is not None or tensor.shape.rank is None:
        return tensor
    return tf.raw_ops.PlaceholderWithDefault(input=tensor, shape=tf.TensorShape(None))


def _alike(tensors: Sequence[Any]) -> list[list[int]]:
    """Return the indices of the tensors in groups of one type and known shape."""
    groups: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        known = tensor.shape.is_fully_defined()
        key = (tensor.dtype.base_dtype, tuple(tensor.shape)) if known else i
        groups.setdefault(key, []).append(i)
    return list(groups.values())


def _counts(tensors: list[Any], mode: TensorDebugMode) -> Any:
    """Return what a mode counts of tensors that are alike, as int64 ``[tensors, columns]``.

    Columns: nothing in NO_TENSOR; rank, size and six dimensions in SHAPE; size, -∞, +∞, NaN in
    the health modes; in FULL_HEALTH rank before, and negative and zero after these.
    """
    first, number = tensors[0], len(tensors)
    if mode is TensorDebugMode.NO_TENSOR:
        return tf.zeros([number, 0], tf.int64)
    size = tf.size(first, tf.int64)
    if mode is TensorDebugMode.SHAPE:
        shape = tf.shape(first, tf.int64)[-6:]
        padded = tf.concat([shape, tf.zeros([6], tf.int64)], axis=0)[:6]
        row = tf.concat([[tf.cast(tf.rank(first), tf.int64), size], padded], axis=0)
        return tf.tile(tf.reshape(row, [1, 8]), [number, 1])
    small = first.shape.is_fully_defined() and first.shape.num_elements() <= _SMALL
    blocks = [tensor_ops.as_real(block) for block in ([tf.stack(tensors)] if small else tensors)]
    width = _row_width(first.shape)

    def sums(codes: list[Any], fields: int) -> Any:
        rows = [tf.reduce_sum(tf.reshape(code, [-1, width]), axis=1) for code in codes]
        return _sum_fields(tf.reshape(tf.concat(rows, axis=0), [number, -1]), fields)

    columns = [tf.fill([number, 1], size), sums([_bad_code(block) for block in blocks], 3)]
    if mode is TensorDebugMode.FULL_HEALTH:
        columns.insert(0, tf.fill([number, 1], tf.cast(tf.rank(first), tf.int64)))
        columns.append(sums([_sign_code(block) for block in blocks], 2))
    return tf.concat(columns, axis=1)


def _bad_code(real: Any) -> Any:
    code = tf.where(tf.equal(real, -np.inf), _field(0), _field(None))
    code = tf.where(tf.equal(real, np.inf), _field(1), code)
    return tf.where(tf.math.is_nan(real), _field(2), code)


def _sign_code(real: Any) -> Any:
    sign = tf.where(real < 0, _field(0), tf.where(tf.equal(real, 0), _field(1), _field(None)))
    return tf.where(tf.math.is_finite(real), sign, _field(None))


def _field(index: int | None) -> Any:
    return tf.constant(0 if index is None else 1 << _FIELD_BITS * index, tf.int32)


def _sum_fields(sums: Any, fields: int) -> Any:
    """Return the totals of the fields: int32 ``[tensors, rows]`` to int64 ``[tensors, fields]``."""
    split = [
        tf.bitwise.bitwise_and(tf.bitwise.right_shift(sums, _FIELD_BITS * i), _FIELD)
        for i in range(fields)
    ]
    return tf.cast(tf.reduce_sum(tf.stack(split, axis=1), axis=2), tf.int64)


def _row_width(shape: Any) -> int:
    """Return a number of elements, at most `_FIELD`, that divides the size of every such tensor."""
    if shape.rank is None:
        return 1
    width = 1
    for dimension in reversed(shape.as_list()):
        if not dimension:
            break
        limit = _FIELD // width
        width *= max(n for n in range(1, min(limit, dimension) + 1) if dimension % n == 0)
        if dimension > limit:
            break
    return width
