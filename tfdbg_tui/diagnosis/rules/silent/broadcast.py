"""Losses in which a column of predictions minus a row of targets is a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import SILENT_BROADCAST
from tfdbg_tui.diagnosis.rules.silent.ops_of_type import first_computations
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots import Causes

_MANY = 8  # computations of a place
_FEWEST = 4  # predictions
_DIFFERENCES = frozenset({"Sub", "SquaredDifference"})
_LAYER_OUTPUTS = frozenset({"MatMul", "BiasAdd", "AddV2", "Add", "Sigmoid", "Tanh", "Relu"})
"""What makes a column otherwise has made it on purpose, for all pairs."""
_MAKE_ROWS = frozenset({"Transpose", "ExpandDims"})
"""What makes a row otherwise has made it for all pairs as well."""
_OF_EACH = frozenset({"Square", "Abs", "Pow"})
_RANKS = 2, 1, 2  # of [n, 1], [n] and [n, n], where they are on record
_DEPTH = 3  # ops from a difference to the mean


def find_broadcasts(dataflow: Dataflow, causes: Causes) -> Iterator[Suspect]:
    """Yield differences in which each prediction is compared with each target.

    Args:
        dataflow: Of the run.
        causes: The roots of its alerts.
    """
    if not dataflow.variables.trained:
        return
    for event, times in first_computations(dataflow.run, _DIFFERENCES):
        if times < _MANY or is_backward(dataflow.run, event):
            continue
        if not _ends_in_mean(dataflow, event):
            continue
        evidence = _of_all_pairs(dataflow, causes, event)
        if evidence:
            yield Suspect(event, SILENT_BROADCAST, Match("likely", evidence), times)


def _of_all_pairs(dataflow: Dataflow, causes: Causes, event: TensorEvent) -> str:
    """Say how many elements a layer's output of shape [n, 1] minus [n] has; "" if it is not that.

    Of eager tensors the sizes are on record; of arrays of NumPy nothing is.
    """
    given = dataflow.producers(event)[:2]
    out = causes.summary(event)
    column = next((one for one in given if one.op_type in _LAYER_OUTPUTS), None)
    if column is None or out is None or len(given) != 2:
        return ""
    row = given[1] if column is given[0] else given[0]
    of_column, of_row = (causes.summary(one.event) if one.event else None for one in (column, row))
    size = of_column.size if of_column else None
    if not size or size < _FEWEST or out.size != size * size or row.op_type in _MAKE_ROWS:
        return ""
    if of_row is not None and of_row.size not in (size, None):
        return ""
    ranks = (summary.rank if summary else None for summary in (of_column, of_row, out))
    if any(rank not in (wanted, None) for rank, wanted in zip(ranks, _RANKS, strict=True)):
        return ""
    origins = {dataflow.origin(one.event) if one.event else None for one in given}
    return f"{size:,} and {size:,} elements in → {out.size:,} out" if len(origins) == 2 else ""


def _ends_in_mean(dataflow: Dataflow, event: TensorEvent) -> bool:
    for _ in range(_DEPTH):
        uses = dataflow.consumers(event)
        if any(use.op_type == "Mean" for use in uses):
            return True
        following = next((use.event for use in uses if use.op_type in _OF_EACH), None)
        if following is None:
            return False
        event = following
    return False
