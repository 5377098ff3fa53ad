"""Gradients and losses that grow: a training that diverges and has not overflowed yet."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, dtype_of, in_step, magnitudes_of, measured_tensors
from tfdbg_tui.diagnosis.losses import (
    AVERAGES,
    losses,
    losses_that_fall,
    made_of,
    magnitudes_of_loss,
    may_be_negative,
)
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, ELEMENTWISE, OF_WEIGHTS
from tfdbg_tui.diagnosis.rules.model import Growth, Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    LOSS_FALLS_WITHOUT_END,
    NUMBERS_EXPLODE,
    TRAINING_DIVERGES,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.untrained import connected_of
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.worklist import Worklist
from tfdbg_tui.logdir.text import counted
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_ENDS = 3  # measured steps at the beginning, and at the end, that a loss or gradient is compared in
_RISEN = 50.0  # times
_RISEN_STEADILY = 4.0
"""Times, where it is the only loss, of data alone, and was never below what it was at first."""
_RISEN_SIGNED = 1e4
"""Times where a loss may be below 0: scores of critics and values of states are often hundreds."""
_RISEN_ONCE = 1e6  # times that such a loss was above once, where it swings
_RISEN_EVER_FASTER = 1e3  # times, where it does not slow down
_POWER = 1.5  # of the step by which it then rises: values of states grow by about the same in each
_NOISE = 0.9  # of a loss: batches differ by so much
_PRODUCTS_OF_LAYERS = frozenset(
    {"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv1D", "Conv2D", "Conv3D"}
)
"""None of them adds a mask, which is as large as it is on purpose."""
_MOST_EXPLAINED = 200.0  # times that larger data may make a loss larger than `_RISEN` times
_THROWN = 1e4  # times that a loss rises in the first step, where that is far too long
_LOSS_BEYOND = 1e12  # times that it never gets above even once while something is learnt
_RECENT = 32  # measured steps that are looked at
_STEPS = 6  # that it has to grow in
_LEAST = 100.0  # times that it grows in all
_LARGE = 1e4  # or it may be the end of a plateau, where gradients had been next to nothing
_RISING = 0.6  # share of the steps in which it rises at least, as batches differ
_BACK = 10.0  # times that it may fall below what it has been, for the same reason
_PACE = 0.5  # of the beginning that it keeps to the end: less of it is growth that settles
_BEYOND = 1e8  # that a gradient is above, and so many times what it was in its first step


def find_divergence(dataflow: Dataflow) -> list[Suspect]:
    """Return what shows best that a training diverges: the largest gradient, or the loss."""
    if not dataflow.variables.trained:
        return []
    return _grown_gradients(dataflow) or _risen_gradients(dataflow) or _of_one_cause(dataflow)


def _of_one_cause(dataflow: Dataflow) -> list[Suspect]:
    """Return the losses that have risen, or the first that falls without end: others follow it."""
    risen = list(_risen_losses(dataflow))
    fall = [suspect for suspect in risen if suspect.rule is LOSS_FALLS_WITHOUT_END]
    return fall[:1] or risen


def _grown_gradients(dataflow: Dataflow) -> list[Suspect]:
    """Return the gradient that has grown to the largest number, where they grow without end."""
    run = dataflow.run
    grown: list[tuple[float, TensorEvent, Growth]] = []
    for event, found in measured_tensors(run):
        if found.largest[-1] >= _LARGE and is_backward(run, event):
            growth = growth_without_end(*by_step(run, found))
            if growth is not None and _is_gradient(dataflow, event):
                grown.append((growth.last, event, growth))
    if not grown:
        return []
    _, event, growth = max(grown, key=lambda found: found[0])
    others = f"; so did {counted(len(grown) - 1, 'other gradient')}" if len(grown) > 1 else ""
    evidence = f"{growth}{_when_it_ends(growth, dtype_of(run, event))}{others}"
    return [Suspect(event, TRAINING_DIVERGES, Match("likely", evidence), len(grown))]


def _risen_gradients(dataflow: Dataflow) -> list[Suspect]:
    """Return the largest gradient, where gradients have become far larger at once and stay so.

    A step that is far too long makes them do so at once; they need not grow any more then.
    """
    run = dataflow.run
    risen: list[tuple[float, TensorEvent, str]] = []
    for event, found in measured_tensors(run):
        if found.largest[-1] < _BEYOND or not is_backward(run, event):
            continue
        grown = _risen(run, event, found)
        if grown is not None and _is_gradient(dataflow, event):
            risen.append((float(found.largest[-1]), *grown))
    if not risen:
        return []
    _, event, evidence = max(risen, key=lambda found: found[0])
    others = f"; so did {counted(len(risen) - 1, 'other gradient')}" if len(risen) > 1 else ""
    return [Suspect(event, TRAINING_DIVERGES, Match("likely", evidence + others), len(risen))]


def _risen(run: Run, event: TensorEvent, found: Magnitudes) -> tuple[TensorEvent, str] | None:
    """Return since when a tensor has been far larger than at first, and what to say of that.

    Args:
        run: The run.
        event: A computation of the tensor.
        found: Its magnitudes.
    """
    steps, largest = by_step(run, found)
    if len(steps) <= _ENDS or not 0 < largest[0] <= largest[-_ENDS:].min() / _BEYOND:
        return None
    since = _since(largest >= _BEYOND * max(1.0, float(largest[0])))
    evidence = (
        f"its largest magnitude grew from {largest[0]:.3g} in step {steps[0]:,} to "
        f"{largest[since]:.3g} in step {steps[since]:,}, and is {largest[-1]:.3g} in step "
        f"{steps[-1]:,}"
    )
    return in_step(run, event, found, int(steps[since])), evidence


def find_exploded(dataflow: Dataflow) -> list[Suspect]:
    """Return the first product of layers that has become far larger at once and stays so.

    An activation that is unbounded does so in a recurrent cell.  What saturates after it is a
    consequence, and then no gradient tells of it.  Where all losses become smaller, targets may be
    as large.
    """
    run = dataflow.run
    if not dataflow.variables.trained:
        return []
    exploded: list[tuple[TensorEvent, str]] = []
    for event, found in measured_tensors(run):
        is_product = op_type_of(run, event) in _PRODUCTS_OF_LAYERS
        if found.largest[-1] < _BEYOND or not is_product or is_backward(run, event):
            continue
        grown = _risen(run, event, found)
        if grown is not None:
            exploded.append(grown)
    fall = losses_that_fall(dataflow) if exploded else []
    if not exploded or (fall and all(fall)):
        return []
    event, evidence = min(exploded, key=lambda one: one[0].index)
    others = f"; so did {len(exploded) - 1:,} other products" if len(exploded) > 1 else ""
    return [Suspect(event, NUMBERS_EXPLODE, Match("likely", evidence + others), len(exploded))]


def _is_gradient(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor of a backward pass depends on a gradient.

    One made of forward tensors alone is a factor of one: 1 / p, of the gradient of log(p), grows in
    a classifier that learns, and is multiplied by what is next to 0.
    """
    events = [producer.event for producer in dataflow.producers(event)]
    return not events or any(made is None or is_backward(dataflow.run, made) for made in events)


def _since(high: npt.NDArray[np.bool_]) -> int:
    """Return the place from which on all up to the last are so."""
    return len(high) - int(np.argmin(high[::-1]))


def _risen_losses(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the losses that have got far above what they were at first, and stay there.

    Those that were beyond all bounds need not stay there: what has run away on some batches may be
    thrown back by others: but not as far as the first step was, which no training has led to.  A
    single step is of a batch that is unlike all others.  One that may be below 0, as a difference
    of scores, may begin anywhere near 0 and has to get far away from 1.
    """
    run = dataflow.run
    all_losses = losses(dataflow)
    for loss in all_losses:
        found = magnitudes_of_loss(dataflow, loss)
        steps, largest = by_step(run, found)
        if len(steps) < _STEPS:
            continue
        about, last_of_first = _at_first(largest)
        signed = may_be_negative(dataflow, loss, found)
        first = max(1.0, about) if signed else about
        first *= _explained_by_data(dataflow, loss, int(steps[last_of_first]))
        is_steady = len(all_losses) == 1 and not signed and _rises_steadily(largest)
        is_steady = is_steady and _is_of_data(dataflow, loss)
        high = largest >= (_RISEN_STEADILY if is_steady else _RISEN) * first
        stays = bool(high[-_ENDS:].all())
        if signed:
            needed = _RISEN_EVER_FASTER if _speeds_up(steps, largest) else _RISEN_SIGNED
            is_far = largest[-1] >= needed * first or largest.max() >= _RISEN_ONCE * first
            stays &= bool(is_far)
        least = _LOSS_BEYOND * max(1.0, first, float(largest[0]))
        beyond = largest.max() >= least and np.count_nonzero(high) > 1
        if not first or not (stays or beyond):
            continue
        since = _since(high) if stays else int(largest.argmax())
        if since <= last_of_first:
            about, last_of_first = float(np.median(largest[:since])), since - 1
        reached = (
            f"at least {largest[since:].min():.3g} from step {steps[since]:,} on"
            if stays
            else f"{largest[since]:.3g} in step {steps[since]:,}"
        )
        evidence = (
            f"the loss was about {about:.3g} {_from_to(steps[: last_of_first + 1])}, is "
            f"{reached}, and {largest[-1]:.3g} in step {steps[-1]:,}"
        )
        last = summary_of(run, replace(loss, index=int(found.rows[-1])))
        falls = signed and last is not None and (last.maximum or 0.0) < 0
        risen = in_step(run, loss, found, int(steps[since]))
        rule = LOSS_FALLS_WITHOUT_END if falls else TRAINING_DIVERGES
        evidence += "; it falls below 0" * falls
        yield Suspect(risen, rule, Match("likely", evidence), len(high) - since)


def _explained_by_data(dataflow: Dataflow, loss: TensorEvent, last: int) -> float:
    """Return how many times a loss may be larger as what it is given is larger than at first.

    The rewards of an agent that has just begun may be next to nothing, or 0: an error is as large
    as they are, and its square grows with theirs.

    Args:
        dataflow: Of the run.
        loss: A computation of the loss.
        last: The last step of those at first.
    """
    times = 1.0
    for given in _compared_data(dataflow, loss):
        steps, largest = by_step(dataflow.run, magnitudes_of(dataflow, given))
        at_first = largest[steps <= last]
        if at_first.size and not at_first.any() and largest[-_ENDS:].any():
            return _MOST_EXPLAINED
        if at_first.any():
            times = max(times, float(largest[-_ENDS:].max() / np.median(at_first[at_first > 0])))
    return min(times**2, _MOST_EXPLAINED)


def _compared_data(dataflow: Dataflow, loss: TensorEvent) -> Iterator[TensorEvent]:
    """Yield what a function is given and a loss is made of, element by element."""
    events = Worklist([loss])
    for event in events:
        if op_type_of(dataflow.run, event) in ARGUMENTS:
            yield event
        elif op_type_of(dataflow.run, event) in AVERAGES | ELEMENTWISE | {"StopGradient"}:
            events.add(*(p.event for p in dataflow.producers(event) if p.event is not None))


def _rises_steadily(largest: Floats) -> bool:
    """Whether a loss is never below what it was at first, and larger in each third of the steps."""
    third = len(largest) // 3
    if third < _ENDS or largest.min() < _NOISE * largest[0]:
        return False
    begin, middle, end = largest[:third], largest[third:-third], largest[-third:]
    rises = np.median(begin) < np.median(middle) < np.median(end)
    return bool(rises and end.min() >= _RISEN_STEADILY * begin.max())


def _is_of_data(dataflow: Dataflow, loss: TensorEvent) -> bool:
    """Whether a loss compares what a network makes with data, not with what one makes of others.

    The errors of Q values grow with these, in an agent that learns.
    """
    made = made_of(dataflow, loss)
    if not made or any(op_type_of(dataflow.run, event) == "StopGradient" for event in made):
        return False
    trained = {key for one in dataflow.run.gradient_requests for key in connected_of(one)}
    products = (event for event in made if op_type_of(dataflow.run, event) in OF_WEIGHTS)
    read = [key for event in products for key in variables_read(dataflow, event)]
    return len({*read}) == len(read) and trained.issuperset(read)


def _speeds_up(steps: Int64Array, largest: Floats) -> bool:
    """Whether numbers have grown by a higher power of the step than 1 in the later half."""
    since = steps - steps[0] + 1
    half = int(np.searchsorted(since, since[-1] / 2))
    least = largest[half] * (since[-1] / since[half]) ** _POWER
    return half < len(steps) - 1 and largest[-1] >= max(least, largest.max())


def _at_first(largest: Floats) -> tuple[float, int]:
    """Return what a loss is at first, and the place of the last that this is of.

    Of one batch alone it may be small by chance; but where one step multiplies it by thousands, and
    it stays large, only what was before that step is.
    """
    stays = largest[-_ENDS:].min() >= _RISEN
    if stays and largest[1] >= _THROWN * max(1.0, float(largest[0])):
        return float(largest[0]), 0
    return float(np.median(largest[:_ENDS])), _ENDS - 1


def _from_to(steps: Int64Array) -> str:
    first, last = f"{steps[0]:,}", f"{steps[-1]:,}"
    return f"in step {first}" if len(steps) == 1 else f"in steps {first} to {last}"


def growth_without_end(steps: Int64Array, largest: Floats) -> Growth | None:
    """Return how a tensor has grown up to the last step on record; None where it has not.

    Args:
        steps: The steps in which it was measured, ascending.
        largest: Its largest magnitude in each.
    """
    steps, largest = steps[-_RECENT:], largest[-_RECENT:]
    start = int(np.argmin(np.where(largest > 0, largest, np.inf))) if largest.size else 0
    steps, largest = steps[start:], largest[start:]
    if len(steps) < _STEPS or largest[-1] < max(_LARGE, _LEAST * largest[0], largest.max() / 2):
        return None
    if not _rises(largest) or _settles(steps, largest):
        return None
    return Growth(int(steps[0]), float(largest[0]), int(steps[-1]), float(largest[-1]))


def _rises(largest: Floats) -> bool:
    """Whether numbers go up all the way, as far as batches that differ let them."""
    falls = _BACK * largest < np.maximum.accumulate(largest)
    return not falls.any() and float(np.mean(np.diff(largest) > 0)) >= _RISING


def _settles(steps: Int64Array, largest: Floats) -> bool:
    """Whether the later half grows by much smaller factors than the earlier one."""
    powers, middle = np.log(largest), len(steps) // 2
    early = (powers[middle] - powers[0]) / (steps[middle] - steps[0])
    late = (powers[-1] - powers[middle]) / (steps[-1] - steps[middle])
    return bool(late < _PACE * early)


def _when_it_ends(growth: Growth, dtype: str | None) -> str:
    """Say in which step the limit of the type is reached if it goes on like that."""
    limit = MAX_FINITE.get(dtype or "")
    if limit is None:
        return ""
    pace = math.log(growth.last / growth.first) / (growth.last_step - growth.first_step)
    step = growth.last_step + math.ceil(math.log(limit / growth.last) / pace)
    return f"; at that pace {dtype} overflows about step {step:,}"
