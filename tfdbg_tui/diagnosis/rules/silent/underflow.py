"""Gradients that are computed in float16, and too small for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import dtype_of, measured_tensors
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import GRADIENT_UNDERFLOW
from tfdbg_tui.diagnosis.rules.silent.stalled import OF_LAYERS
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Run

_MANY = 8  # measured computations that have to show it
_SOME = 2  # tensors: one alone may be of what is left out
_SMALLEST = float(np.finfo(np.float16).tiny)
"""The smallest float16 that has all its digits."""


def find_underflow(run: Run, dataflow: Dataflow) -> list[Suspect]:
    """Return the first gradient of a layer in float16, where all are below its range all the time.

    Args:
        run: The run.
        dataflow: Of the run.
    """
    if not dataflow.variables.trained:
        return []
    gradients = [
        (event, found)
        for event, found in measured_tensors(run)
        if op_type_of(run, event) in OF_LAYERS
        and is_backward(run, event)
        and dtype_of(run, event) == "float16"
    ]
    if len(gradients) < _SOME or min(len(found) for _, found in gradients) < _MANY:
        return []
    largest = max(float(found.largest.max()) for _, found in gradients)
    if largest >= _SMALLEST:
        return []
    event, first = min(gradients, key=lambda gradient: gradient[0].index)
    evidence = (
        f"all {len(gradients):,} gradients of layers in float16 are at most {largest:.3g} in all "
        f"{len(first):,} computations measured: numbers below {_SMALLEST:.3g} lose digits, and "
        "those below 3e-8 are 0"
    )
    return [Suspect(event, GRADIENT_UNDERFLOW, Match("likely", evidence), len(gradients))]
