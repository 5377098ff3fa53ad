"""Which weights grew first, in a training that diverged: what overflows may be of no layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.report.when import step_of
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Variable
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats

_GROWN = 2.0  # times what they were at first
_OTHERS = 2  # variables that are compared: of one alone there is nothing to tell


def grown_first(dataflow: Dataflow, event: TensorEvent) -> str:
    """Say which weights had grown most in the first step in which any had, up to that of an event.

    Args:
        dataflow: Of the run.
        event: What overflowed.

    Returns:
        The end of a sentence; "" where no weights had grown, as far as was measured.
    """
    until = step_of(dataflow, event)
    if until is None:
        return ""
    values = _values(dataflow)
    grown: list[tuple[int, float, str]] = []
    for variable, (steps, largest) in values.items():
        far = np.flatnonzero((largest >= _GROWN * largest[0]) & (steps <= until))
        if far.size and largest[0] > 0:
            first, last = float(largest[0]), float(largest[far[0]])
            step = int(steps[far[0]])
            text = (
                f"{variable.name}, from {first:.3g} in step {steps[0]:,} to {last:.3g} in step "
                f"{step:,}"
            )
            grown.append((step, -last / first, text))
    if not grown or len(values) < _OTHERS:
        return ""
    return f"; the weights that grew first: {min(grown)[2]}"


def _values(dataflow: Dataflow) -> dict[Variable, tuple[Int64Array, Floats]]:
    """Return how large the variables that are trained were by step, where most are measured."""
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    found: dict[Variable, tuple[Int64Array, Floats]] = {}
    for event, measured in measured_tensors(run):
        for variable, mine in values.of_measured(event, measured):
            history = by_step(run, mine)
            known = len(found[variable][0]) if variable in found else 0
            is_weight = variable.trainable and not variable.slot_of
            if is_weight and len(history[0]) > known:
                found[variable] = history
    return found
