"""Activations that are saturated: of what comes in, next to nothing is where the slope is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import magnitudes_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import SATURATED_ACTIVATION, SATURATED_SOFTMAX
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Run, TensorSummary
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

    Measured = Sequence[tuple[TensorEvent, Magnitudes]]

_MANY = 8  # measured computations that have to show it
_SAMPLE = 8  # of them whose records are read
_SOME_SIZE = 32  # elements of which it means something that all are alike

_WIDE = 60.0
"""A layer's output that runs from below minus this to above this: the slope is within ±10."""
_APART = 200.0  # of what a softmax takes: the least share is e⁻²⁰⁰ of the largest
_MASKED = 1e4  # what is below minus this has been left out of a softmax on purpose

_BOUNDED = frozenset({"Tanh", "Sigmoid"})
_PRODUCTS = frozenset(
    {"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "BiasAdd", "Conv2D", "Conv1D", "AddV2"}
)
"""What layers compute before an activation: other ops make a step of a tanh on purpose."""

_BEFORE = dict.fromkeys(_BOUNDED, _PRODUCTS | {"Sum"}) | {  # by hand: of products
    "Softmax": _PRODUCTS | {"Mul", "RealDiv"}  # by a temperature
}

_SLOPES = frozenset({"TanhGrad", "SigmoidGrad"})
_FLAT = 1e-4  # of the gradient: so much comes through where the slope is that, 5 from the middle


def find_saturated(run: Run, dataflow: Dataflow, measured: Measured) -> list[Suspect]:
    """Return the activations that let next to nothing back.

    Args:
        run: The run.
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    return list(_wide(run, dataflow, measured)) or list(_flat(run, dataflow, measured))


def _wide(run: Run, dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield activations of what has been far too large from the first computation on."""
    for event, _ in measured:
        op_type = op_type_of(run, event)
        if op_type not in _BEFORE or is_backward(run, event):
            continue
        given = next(iter(dataflow.producers(event)), None)
        if given is None or given.event is None or given.op_type not in _BEFORE[op_type]:
            continue
        before = magnitudes_of(run, dataflow, given.event)
        if len(before) < _MANY or before.largest.min() < _WIDE:
            continue
        places = np.unique(np.linspace(0, len(before) - 1, _SAMPLE).astype(int))
        events = [
            TensorEvent(given.event.kind, int(before.rows[place]), given.event.slot)
            for place in places
        ]
        ends = [_ends(summary_of(run, one), softmax=op_type == "Softmax") for one in events]
        if all(ends) and ends[-1]:
            low, high = ends[-1]
            evidence = (
                f"what {op_type} takes was too wide in each of {len(before):,} computations "
                f"measured: at last from {low:.3g} to {high:.3g}"
            )
            rule = SATURATED_SOFTMAX if op_type == "Softmax" else SATURATED_ACTIVATION
            yield Suspect(event, rule, Match("likely", evidence), len(before))


def _ends(summary: TensorSummary | None, *, softmax: bool) -> tuple[float, float] | None:
    """Return the extremes of a tensor, if it is that wide, and no mask.

    Of what a softmax takes only differences count.
    """
    if summary is None or summary.minimum is None or summary.maximum is None:
        return None
    low, high = summary.minimum, summary.maximum
    if softmax:
        is_wide = high - low >= _APART and low >= -_MASKED
    else:
        is_wide = low <= -_WIDE and high >= _WIDE
    return (low, high) if is_wide and (summary.size or 0) >= _SOME_SIZE else None


def _flat(run: Run, dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield the gradients of tanh and sigmoid that let next to nothing back."""
    for event, found in measured:
        summary = summary_of(run, event) if op_type_of(run, event) in _SLOPES else None
        if summary is None or (summary.size or 0) < _SOME_SIZE:
            continue
        given = next((p.event for p in dataflow.producers(event) if p.input_slot == 1), None)
        before = magnitudes_of(run, dataflow, given) if given is not None else found
        if len(before) != len(found):
            continue
        after, largest = found.largest[-_MANY:], before.largest[-_MANY:]
        if largest.all() and (after <= _FLAT * largest).all():
            evidence = f"of gradients up to {largest[-1]:.3g} come back at most {after[-1]:.3g}"
            yield Suspect(event, SATURATED_ACTIVATION, Match("likely", evidence), len(found))
