"""What optimizers keep, grown so large that their steps are next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import Calls
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import OPTIMIZER_SLOT_EXPLODED
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.updates import layer_of_variable
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_HUGE = 1e15
_MANY = 8  # computations in which it is that large, up to the last
_BESIDE = 1e4
"""So many times the largest gradient its root is: the steps are that much shorter than before."""


def find_exploded_slots(run: Run, dataflow: Dataflow) -> list[Suspect]:
    """Return what an optimizer keeps of squares of gradients, where it is beyond all of them.

    Args:
        run: The run.
        dataflow: Of the run.
    """
    if not dataflow.variables.trained:
        return []
    huge = [
        (event, found)
        for event, found in measured_tensors(run)
        if len(found) >= _MANY and found.largest[-_MANY:].min() >= _HUGE
    ]
    if not huge:
        return []
    gradient = max(
        (found.largest[-1] for event, found in measured_tensors(run) if is_backward(run, event)),
        default=0.0,
    )
    values = VariableValues(run, Calls(run))
    for event, found in sorted(huge, key=lambda one: -one[1].largest[-1]):
        slot = _slot(run, values, event, found)
        size = float(found.largest[-1])
        if slot is not None and gradient and np.sqrt(size) >= _BESIDE * gradient:
            evidence = (
                f"{slot.optimizer} keeps {slot.name} of up to {size:.3g}{_since(run, found)}, "
                f"whose root is {np.sqrt(size):.3g}, while gradients are at most {gradient:.3g}"
            )
            match = Match("likely", evidence)
            layer = layer_of_variable(run, slot)
            return [Suspect(event, OPTIMIZER_SLOT_EXPLODED, match, len(found), layer)]
    return []


def _since(run: Run, found: Magnitudes) -> str:
    """Say in which step it was first measured to be that large, where it had been smaller."""
    steps, largest = by_step(run, found)
    first = int(np.argmax(largest >= _HUGE))
    return f" (beyond {_HUGE:.0e} by step {steps[first]:,})" if first else ""


def _slot(
    run: Run, values: VariableValues, event: TensorEvent, found: Magnitudes
) -> Variable | None:
    """Return the variable of an optimizer whose value a tensor is, if it is one."""
    if event.kind == "graph_execution":
        value = values.of_site(run.graph_executions.site(event.index))
        variable = value.variable if value is not None and not value.is_update else None
    else:
        variable = values.of_executions(found.rows[-1:].tolist(), run.executions.kind(event.index))
    return variable if variable is not None and variable.slot_of else None
