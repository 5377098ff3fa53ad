"""The gradients of layers, by step."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of
from tfdbg_tui.diagnosis.layers import LayersOfOps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Layer, Run
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

MANY = 5
"""Measured computations up to the last that have to show it: those of eight steps or more."""

_OF_LAYERS = frozenset(
    {
        *("MatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2DBackpropFilter"),
        *("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
    }
)
"""Ops that compute the gradients of a layer's weights and inputs."""

_FOLLOWED = 200  # gradients, back to the loss, or what that is made of


class LayerGradient(NamedTuple):
    """A gradient of a layer, and its largest magnitude in each step."""

    event: TensorEvent
    layer: Layer | None
    largest: Floats


def gradients_by_training(
    run: Run, measured: list[tuple[TensorEvent, Magnitudes]]
) -> list[list[LayerGradient]]:
    """Return the gradients of layers by step, of each training those measured in the same steps.

    A model may be trained in other steps than another, or than what it is made of was before.  A
    step in which something was bad first is measured for what was recorded together with that.
    """
    layers = LayersOfOps(run)
    found: dict[frozenset[int], list[LayerGradient]] = defaultdict(list)
    for event, magnitudes in measured:
        if op_type_of(run, event) not in _OF_LAYERS or not is_backward(run, event):
            continue
        layer = layers.of_event(event)
        if event.kind == "execution" and layer is None:
            continue  # many layers in one
        steps, largest = by_step(run, magnitudes)
        if len(steps) >= MANY:
            found[frozenset(steps.tolist())].append(LayerGradient(event, layer, largest))

    def number_measured_in(same: frozenset[int]) -> int:
        return sum(len(some) for steps, some in found.items() if same <= steps)

    trainings = []
    left = set(found)
    while left:
        same = max(left, key=lambda same: (number_measured_in(same), len(same)))
        trainings.append(
            [
                gradient._replace(largest=gradient.largest[np.isin(sorted(steps), list(same))])
                for steps, some in found.items()
                if same <= steps
                for gradient in some
            ]
        )
        left = {steps for steps in left if steps.isdisjoint(same)}
    return trainings


def lost_at(dataflow: Dataflow, event: TensorEvent) -> TensorEvent:
    """Return the first of the gradients of 0 that one is made of."""
    return first_zero(dataflow, event, lambda one: is_backward(dataflow.run, one))


def first_zero(
    dataflow: Dataflow, event: TensorEvent, is_followed: Callable[[TensorEvent], bool]
) -> TensorEvent:
    """Return the first of the tensors that are 0 in all steps and that one is made of.

    Args:
        dataflow: Of the run.
        event: One that is 0 itself.
        is_followed: Returns whether a tensor is one to look at.
    """
    for _ in range(_FOLLOWED):
        made = (producer.event for producer in dataflow.producers(event))
        given = [one for one in made if one is not None and is_followed(one)]
        found = [(one, magnitudes_of(dataflow, one).largest) for one in given]
        before = next((one for one, largest in found if largest.size and not largest.any()), None)
        if before is None:
            return event
        event = before
    return event
