"""Gradients that are nothing beside the largest of the same step, on the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH
from tfdbg_tui.diagnosis.events import op_type_of, size_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import magnitudes_of
from tfdbg_tui.diagnosis.layers import LayersOfOps
from tfdbg_tui.diagnosis.op_traits import ADDS, ARRANGES, only_makes_floats
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import OUTPUT_CANCELLED, VANISHING_GRADIENT
from tfdbg_tui.diagnosis.rules.silent.layer_gradients import MANY
from tfdbg_tui.diagnosis.rules.silent.learning import loss_stands
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_step
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.layer_gradients import LayerGradient
    from tfdbg_tui.logdir import Layer, Run

_OF_INPUTS = frozenset({"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"})
"""Ops that compute the gradients of inputs alone, which are of any size."""
_REDUCTIONS = frozenset({"Mean", "Sum"})

_TO_NEXT = 3  # ops, from the last gradient in a layer to the first in the one before it
_TO_SUM = 6  # ops, from a gradient of a layer to the sum of what comes to all copies of its result
_CANCELLED = 1e-4  # of what is summed up: the rest is what rounding leaves
_FOLLOWED = 200  # tensors that come of a gradient
_VANISHED = 1e-6  # of the largest gradient of the same step
_VANISHED_IN_VAIN = 1e-4  # of it, where no loss becomes smaller besides
_HARDLY_LESS = 0.95  # of a loss is what the layers learn that get gradients
_ARRIVED = 1e-3  # of it: a layer that gets so much back learns, and so did all before it
_SMALL = 1.0  # what is larger does not vanish, whatever others are
_GROWN = 100.0  # times what it was in its first step: it does not vanish either


def find_vanishing(dataflow: Dataflow, gradients: list[LayerGradient]) -> list[Suspect]:
    """Return the last gradient on the way back that is nothing beside the largest of its step.

    Args:
        dataflow: Of the run.
        gradients: Those of its layers.
    """
    gradients = [gradient for gradient in gradients if gradient.largest[-MANY:].all()]
    if not gradients:
        return []
    recent = np.array([gradient.largest[-MANY:] for gradient in gradients])
    share = recent / np.maximum(recent.max(axis=0), np.finfo(np.float64).tiny)
    first = np.array([gradient.largest[0] for gradient in gradients])
    grows = recent.min(axis=1) > _GROWN * np.where(first > 0, first, np.inf)
    small = (recent.max(axis=1) < _SMALL) & ~grows
    nothing = (share.max(axis=1) <= _VANISHED) & small
    if not nothing.any() and loss_stands(dataflow, _HARDLY_LESS):
        nothing = (share.max(axis=1) <= _VANISHED_IN_VAIN) & small
    arrived = {gradients[n].event for n in np.flatnonzero(share.max(axis=1) >= _ARRIVED).tolist()}
    gone = _in_vain(dataflow, gradients, nothing, arrived)
    if not gone:
        return []
    last = max(gone, key=lambda number: gradients[number].event.index)
    evidence = (
        f"{recent[last, -1]:.3g} at most, where the largest gradient of a layer is "
        f"{recent[:, -1].max():.3g}"
    )
    event, layer, in_all = gradients[last]
    largest = np.array([gradient.largest for gradient in gradients]).max(axis=0)
    always = bool((in_all <= _VANISHED_IN_VAIN * largest).all())
    measured = magnitudes_of(dataflow, event)
    cancelled = _cancelled(dataflow, event)
    rule = OUTPUT_CANCELLED if cancelled else VANISHING_GRADIENT
    evidence += cancelled
    with_it = (gradients[number].layer for number in gone)
    others = dict.fromkeys((*with_it, *_handed_on_to(dataflow, event)))
    return [
        Suspect(
            event,
            rule,
            Match("likely", evidence),
            len(gone),
            others=tuple(one for one in others if one is not None and one != layer),
            since=first_step(dataflow.run, measured) if always else None,
        )
    ]


def _in_vain(
    dataflow: Dataflow,
    gradients: list[LayerGradient],
    nothing: npt.NDArray[np.bool_],
    arrived: Set[TensorEvent],
) -> list[int]:
    """Return the numbers of the gradients that are nothing and that their layers depend on.

    A layer that is used in several places learns from what reaches one of them.

    Args:
        dataflow: Of the run.
        gradients: Those of its layers.
        nothing: Of each whether it is nothing beside the largest.
        arrived: Those of layers that learn.
    """
    of = [_of_layer(dataflow.run, gradient) for gradient in gradients]
    learning = {key for key, gone in zip(of, nothing, strict=True) if key[0] and not gone}
    gone, elsewhere = [], set()
    for number in np.flatnonzero(nothing).tolist():
        if of[number] in learning:
            elsewhere.add(gradients[number].event)
        else:
            gone.append(number)
    if elsewhere:
        made_of = {n: _made_of(dataflow, [gradients[n].event]) for n in gone}
        gone = [n for n in gone if not _begins_small(made_of[n], elsewhere, arrived)]
    if gone:
        passed = _made_of(dataflow, arrived)
        gone = [n for n in gone if not _goes_on(dataflow, gradients[n].event, passed)]
    if gone:
        alive = [gradients[number].event for number in np.flatnonzero(~nothing).tolist()]
        sums = {added for event in alive for added in _sums_of(dataflow, event)}
        gone = [n for n in gone if not _is_summand(dataflow, gradients[n].event, sums)]
    return gone


def _cancelled(dataflow: Dataflow, event: TensorEvent) -> str:
    """Say how gradients that a gradient is made of cancel one another in a sum; "" if none do.

    What a layer gives is broadcast in an addition, say, and its gradient summed up therefore.

    Args:
        dataflow: Of the run.
        event: The gradient.
    """
    waiting = [event]
    for _ in range(_TO_SUM):
        waiting = [
            *dict.fromkeys(made for one in waiting for made in _gradients_given_to(dataflow, one))
        ]
        for added in (one for one in waiting if op_type_of(dataflow.run, one) in _REDUCTIONS):
            after = magnitudes_of(dataflow, added).largest[-MANY:]
            given = next((p.event for p in dataflow.producers(added)), None)
            largest = magnitudes_of(dataflow, given).largest[-MANY:] if given else after
            if len(after) == len(largest) == MANY and (after <= _CANCELLED * largest).all():
                return f"; of gradients up to {largest[-1]:.3g} their sum is {after[-1]:.3g}"
    return ""


def _made_of(dataflow: Dataflow, events: Iterable[TensorEvent]) -> set[TensorEvent]:
    """Return all gradients that some are computed from, and sums of several gradients."""
    found = Worklist(made for event in events for made in _gradients_given_to(dataflow, event))
    for event in found:
        found.add(*_gradients_given_to(dataflow, event))
    return found.seen


def _gradients_given_to(dataflow: Dataflow, event: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the gradients that a tensor is computed from, and sums of several gradients."""
    for producer in dataflow.producers(event):
        if producer.event is not None and _is_of_gradients(dataflow.run, producer.event):
            yield producer.event


def _is_of_gradients(run: Run, event: TensorEvent) -> bool:
    """Whether a tensor is a gradient, or may be a sum of some, which is in no scope of these."""
    return is_backward(run, event) or op_type_of(run, event) == "AddN"


def _of_layer(run: Run, gradient: LayerGradient) -> tuple[Layer | None, str | None, int]:
    """Return what the gradients of one kind of a layer have in common wherever it is used."""
    op_type = op_type_of(run, gradient.event)
    size = 0 if op_type in _OF_INPUTS else size_of(run, gradient.event)
    return gradient.layer, op_type, size


def _begins_small(
    made_of: Set[TensorEvent], elsewhere: Set[TensorEvent], arrived: Set[TensorEvent]
) -> bool:
    """Whether a gradient has been small from the loss on, in layers that learn in other places.

    A detector looks for objects of each size in a map of its own, with the same layers.  A focal
    loss is next to nothing for a map in which there are none, as soon as the layers have learned
    that.

    Args:
        made_of: What the gradient is computed from.
        elsewhere: Gradients that vanish, of layers that learn from what they get elsewhere.
        arrived: Those of layers that learn.
    """
    return not made_of.isdisjoint(elsewhere) and made_of.isdisjoint(arrived)


def _goes_on(dataflow: Dataflow, event: TensorEvent, passed: Set[TensorEvent]) -> bool:
    """Whether a gradient is on the way to layers that learn, or is of weights of one that is.

    How large it is says little then: gradients of weights are as large as what the layer takes, and
    are summed up over a batch.

    Args:
        dataflow: Of the run.
        event: The gradient.
        passed: What the gradients of layers that learn are computed from.
    """
    if event in passed:
        return True
    given = {producer.event for producer in dataflow.producers(event)}
    return not given.isdisjoint(passed) and not variables_read(dataflow, event)


def _sums_of(dataflow: Dataflow, event: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the sums that a gradient is added up in: variables used twice get one of two.

    It may be reshaped before, as by a layer that is given more than two dimensions.
    """
    arranged = Worklist([event])
    for one in arranged:
        for use in dataflow.consumers(one):
            if use.event is not None and use.op_type in ADDS:
                yield use.event
            elif use.event is not None and use.op_type in ARRANGES:
                arranged.add(use.event)


def _is_summand(dataflow: Dataflow, event: TensorEvent, sums: Set[TensorEvent]) -> bool:
    """Whether all that comes of a gradient is added to others, as far as it is taken at all.

    Args:
        dataflow: Of the run.
        event: The gradient.
        sums: Those of the gradients that do not vanish.
    """
    found, is_added = Worklist([event], _FOLLOWED), False
    for one in found:
        for use in dataflow.consumers(one):
            made = use.event
            if made is None:
                if not _is_taken(use):
                    continue
                return False
            if made in sums:
                is_added = True
            elif use.op_type not in ADDS and not is_backward(dataflow.run, made):
                return False
            else:
                found.add(made)
    return is_added and len(found.seen) < _FOLLOWED


def _is_taken(use: Use) -> bool:
    """Whether an op that is not on record has run: numbers that it made would be there."""
    op_type = use.op_type or ""
    return op_type not in PASS_THROUGH and not only_makes_floats(op_type)


def _handed_on_to(dataflow: Dataflow, event: TensorEvent) -> Iterator[Layer | None]:
    """Yield the layers that get a gradient next, on the way back: it is no larger there."""
    layers = LayersOfOps(dataflow.run)
    mine, made = layers.of_event(event), [event]
    for _ in range(_TO_NEXT):
        uses = dict.fromkeys(use.event for one in made for use in dataflow.consumers(one))
        made = [use for use in uses if use is not None and is_backward(dataflow.run, use)]
        reached = dict.fromkeys(layers.of_event(one) for one in made)
        if any(one not in (None, mine) for one in reached):
            yield from (one for one in reached if one != mine)
            return
