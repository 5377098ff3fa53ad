"""What optimizers keep, grown so large that their steps are next to nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import OPTIMIZER_SLOT_EXPLODED
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.updates import layer_of_variable
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_HUGE = 1e15
_MANY = 3  # measured computations of a variable, up to the last, in which it is that large
_BESIDE = 1e4
"""So many times the largest gradient its root is: the steps are that much shorter than before."""


def find_exploded_slots(dataflow: Dataflow) -> list[Suspect]:
    """Return what an optimizer keeps of squares of gradients, where it is beyond all of them."""
    run = dataflow.run
    if not dataflow.variables.trained:
        return []
    large = [
        (event, found) for event, found in measured_tensors(run) if found.largest.max() >= _HUGE
    ]
    if not large:
        return []
    gradient = max(
        (found.largest[-1] for event, found in measured_tensors(run) if is_backward(run, event)),
        default=0.0,
    )
    if not gradient:
        return []
    values = VariableValues(run, dataflow.calls)
    beyond = [
        (replace(event, index=int(found.rows[-1])), found, slot)
        for event, read in large
        for slot, found in values.of_measured(event, read)
        if slot.slot_of
        and len(found) >= _MANY
        and found.largest[-_MANY:].min() >= _HUGE
        and np.sqrt(found.largest[-1]) >= _BESIDE * gradient
    ]
    if not beyond:
        return []
    beyond.sort(key=lambda one: -one[1].largest[-1])
    event, found, slot = beyond[0]
    size = float(found.largest[-1])
    evidence = (
        f"{slot.optimizer} keeps {slot.name} of up to {size:.3g}{_since(run, found)}, "
        f"whose root is {np.sqrt(size):.3g}, while gradients are at most {gradient:.3g}"
    )
    layer, others = first_and_others(layer_of_variable(dataflow, slot) for _, _, slot in beyond)
    return [
        Suspect(
            event,
            OPTIMIZER_SLOT_EXPLODED,
            Match("likely", evidence),
            len(found),
            layer,
            others,
        )
    ]


def _since(run: Run, found: Magnitudes) -> str:
    """Say in which step it was first measured to be that large, where it had been smaller."""
    steps, largest = by_step(run, found)
    first = int(np.argmax(largest >= _HUGE))
    return f" (beyond {_HUGE:.0e} by step {steps[first]:,})" if first else ""
