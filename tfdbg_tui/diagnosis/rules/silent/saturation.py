"""Activations that are saturated: of what comes in, next to nothing is where the slope is."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of, recorded_layer, summary_of
from tfdbg_tui.diagnosis.gradients import forward_op, is_backward
from tfdbg_tui.diagnosis.history import magnitudes_of, sample_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    SATURATED_ACTIVATION,
    SATURATED_LOSS,
    SATURATED_SOFTMAX,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_step, in_which_steps

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.rules.model import Defect
    from tfdbg_tui.logdir import TensorSummary
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

    Measured = Sequence[tuple[TensorEvent, Magnitudes]]

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_SAMPLE = 8  # of them whose records are read
_SOME_SIZE = 32  # elements of which it means something that all are alike
_PAIR = 2  # of a softmax that one step has made far too wide, as that of two actions in one state

_WIDE = 60.0
"""A layer's output that runs from below minus this to above this: the slope is within ±10."""
_APART = 200.0  # of what a softmax takes: the least share is e⁻²⁰⁰ of the largest
_APART_IN_ATTENTION = 100.0  # before anything has been learned, where a few are to be expected
_APART_IN_LOSS = 2e4
"""Where a loss takes the logits, its gradient does not vanish: weights that begin so large that
logits are some thousands apart are made smaller by training.
"""
_FAR_TOO_WIDE = 10.0
"""So many times wider, it is told whenever that begins: where nothing comes back, no training gets
there by itself, but one step that is far too long.
"""
_WIDE_LATER = 100.0
"""What a layer gives that has learned is seldom beyond 30: so large, it was thrown there, whenever
that begins.
"""
_FLAT_FROM = 10.0  # on, on either side: where both ends are beyond, few numbers are on the slope
_MASKED = 10.0  # times the largest: what is so far below 0 is left out of a softmax on purpose

_BOUNDED = frozenset({"Tanh", "Sigmoid"})
_SOFTMAX = frozenset({"Softmax", "LogSoftmax"})
_LOSSES = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
_SUMS = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
"""What attention gives its softmax to."""

_PRODUCTS = frozenset(
    {"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "BiasAdd", "Conv2D", "Conv1D", "AddV2"}
)
"""What layers compute before an activation: other ops make a step of a tanh on purpose."""

_BEFORE = dict.fromkeys(_BOUNDED, _PRODUCTS | {"Sum"}) | {  # by hand: of products
    op_type: _PRODUCTS | {"Mul", "RealDiv"}  # by a temperature
    for op_type in _SOFTMAX | _LOSSES
}

_PARTS = frozenset({"Split", "SplitV", "Reshape"})
"""The gates of a recurrent cell are computed as one product, of which each takes a part; losses of
TensorFlow 1 flatten logits.
"""

_SLOPES = frozenset({"TanhGrad", "SigmoidGrad"})
_FLAT = 1e-4  # of the gradient: so much comes through where the slope is that, 5 from the middle


def find_saturated(dataflow: Dataflow, measured: Measured) -> list[Suspect]:
    """Return the activations that let next to nothing back.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    wide = list(_wide(dataflow, measured))
    # A loss may take the same logits as a softmax, which tells more.
    others = [one for one in wide if op_type_of(dataflow.run, one.event) not in _LOSSES]
    found = others or wide or list(_flat(dataflow, measured))
    return list(_once_a_layer(dataflow, found))


def _once_a_layer(dataflow: Dataflow, found: list[Suspect]) -> Iterator[Suspect]:
    """Yield the first suspect of each layer: a recurrent cell has several gates, or several calls.

    Args:
        dataflow: Of the run.
        found: Suspects; those of no layer are all yielded.
    """
    of_layers: dict[Hashable, list[Suspect]] = defaultdict(list)
    for suspect in found:
        forward = forward_op(dataflow, suspect.event)
        layer = forward.layer if forward else recorded_layer(dataflow.run, suspect.event)
        of_layers[layer or suspect.event, suspect.rule.id].append(suspect)
    for first, *others in of_layers.values():
        if others:
            evidence = f"{first.match.evidence}; seen in {len(others) + 1:,} ops of the layer"
            times = first.times + sum(other.times for other in others)
            yield replace(first, match=replace(first.match, evidence=evidence), times=times)
        else:
            yield first


def _wide(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield activations of what is far too large, from the first computation on or of late."""
    run = dataflow.run
    for event, found in measured:
        op_type = op_type_of(run, event)
        if op_type not in _BEFORE or event.slot or is_backward(run, event):
            continue
        given = next(iter(dataflow.producers(event)), None)
        if given is None or given.event is None:
            continue
        made_by = {given.op_type}
        if given.op_type in _PARTS:
            made_by = {made.op_type for made in dataflow.producers(given.event)}
        if not made_by & _BEFORE[op_type]:
            continue
        before = magnitudes_of(dataflow, given.event)
        if len(before) < _MANY:
            continue
        width = _width(dataflow, event, before, given.event)
        if width is None:
            continue
        low, high, wide = width
        times = len(wide)
        always = times == len(before)
        evidence = (
            f"what {op_type} takes was too wide in {'each of' if always else 'the last'} "
            f"{times:,} computations measured{in_which_steps(run, wide)}: "
            f"at last from {low:.3g} to {high:.3g}"
        )
        # It is so from the first step on, where the others may be for a step that is later.
        shown = event if op_type not in _LOSSES else replace(event, index=int(found.rows[0]))
        match, since = Match("likely", evidence), first_step(run, wide)
        yield Suspect(shown, _rule(op_type), match, times, since=since)


def _rule(op_type: str) -> Defect:
    if op_type in _LOSSES:
        return SATURATED_LOSS
    return SATURATED_SOFTMAX if op_type in _SOFTMAX else SATURATED_ACTIVATION


def _width(
    dataflow: Dataflow, event: TensorEvent, before: Magnitudes, given: TensorEvent
) -> tuple[float, float, Magnitudes] | None:
    """Return from where to where what an activation takes runs, and the computations of which.

    None where it is not too wide: from the first computation on, or far more so since a later one.

    Args:
        dataflow: Of the run.
        event: The result of the activation.
        before: The magnitudes of what it takes.
        given: A computation of that.
    """
    op_type = op_type_of(dataflow.run, event)
    softmax = op_type in _SOFTMAX | _LOSSES
    width = _APART if softmax else 2 * _WIDE
    if softmax and _is_attention(dataflow, event):
        width = _APART_IN_ATTENTION
    later = _FAR_TOO_WIDE * _APART if softmax else 2 * _WIDE_LATER
    small = np.flatnonzero(before.largest < later / 2)
    since_small = int(small[-1]) + 1 if small.size else 0
    widths = [(width, 0), (later, since_small)]
    for least, since in [(_APART_IN_LOSS, 0)] if op_type in _LOSSES else widths:
        mine = before.some(np.arange(since, len(before)))
        if len(mine) < _MANY or mine.largest.min() < least / 2:
            continue
        rows = sample_of(mine.rows, _SAMPLE)
        events = [replace(given, index=row) for row in rows.tolist()]
        size = _PAIR if softmax and least == _FAR_TOO_WIDE * _APART else _SOME_SIZE
        ends = [
            _ends(summary_of(dataflow.run, one), least, size, softmax=softmax) for one in events
        ]
        if all(ends) and ends[-1]:
            return (*ends[-1], mine)
    return None


def _is_attention(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a softmax weighs what products have been compared for."""
    uses = [use.op_type for use in dataflow.consumers(event) if use.event is not None]
    return any(op_type in _SUMS for op_type in uses)


def _ends(
    summary: TensorSummary | None, width: float, size: int, *, softmax: bool
) -> tuple[float, float] | None:
    """Return the extremes of a tensor, if it is that wide, and no mask.

    Of what a softmax takes only differences count.  What is far too large for another activation
    need not be so on both sides.
    """
    if summary is None or summary.minimum is None or summary.maximum is None:
        return None
    low, high = summary.minimum, summary.maximum
    if softmax:
        is_wide = high - low >= width and low >= -_MASKED * max(high, 0.0)
    elif width > 2 * _WIDE:
        is_wide = max(-low, high) >= width / 2 and min(abs(low), abs(high)) >= _FLAT_FROM
    else:
        is_wide = min(-low, high) >= width / 2
    return (low, high) if is_wide and (summary.size or 0) >= size else None


def _flat(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield the gradients of tanh and sigmoid that let next to nothing back."""
    run = dataflow.run
    for event, found in measured:
        summary = summary_of(run, event) if op_type_of(run, event) in _SLOPES else None
        if summary is None or (summary.size or 0) < _SOME_SIZE:
            continue
        given = next((p.event for p in dataflow.producers(event) if p.input_slot == 1), None)
        before = magnitudes_of(dataflow, given) if given is not None else found
        if len(before) != len(found):
            continue
        slopes = np.flatnonzero((before.largest == 0) | (found.largest > _FLAT * before.largest))
        since = int(slopes[-1]) + 1 if slopes.size else 0
        flat = found.some(np.arange(since, len(found)))
        if len(flat) >= _MANY:
            evidence = (
                f"of gradients up to {before.largest[-1]:.3g} come back at most "
                f"{flat.largest[-1]:.3g}{in_which_steps(run, flat)}"
            )
            match, first = Match("likely", evidence), first_step(run, flat)
            yield Suspect(event, SATURATED_ACTIVATION, match, len(flat), since=first)
