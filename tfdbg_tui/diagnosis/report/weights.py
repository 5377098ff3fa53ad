"""Which weights grew first, in a training that diverged: what overflows may be of no layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.rules.model import WeightGrowth
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Variable
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats

_GROWN = 2.0  # times what they were at first


def weights_by_step(dataflow: Dataflow) -> dict[Variable, tuple[Int64Array, Floats]]:
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


def grown_first(
    weights: Mapping[Variable, tuple[Int64Array, Floats]], until: int
) -> tuple[Variable, WeightGrowth] | None:
    """Return the weights that had grown most in the first step in which any had, and how far.

    Args:
        weights: How large they were; see `weights_by_step`.
        until: The last step that counts.

    Returns:
        None where no weights had grown, as far as was measured.
    """
    grown: list[tuple[int, float, Variable, WeightGrowth]] = []
    most = 1.0
    for variable, (steps, largest) in weights.items():
        steps, largest = steps[steps <= until], largest[steps <= until]
        far = np.flatnonzero(largest >= _GROWN * largest[:1])
        if not far.size or not largest[0]:
            continue
        first, last, place = float(largest[0]), float(largest[far[0]]), int(steps[far[0]])
        growth = WeightGrowth(variable.name, int(steps[0]), first, place, last)
        grown.append((place, -last / first, variable, growth))
        most = max(most, float(largest.max()) / first)
    if not grown:
        return None
    _, _, variable, growth = min(grown, key=lambda one: one[:2])
    return variable, replace(growth, most=most)
