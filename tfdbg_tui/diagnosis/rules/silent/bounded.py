"""Losses that have reached the bound of a logarithm, as one with the wrong sign does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, in_step, magnitudes_of
from tfdbg_tui.diagnosis.losses import losses, magnitudes_of_loss
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import LOSS_AT_BOUND
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MANY = 8  # measured steps of a loss
_LAST = 3  # of them, in which it is at the bound
_GROWN = 3.0  # times what it was in its first steps
_LEAST = 9.0  # -log(1e-4): nobody bounds a probability by more
_NEAR = 0.2  # of the bound: not all examples are there
_SAME = 0.01  # of the bound, which is the same whatever the examples are
_TERMS = 2  # of a loss: log(real) + log(1 - fake)
_SOME_SIZE = 8  # elements of a logarithm: that of a mean is no bound, however small it is
_FOLLOWED = 60  # tensors that a loss is made of
_BOUNDED = frozenset({"Log", "Log1p"})


def find_at_bound(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the losses below 0 that are as low as the logarithms that they are means of can get."""
    run = dataflow.run
    for loss in losses(dataflow):
        found = magnitudes_of_loss(dataflow, loss)
        steps, largest = by_step(run, found)
        if len(steps) < _MANY or not _extremes(run, loss, found)[1] < 0:
            continue
        first, last = float(np.median(largest[:_LAST])), largest[-_LAST:]
        if last.min() < max(_LEAST, _GROWN * first):
            continue
        for made in _logarithms(dataflow, loss):
            bound = _bound(dataflow, made)
            terms = round(float(last[-1]) / bound) if bound else 0
            if 0 < terms <= _TERMS and last.min() >= (1 - _NEAR) * terms * bound:
                reached = steps[int(np.argmax(largest >= (1 - _NEAR) * terms * bound))]
                evidence = (
                    f"the loss was {first:.3g} away from 0 in steps {steps[0]:,} to "
                    f"{steps[_LAST - 1]:,}, and is {-last[-1]:.5g} in step {steps[-1]:,}; "
                    f"the logarithm in it gets no lower than {-bound:.5g}"
                )
                event = in_step(run, loss, found, int(reached))
                yield Suspect(event, LOSS_AT_BOUND, Match("likely", evidence), _LAST)
                break


def _extremes(run: Run, event: TensorEvent, found: Magnitudes) -> tuple[float, float]:
    """Return the smallest and the largest element of a tensor when it was measured last."""
    summary = summary_of(run, replace(event, index=int(found.rows[-1])))
    if summary is None or summary.minimum is None or summary.maximum is None:
        return np.nan, np.nan
    return summary.minimum, summary.maximum


def _bound(dataflow: Dataflow, event: TensorEvent) -> float:
    """Return how far below 0 a logarithm was at its lowest; 0 where that is no bound."""
    found = magnitudes_of(dataflow, event)
    summary = summary_of(dataflow.run, event)
    if len(found) < _LAST or summary is None or (summary.size or 0) < _SOME_SIZE:
        return 0.0
    lowest = -_extremes(dataflow.run, event, found)[0]
    is_same = (abs(found.largest[-_LAST:] - lowest) <= _SAME * lowest).all()
    return lowest if lowest >= _LEAST and is_same else 0.0


def _logarithms(dataflow: Dataflow, loss: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the nearest logarithms that a loss is made of."""
    waiting, seen = [loss], {loss}
    while waiting and len(seen) < _FOLLOWED:
        event = waiting.pop(0)
        if op_type_of(dataflow.run, event) in _BOUNDED:
            yield event
            continue
        made = {p.event for p in dataflow.producers(event) if p.event is not None} - seen
        forward = [one for one in made if not is_backward(dataflow.run, one)]
        seen.update(forward)
        waiting += sorted(forward, key=lambda one: (one.kind, one.index, one.slot))
