"""What optimizers keep, grown so large that their steps are next to nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.losses import falls_after
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import OPTIMIZER_SLOT_EXPLODED
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.updates import layer_of_variable
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_HUGE = 1e15
_LARGE = 1e9  # is enough where no loss gets smaller after that
_MANY = 3  # measured computations of a variable, up to the last, in which it is that large
_BESIDE = 1e4
"""So many times the largest gradient its root is: the steps are that much shorter than before."""


class _Kept(NamedTuple):
    """What an optimizer keeps of a variable, beyond all gradients.

    Attributes:
        event: The last computation of its value.
        slot: The variable that holds it.
        size: Its largest number at last.
        since: The first of the measured steps in which it is that large; None where it is of none.
        text: How it got there, where it had been smaller.
        times: How often it was measured.
    """

    event: TensorEvent
    slot: Variable
    size: float
    since: int | None
    text: str
    times: int


def find_exploded_slots(dataflow: Dataflow) -> list[Suspect]:
    """Return what an optimizer keeps of squares of gradients, where it is beyond all of them."""
    run = dataflow.run
    if not dataflow.variables.trained:
        return []
    large = [
        (event, found) for event, found in measured_tensors(run) if found.largest.max() >= _LARGE
    ]
    if not large:
        return []
    gradient = max(
        (
            float(np.median(found.largest[-_MANY:]))  # one batch may be unlike all others
            for event, found in measured_tensors(run)
            if is_backward(run, event)
        ),
        default=0.0,
    )
    least = max(_LARGE, (_BESIDE * gradient) ** 2)
    if not gradient:
        return []
    values = VariableValues(run, dataflow.calls)
    beyond = [
        _kept(run, event, slot, found, least)
        for event, read in large
        for slot, found in values.of_measured(event, read)
        if slot.slot_of and len(found) >= _MANY and found.largest[-_MANY:].min() >= least
    ]
    beyond = [one for one in beyond if one.size >= _HUGE or _is_harmed(dataflow, one)]
    if not beyond:
        return []
    beyond.sort(key=lambda one: -one.size)
    most = beyond[0]
    evidence = (
        f"{most.slot.optimizer} keeps {most.slot.name} of up to {most.size:.3g}{most.text}, "
        f"whose root is {np.sqrt(most.size):.3g}, while gradients are at most {gradient:.3g}"
    )
    layer, others = first_and_others(layer_of_variable(dataflow, one.slot) for one in beyond)
    return [
        Suspect(
            most.event,
            OPTIMIZER_SLOT_EXPLODED,
            Match("likely", evidence),
            most.times,
            layer,
            others,
            since=most.since,
        )
    ]


def _kept(run: Run, event: TensorEvent, slot: Variable, found: Magnitudes, least: float) -> _Kept:
    """Return what an optimizer keeps of a variable.

    Args:
        run: The run.
        event: A computation of its value.
        slot: The variable that holds it.
        found: The magnitudes of the values.
        least: From which on it is beyond all gradients.
    """
    steps, largest = by_step(run, found)
    since, text = None, ""
    if steps.size:
        small = np.flatnonzero(largest < least)
        first = int(small[-1]) + 1 if small.size else 0
        since = int(steps[first])
        if first:
            text = (
                f" ({largest[first - 1]:.3g} in step {steps[first - 1]:,}, "
                f"{largest[first]:.3g} in step {since:,})"
            )
    last = replace(event, index=int(found.rows[-1]))
    return _Kept(last, slot, float(found.largest[-1]), since, text, len(found))


def _is_harmed(dataflow: Dataflow, kept: _Kept) -> bool:
    """Whether no loss gets smaller after what is kept has become that large."""
    return kept.since is not None and not falls_after(dataflow, kept.since)
