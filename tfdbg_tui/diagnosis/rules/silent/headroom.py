"""Tensors that are next to the largest number of their type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import graph_id_of, op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import dtype_of, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import NEAR_OVERFLOW
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.values import told_apart
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats

_NEAR = 0.5  # share of the largest number
_OFTEN = 0.25  # share of the computations, where the last is not near it
_ALL_BUT = 0.999  # of it is the number itself, as masks and the beginnings of minima use it
_SMALLEST_LIMIT = min(MAX_FINITE.values())
_COMPUTE = frozenset(
    {
        *("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "BiasAdd"),
        *("Conv2D", "Conv3D", "DepthwiseConv2dNative", "Sum", "Cumsum", "L2Loss", "Mul"),
        *("Exp", "Square", "SquaredDifference", "Pow", "Prod", "Cumprod"),
    }
)
"""Ops that make large numbers of smaller ones: others hand on a mask, or a constant."""


def find_near_overflow(run: Run, reckoned: set[str | None]) -> list[Suspect]:
    """Return, of each function, the first tensor that is close to the largest number of its type.

    Gradients are left out: a loss scale makes them as large as they can be, on purpose.

    Args:
        run: The run.
        reckoned: Graphs of which the program knows that they may overflow.
    """
    first: dict[str | None, Suspect] = {}
    for event, found in measured_tensors(run):
        graph_id = graph_id_of(run, event)
        if found.largest.max() < _NEAR * _SMALLEST_LIMIT or graph_id in reckoned:
            continue
        suspect = _near_overflow(run, event, found.rows, found.largest)
        earlier = first.get(graph_id)
        if suspect is not None and (earlier is None or suspect.event.index < earlier.event.index):
            first[graph_id] = suspect
    return list(first.values())


def _near_overflow(
    run: Run, event: TensorEvent, rows: Int64Array, largest: Floats
) -> Suspect | None:
    """Return the computation of a tensor that is closest to the largest number of its type.

    Args:
        run: The run.
        event: Any computation of the tensor.
        rows: Those that are known.
        largest: The largest magnitude of each of them.
    """
    op_type, dtype = op_type_of(run, event), dtype_of(run, event)
    limit = MAX_FINITE.get(dtype or "")
    if limit is None or op_type not in _COMPUTE or is_backward(run, event):
        return None
    near = (largest >= _NEAR * limit) & (largest < _ALL_BUT * limit)
    if not near[-1] and near.mean() < _OFTEN:
        return None
    place = int(np.argmax(np.where(near, largest, 0)))
    nearest = replace(event, index=int(rows[place]))
    summary = summary_of(run, nearest)
    if summary is None or summary.maximum is None:
        return None
    if op_type == "Mul" and summary.maximum < _NEAR * limit:
        return None  # a product that is large and negative is a mask for a softmax
    mine, bound = told_apart(float(largest[place]), limit, 3)
    evidence = f"the largest magnitude is {mine}, the largest {dtype} {bound}"
    return Suspect(nearest, NEAR_OVERFLOW, Match("likely", evidence), int(near.sum()))
