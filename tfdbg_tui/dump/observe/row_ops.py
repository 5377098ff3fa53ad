"""The ops by which graphs put rows of numbers into the queue; see `row_queue`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.queue_rows import (
    ITERATION,
    NUMBER,
    PART,
    SERIAL,
    SIZES,
    SIZES_IN_ROW,
    WIDTH,
    rows_for,
)
from tfdbg_tui.dump.observe import elements
from tfdbg_tui.dump.tensorflow import session_stages, stages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

NAME = "tfdbg_tui_rows"
"""That of the queue's stage."""


def row_tensor(
    ops: OpMaker, number: int, iteration: Any, sizes: Sequence[Any], serial: Any = None
) -> Any:
    """Return the row, or the rows, of a healthy execution.

    Args:
        ops: Makes the ops, on the host.
        number: The group's, by `callbacks.number_of`.
        iteration: An int64 tensor, or None.
        sizes: Int64 tensors.
        serial: The number of the session's run, an int64 tensor, or None.

    Returns:
        Int64 ``[rows, WIDTH]``: more than one where they have many sizes to tell.
    """
    rows = np.zeros((rows_for(len(sizes)), WIDTH), np.int64)
    rows[:, NUMBER], rows[:, PART] = number, range(len(rows))
    known = {ITERATION: iteration, SERIAL: serial}
    told = {(0, column): value for column, value in known.items() if value is not None}
    if not sizes:
        row = ops.constant(rows, tf.int64)
        for (_, column), value in told.items():
            unit = ops.constant(np.arange(WIDTH)[None] == column, tf.int64)
            row = ops.tensor("AddV2", ops.tensor("Mul", unit, value), row)
        return row
    for index, size in enumerate(sizes):
        told[index // SIZES_IN_ROW, SIZES + index % SIZES_IN_ROW] = size
    constants = {value: ops.constant(value, tf.int64) for value in np.unique(rows).tolist()}
    values = [told.get(at, constants[int(rows[at])]) for at in np.ndindex(rows.shape)]
    shape = ops.constant(rows.shape, tf.int32)
    return ops.tensor("Reshape", ops.tensor("Pack", values), shape)


def put(ops: OpMaker, rows: Any, iteration: Any, words: Any, *, in_session: bool) -> Any:
    """Return an op that puts what an execution hands over into the queue.

    Args:
        ops: Makes the ops.
        rows: Its rows.
        iteration: The int32 number of the iteration of a loop.
        words: The elements that it hands over.
        in_session: Whether the queue is that of a session.
    """
    values = rows, iteration, words
    return stages.put(ops.on("/device:CPU:0"), NAME, *values, is_bounded=not in_session)


def put_end(ops: OpMaker, number: Any) -> Any:
    """Return an op that tells through the queue that a call ends.

    Args:
        ops: Makes the ops.
        number: See `row_queue.last_number`.
    """
    row = ops.constant(np.zeros((1, WIDTH)), tf.int64)
    return put(ops, row, number, elements.none(ops), in_session=False)


def fetches_in_graph(graph: Any) -> list[Any]:
    """Return what a session fetches to take the rows out of its queue: new tensors of its graph."""
    return session_stages.fetches_in_graph(graph, NAME, WIDTH)
