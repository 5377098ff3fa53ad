"""Layers that cannot learn, as magnitudes tell: nothing goes forward through them, or back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.history import measured_tensors
from tfdbg_tui.diagnosis.rules.silent.dead_relu import find_off, is_given
from tfdbg_tui.diagnosis.rules.silent.fading import find_fading
from tfdbg_tui.diagnosis.rules.silent.gradient_underflow import find_underflowing
from tfdbg_tui.diagnosis.rules.silent.layer_gradients import MANY, gradients_by_training
from tfdbg_tui.diagnosis.rules.silent.no_gradient import find_no_gradient, find_unreached
from tfdbg_tui.diagnosis.rules.silent.norm_of_one import find_norms_of_one
from tfdbg_tui.diagnosis.rules.silent.saturation import find_saturated
from tfdbg_tui.diagnosis.rules.silent.tiny_updates import find_standing
from tfdbg_tui.diagnosis.rules.silent.vanishing import find_vanishing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes


def find_stalled(dataflow: Dataflow) -> list[Suspect]:
    """Return the layers that nothing comes through, in all that was measured of late."""
    measured = [(event, found) for event, found in _finite(dataflow.run) if len(found) >= MANY]
    if not dataflow.variables.trained:
        return [one for one in find_off(dataflow, measured) if is_given(dataflow, one)]
    norms = find_norms_of_one(dataflow, measured)
    trainings = [
        [one for one in gradients if one.layer not in norms.behind or one.largest.any()]
        for gradients in gradients_by_training(dataflow.run, measured)
    ]
    found = [*find_off(dataflow, measured), *find_saturated(dataflow, measured)]
    for gradients in trainings:
        found += find_vanishing(dataflow, gradients)
    found += find_fading(dataflow, measured)
    for gradients in trainings:
        found = found or list(find_underflowing(dataflow, gradients))
    for gradients in trainings:
        if any(gradient.largest.any() for gradient in gradients):
            found = found or list(find_unreached(dataflow, measured, gradients))
        else:
            found = found or list(find_no_gradient(dataflow, measured, gradients))
    for gradients in trainings:
        found = found or find_standing(dataflow, gradients)
    return [*norms.suspects, *found]


def _finite(run: Run) -> Iterator[tuple[TensorEvent, Magnitudes]]:
    """Yield the measured tensors, by those of their computations that hold no NaN and no ∞.

    Of others it is the largest of what is left that is on record, which may be 0.
    """
    bad = {
        "execution": run.executions.alert_rows[:],
        "graph_execution": run.graph_executions.alert_rows[:],
    }
    for event, found in measured_tensors(run):
        before = np.searchsorted(bad[event.kind], found.rows)
        until = np.searchsorted(bad[event.kind], found.rows, side="right")
        yield event, found.some(before == until)
