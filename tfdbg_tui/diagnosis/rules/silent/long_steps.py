"""Trainings whose steps are longer than the weights are large, so that nothing is left of these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import size_of
from tfdbg_tui.diagnosis.history import by_step, in_step, measured_tensors
from tfdbg_tui.diagnosis.locations import location_of
from tfdbg_tui.diagnosis.losses import losses, losses_that_fall, magnitudes_of_loss
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import ONE_STEP_TOO_LONG, STEPS_TOO_LONG
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.updates import changed_at, layer_of_variable
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run, Variable
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_SOME_SIZE = 32  # elements of a variable: a single number may start anywhere
_NOT_ZERO = 0.005  # that a variable starts with at least: from 0 it may go anywhere
_MANY = 3  # measured steps of a variable
_FEW_STEPS = 4  # within which it becomes so many times what it was:
_TIMES = 5.0
_ADDED = 1.0  # and larger by this at least
_TIMES_AT_ONCE = 50.0  # or so many times between two that are measured
_ADDED_AT_ONCE = 10.0  # and larger by this at least
_VARIABLES = 2  # that show it at least, and half of all
_RAISED = 1e3  # times what it was, of a loss and of variables that one step has made larger


class _Jump(NamedTuple):
    """A variable that was changed by far more than it was.

    Attributes:
        variable: The variable.
        event: A computation of its value after that.
        text: From what to what it changed.
        times: How many times it is what it was.
        lasting: How many times what it was it is in the end.
        first: The step before that.
        before: How many steps were measured before it had changed.
    """

    variable: Variable
    event: TensorEvent
    text: str
    times: float
    lasting: float
    first: int
    before: int


class _RaisedLoss(NamedTuple):
    """A loss that was far above what it was at first.

    Attributes:
        step: When.
        text: How far.
    """

    step: int
    text: str


def find_long_steps(dataflow: Dataflow) -> list[Suspect]:
    """Return the variable that a few steps of a training changed most, if they did so with most.

    Where all losses become smaller that may be meant, as of embeddings that begin next to 0; not
    where the loss has risen as far in the same steps, and the variables have stayed as large as
    they became.
    """
    if not dataflow.variables.trained:
        return []
    values = _values(dataflow)
    jumps = [_jump(dataflow.run, variable, *value) for variable, value in values.items()]
    found = [jump for jump in jumps if jump is not None]
    if len(found) < max(_VARIABLES, len(values) / 2):
        return []
    found.sort(key=lambda jump: -jump.times)
    most, fall, raised = found[0], losses_that_fall(dataflow), None
    if fall and all(fall):
        stay = all(jump.lasting >= _RAISED for jump in found)
        raised = _raised_loss(dataflow, most) if stay else None
        if raised is None:
            return []
    evidence = (
        f"the largest number of {most.variable.name} grew {most.text}; so did "
        f"{len(found) - 1:,} of {len(values) - 1:,} other variables"
        f"{raised.text if raised is not None else ''}"
    )
    layer, others = first_and_others(layer_of_variable(dataflow, jump.variable) for jump in found)
    stack_id = changed_at(dataflow, most.variable)
    return [
        Suspect(
            most.event,
            ONE_STEP_TOO_LONG if raised is not None and most.before >= _MANY else STEPS_TOO_LONG,
            Match("likely", evidence),
            len(found),
            layer,
            others,
            since=raised.step if raised is not None and most.before >= _MANY else None,
            line=location_of(dataflow.run, stack_id),
            stack_id=stack_id,
        )
    ]


def _raised_loss(dataflow: Dataflow, jump: _Jump) -> _RaisedLoss | None:
    """Return how far a loss was above what it was when a variable changed; None for not far.

    Args:
        dataflow: Of the run.
        jump: How the variable changed.
    """
    for loss in losses(dataflow):
        steps, largest = by_step(dataflow.run, magnitudes_of_loss(dataflow, loss))
        far = (steps >= jump.first) & (largest >= _RAISED * largest[:1])
        if far.any() and largest[0] > 0:
            step, most = int(steps[far][0]), float(largest[far][0])
            text = f"; the loss was {largest[0]:.3g} at first, {most:.3g} in step {step:,}"
            return _RaisedLoss(step, text)
    return None


def _values(dataflow: Dataflow) -> dict[Variable, tuple[TensorEvent, Magnitudes]]:
    """Return the values of the variables that are trained, as read where most are measured.

    Those that a loop reads are left out: it may take any number of steps.
    """
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    found: dict[Variable, tuple[TensorEvent, Magnitudes]] = {}
    for event, measured in measured_tensors(run):
        if len(measured) < _MANY or _is_in_loop(dataflow, event):
            continue
        for variable, mine in values.of_measured(event, measured):
            before = found.get(variable)
            if before is not None and len(mine) <= len(before[1]):
                continue
            if variable.trainable and not variable.slot_of and _is_of_some_size(run, event, mine):
                found[variable] = event, mine
    return found


def _is_in_loop(dataflow: Dataflow, event: TensorEvent) -> bool:
    if event.kind == "execution":
        return False
    return dataflow.timeline.at(event.index).iteration is not None


def _is_of_some_size(run: Run, event: TensorEvent, found: Magnitudes) -> bool:
    """Whether a variable has several elements, and did not begin with 0."""
    size = size_of(run, replace(event, index=int(found.rows[-1])))
    return size >= _SOME_SIZE and bool(found.largest[0] >= _NOT_ZERO)


def _jump(run: Run, variable: Variable, event: TensorEvent, found: Magnitudes) -> _Jump | None:
    """Return how a variable has become far larger within a few steps; None if it has not.

    Args:
        run: The run.
        variable: The variable.
        event: A computation of its value.
        found: The magnitudes of that.
    """
    steps, largest = by_step(run, found)
    ends = _ends(steps, largest)
    if ends is None or largest[-1] < _TIMES * largest[ends[0]]:
        return None
    first, last = ends
    text = (
        f"from {largest[first]:.3g} in step {steps[first]:,} to {largest[last]:.3g} in step "
        f"{steps[last]:,}, and is {largest[-1]:.3g} in step {steps[-1]:,}"
    )
    after = in_step(run, event, found, int(steps[last]))
    times, lasting = (float(largest[place] / largest[first]) for place in (last, -1))
    return _Jump(variable, after, text, times, lasting, int(steps[first]), last)


def _ends(steps: Int64Array, largest: Floats) -> tuple[int, int] | None:
    """Return between which places numbers have become far larger first; None if they have not."""
    for first, before in enumerate(largest[:-1].tolist()):
        within = largest[first + 1 : np.searchsorted(steps, steps[first] + _FEW_STEPS, "right")]
        far = np.flatnonzero(within >= max(_TIMES * before, before + _ADDED))
        if far.size:
            return first, first + 1 + int(far[0])
        if largest[first + 1] >= max(_TIMES_AT_ONCE * before, before + _ADDED_AT_ONCE):
            return first, first + 1
    return None
