"""How a tensor grew from step to step, or from iteration to iteration, before it was bad."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from tfdbg_tui.diagnosis.events import name_of, op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of
from tfdbg_tui.diagnosis.losses import losses, magnitudes_of_loss, target_of
from tfdbg_tui.diagnosis.report.when import element_of, step_of
from tfdbg_tui.diagnosis.rules.model import Fall, Growth, Start, Steady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_LEAST = 100  # times, from the first step of the growth to the last
_STEPS = 3  # that have to be on record
_FALLEN = 4  # times what it was at first, that a loss below 0 has become at least
_SWINGS = 1e6
"""Times what it was at first: a tensor that is so large has grown, even if it has fallen since."""
_HUGE = 1e10  # that no loss begins with, if data and weights are of usual size
_SQUARES = frozenset({"Square"})
"""Ops by which optimizers begin: of gradients."""
_HANDS_ON = frozenset({"Cast", "Identity", "IdentityN"})
_FROM_GRADIENT = 4  # ops from a gradient to what an optimizer makes of it first
_POWER = 4.0  # the largest power of itself that a tensor is expected to grow by
_AS_BEFORE = 10.0  # times what it was in the middle of the steps before it is no larger, at most


def growths_of(dataflow: Dataflow, event: TensorEvent) -> tuple[Growth | None, Growth | None]:
    """Return how a tensor grew before an event; None where it did not, or little.

    Args:
        dataflow: Of the run.
        event: A computation of the tensor.

    Returns:
        How it grew in the steps before, or with the elements of a dataset that one call loops over;
        and in the iterations before, in the same run of a loop.
    """
    found = magnitudes_of(dataflow, event)
    found = found.some(found.rows < event.index)
    element = element_of(dataflow, event)
    iteration = dataflow.timeline.at(event.index).iteration if event.kind != "execution" else None
    of_steps = _growth(*by_step(dataflow.run, found))
    growth = _in_loop(dataflow, event, found, element, "batch") or of_steps
    return growth, _in_loop(dataflow, event, found, iteration, "iteration")


def growth_of_gradient(dataflow: Dataflow, event: TensorEvent) -> Growth | None:
    """Return how the gradient that an optimizer takes grew over the iterations of a loop.

    Args:
        dataflow: Of the run.
        event: What the optimizer makes of it.
    """
    made = event
    for _ in range(_FROM_GRADIENT):
        slot = made.slot if op_type_of(dataflow.run, made) == "IdentityN" else 0
        given = [producer.event for producer in dataflow.producers(made)][slot : slot + 1]
        if not given or given[0] is None:
            return None
        made = given[0]
        if op_type_of(dataflow.run, made) not in _HANDS_ON:
            break
    return growths_of(dataflow, made)[1]


def steady_before(dataflow: Dataflow, event: TensorEvent) -> Steady | None:
    """Return how large a tensor was before an event, if it had not grown up to the step before.

    None where it had, or where it was not measured then, and may have grown since.

    Args:
        dataflow: Of the run.
        event: A computation of the tensor.
    """
    step = step_of(dataflow, event)
    found = magnitudes_of(dataflow, event)
    steps, largest = by_step(dataflow.run, found.some(found.rows < event.index))
    if step is None or len(steps) < _STEPS or steps[-1] < step - 1:
        return None
    at_first = largest[largest > 0][:1]
    if (largest.max() > _SWINGS * at_first).any():
        return None
    if largest[-1] > _AS_BEFORE * np.median(largest[:-1]):
        return None
    return Steady(int(steps[0]), int(steps[-1]), float(largest.max()))


def start_of(dataflow: Dataflow, event: TensorEvent) -> Start | None:
    """Return a gradient, or a loss, as it was in the first step, where it was huge then.

    Not what is made of a gradient and a learning rate: that may be for the rate to blame.

    Args:
        dataflow: Of the run.
        event: A later computation of the tensor.
    """
    run, execution = dataflow.run, dataflow.timeline.execution_at(event)
    if execution is None:
        return None
    known = [(loss, _of_loss_or_parts(dataflow, loss), _HUGE) for loss in losses(dataflow)]
    if op_type_of(run, event) in _SQUARES:
        known.append((event, magnitudes_of(dataflow, event), _HUGE**2))
    elif is_backward(run, event):
        known.append((event, magnitudes_of(dataflow, event), _HUGE))
    for one, found, bound in known:
        # A loss may be of a graph and the tensor eager, or the other way round.
        steps, largest = by_step(run, found.some(found.executions < execution))
        first = run.executions.steps.numbers[:1]
        if steps.size and steps[0] == first and largest[0] >= bound:
            return Start(name_of(run, one), float(largest[0]), int(steps[0]))
    return None


def _of_loss_or_parts(dataflow: Dataflow, loss: TensorEvent) -> Magnitudes:
    """Return the magnitudes of a loss, and those of what its line had added up before.

    Args:
        dataflow: Of the run.
        loss: A computation of it.
    """
    same_line = dataflow.timeline.alike(loss.index) if loss.kind == "execution" else ()
    made_of = (producer.event for producer in dataflow.producers(loss))
    adds_up = any(made is not None and made.index in same_line for made in made_of)
    return (magnitudes_of if adds_up else magnitudes_of_loss)(dataflow, loss)


def fall_of_loss(dataflow: Dataflow, event: TensorEvent) -> Fall | None:
    """Return how a loss has become smaller and smaller before an event, below 0; None if none has.

    Args:
        dataflow: Of the run.
        event: A computation of a tensor.
    """
    return next((fall for _, fall in _falls(dataflow, event)), None)


def loss_that_fell(dataflow: Dataflow, event: TensorEvent) -> TensorEvent | None:
    """Return the loss that `fall_of_loss` is of.

    Args:
        dataflow: Of the run.
        event: A computation of a tensor.
    """
    return next((loss for loss, _ in _falls(dataflow, event)), None)


def _falls(dataflow: Dataflow, event: TensorEvent) -> Iterator[tuple[TensorEvent, Fall]]:
    """Yield the losses that have become smaller and smaller before an event, and how.

    Args:
        dataflow: Of the run.
        event: A computation of a tensor.
    """
    step = step_of(dataflow, event)
    if step is None:
        return
    asked = (target_of(dataflow, request) for request in dataflow.run.gradient_requests)
    for loss in dict.fromkeys(asked):
        fall = _fall(dataflow, loss, step) if loss is not None else None
        if loss is not None and fall is not None:
            yield loss, fall


def _fall(dataflow: Dataflow, loss: TensorEvent, step: int) -> Fall | None:
    run, found = dataflow.run, magnitudes_of_loss(dataflow, loss)
    found = found.some(found.executions >= 0)
    steps = run.executions.steps.numbers_of(found.executions)
    places = np.flatnonzero((steps >= 0) & (steps < step))
    if len(places) < _STEPS:
        return None
    first, *last = (
        summary_of(run, replace(loss, index=int(found.rows[place])))
        for place in (places[0], *places[-_STEPS:])
    )
    values = [one.maximum for one in last if one is not None and one.maximum is not None]
    if first is None or first.maximum is None or len(values) < _STEPS:
        return None
    falls = values[0] < 0 and all(after < before for before, after in pairwise(values))
    if not falls or -values[-1] < _FALLEN * abs(first.maximum):
        return None
    ends = int(steps[places[0]]), int(steps[places[-1]])
    return Fall(ends[0], first.maximum, ends[1], values[-1])


def not_measured_before(dataflow: Dataflow, event: TensorEvent) -> str:
    """Say in which steps a tensor was computed since it was measured last; "" for none.

    Args:
        dataflow: Of the run.
        event: A computation of the tensor.
    """
    timeline, found = dataflow.timeline, magnitudes_of(dataflow, event)
    in_graph = event.kind == "graph_execution"
    rows = timeline.rows_of(event.index) if in_graph else timeline.alike(event.index)
    found = found.some(found.rows < event.index)
    rows = rows[(rows > found.rows[-1]) & (rows < event.index)] if len(found) else found.rows
    now = step_of(dataflow, event)
    # A loop computes it many times in the same step: how it grew there is told by its iterations.
    in_step = partial(_is_in_step, dataflow, event, now)
    rows = rows[: bisect_left(rows.tolist(), True, key=in_step)]
    ends = (replace(event, index=row) for row in (rows[[0, -1]].tolist() if len(rows) else ()))
    steps = [step for end in ends if (step := step_of(dataflow, end)) is not None]
    if not steps:
        return ""
    first, last = steps[0], steps[-1]
    which = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
    return f"at most {found.largest[-1]:.3g} when it was measured last, and not measured in {which}"


def _is_in_step(dataflow: Dataflow, event: TensorEvent, step: int | None, row: int) -> bool:
    """Whether a computation of a tensor is in a step.

    Args:
        dataflow: Of the run.
        event: Another computation of the tensor.
        step: The step.
        row: The computation.
    """
    return step_of(dataflow, replace(event, index=row)) == step


def _in_loop(
    dataflow: Dataflow,
    event: TensorEvent,
    found: Magnitudes,
    iteration: int | None,
    unit: Literal["batch", "iteration"],
) -> Growth | None:
    if iteration is None:
        return None
    computed = dataflow.timeline.rows_of(event.index)
    first = int(np.searchsorted(computed, event.index)) - iteration  # the loop's first iteration
    numbers = np.searchsorted(computed, found.rows) - first
    growth = _growth(numbers[numbers >= 0], found.largest[numbers >= 0])
    return replace(growth, unit=unit) if growth is not None else None


def _growth(numbers: Int64Array, largest: Floats) -> Growth | None:
    """Return how a tensor has grown up to the last of some steps, since it last fell.

    Or since the first, where what it has fallen is nothing beside that.
    """
    falls = np.flatnonzero((np.diff(largest) <= 0) | (largest[:-1] == 0))
    start = int(falls[-1]) + 1 if falls.size else 0
    if len(numbers) - start < _STEPS or largest[-1] < _LEAST * largest[start]:
        return _swinging(numbers, largest)
    return Growth(
        first_step=int(numbers[start]),
        first=float(largest[start]),
        last_step=int(numbers[-1]),
        last=float(largest[-1]),
        expected=_expected(largest[start:]),
    )


def _swinging(numbers: Int64Array, largest: Floats) -> Growth | None:
    """Return how a tensor has grown from the first step to the last, whatever was between."""
    above_0 = np.flatnonzero(largest)
    if len(above_0) < _STEPS or largest[-1] < _SWINGS * largest[above_0[0]]:
        return None
    first, last = float(largest[above_0[0]]), float(largest[-1])
    return Growth(int(numbers[above_0[0]]), first, int(numbers[-1]), last, expected=last)


def _expected(largest: Floats) -> float:
    """Return what a tensor would be when measured next: by x³ the factor is the last one cubed."""
    before, factor = np.diff(np.log(largest[-_STEPS:])).tolist()
    return float(largest[-1] * np.exp(factor * min(max(factor / before, 1.0), _POWER)))
