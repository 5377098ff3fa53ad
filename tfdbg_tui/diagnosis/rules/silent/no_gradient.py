"""Layers whose gradients are 0 in all steps: one, or all of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.cuts import find_cuts_beside_penalties, find_penalties_of_eager_code
from tfdbg_tui.diagnosis.events import op_type_of, size_of, stack_id_of
from tfdbg_tui.diagnosis.history import magnitudes_of
from tfdbg_tui.diagnosis.locations import line_that_ran
from tfdbg_tui.diagnosis.losses import losses, losses_that_fall, magnitudes_of_loss
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, OF_WEIGHTS
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.dead_relu import RECTIFIERS, dead_relu
from tfdbg_tui.diagnosis.rules.silent.defects import (
    DATA_OF_ZERO,
    LAYER_NEVER_CHANGES,
    LAYER_OF_ZEROS,
    LOSS_OF_ZERO,
    NO_GRADIENT,
    ONLY_OF_PENALTIES,
    ZERO_WEIGHTS,
)
from tfdbg_tui.diagnosis.rules.silent.layer_gradients import first_zero, lost_at
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.layer_gradients import LayerGradient
    from tfdbg_tui.logdir import Layer, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes


_NAMED = 3  # variables


def find_unreached(
    dataflow: Dataflow,
    measured: list[tuple[TensorEvent, Magnitudes]],
    gradients: list[LayerGradient],
) -> Iterator[Suspect]:
    """Yield the first gradient of each layer whose gradients are 0 from the beginning on.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
        gradients: Those of its layers.
    """
    by_layer: dict[Layer, list[LayerGradient]] = defaultdict(list)
    for gradient in gradients:
        if gradient.layer is not None:
            by_layer[gradient.layer].append(gradient)
    learns = any(losses_that_fall(dataflow)) if by_layer else False
    for layer, some in by_layer.items():
        if any(gradient.largest.any() for gradient in some):
            continue
        steps = len(some[0].largest)
        evidence = f"layer {layer.path}: its gradients are 0 in all {steps:,} steps measured"
        rule = LAYER_NEVER_CHANGES
        zero = [one for _, one in _products_with_zeros(dataflow, measured) if one.layer == layer]
        if len(zero) > 1:  # The gradient of one alone is not made of itself.
            names = ", ".join(sorted(variable.name for variable in zero)[:_NAMED])
            rule, evidence = ZERO_WEIGHTS, f"{names}: all weights are 0, and of {evidence}"
        elif all(_is_of_zeros(dataflow, gradient.event) for gradient in some):
            if learns:
                continue  # One of several arrays may be 0 on purpose.
            rule, evidence = LAYER_OF_ZEROS, f"{evidence}, as what it is given is"
        yield Suspect(some[0].event, rule, Match("likely", evidence), steps)


def _is_of_zeros(dataflow: Dataflow, gradient: TensorEvent) -> bool:
    """Whether the gradient of a kernel is of data that were 0 whenever they were measured."""
    given = next((producer.event for producer in dataflow.producers(gradient)), None)
    found = magnitudes_of(dataflow, given) if given is not None else None
    return found is not None and len(found) > 0 and not found.largest.any()


def find_only_of_penalties(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the ops that let no gradient of a loss through, but that of penalties of weights."""
    if not dataflow.variables.trained:
        return
    known = {variable.key: variable for variable in dataflow.run.variables}
    for cut in find_cuts_beside_penalties(dataflow):
        kernels = [known[key] for key in cut.keys if key in known]
        layer, others = first_and_others(kernel.layer for kernel in kernels)
        more = f" and {len(kernels) - 1:,} more" if kernels[1:] else ""
        evidence = (
            f"{kernels[0].name}{more}: {cut.text} lets no gradient of the loss through, and the "
            f"only gradient that they get is that of a penalty of weights"
        )
        match = Match("likely", evidence)
        yield Suspect(cut.event, ONLY_OF_PENALTIES, match, len(kernels), layer, others)
    eager = find_penalties_of_eager_code(dataflow)
    if eager is not None:
        event, keys = eager
        names = [known[key].name for key in sorted(keys) if key in known]
        evidence = (
            f"the loss is made of {', '.join(names[:_NAMED])} by way of penalties alone: what "
            "layers make of them has no gradient, as after numpy() and rounding"
        )
        line = line_that_ran(dataflow.run, stack_id_of(dataflow.run, event))
        match = Match("likely", evidence)
        yield Suspect(event, ONLY_OF_PENALTIES, match, len(keys), line=line)


def find_no_gradient(
    dataflow: Dataflow,
    measured: list[tuple[TensorEvent, Magnitudes]],
    gradients: list[LayerGradient],
) -> Iterator[Suspect]:
    """Yield what lets no gradient through, where all gradients of layers are 0 in all steps.

    A rectifier is off then even if it has few elements.  A loss that has come to 0 has nothing more
    to teach; one that is 0 in all steps has taught nothing.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
        gradients: Those of its layers.
    """
    of_losses = [(loss, magnitudes_of_loss(dataflow, loss).largest) for loss in losses(dataflow)]
    measured_losses = [(loss, largest) for loss, largest in of_losses if largest.size]
    if not gradients:
        return
    steps = len(gradients[0].largest)
    evidence = f"all {len(gradients):,} gradients of layers are 0 in all {steps:,} steps measured"
    if measured_losses and not any(largest.any() for _, largest in measured_losses):
        match = Match("likely", f"the loss is 0, and {evidence}")
        loss, _ = measured_losses[0]
        made_zero = first_zero(dataflow, loss, lambda one: op_type_of(dataflow.run, one) != "Const")
        came_in = op_type_of(dataflow.run, made_zero) in ARGUMENTS
        yield Suspect(made_zero, DATA_OF_ZERO if came_in else LOSS_OF_ZERO, match, steps)
        return
    if measured_losses and not any(largest.all() for _, largest in measured_losses):
        return  # All is learned.
    zero = _products_with_zeros(dataflow, measured)
    if zero:
        (first, variable), *others = zero
        more = f" and {len(others):,} more" if others else ""
        text = f"{variable.name}{more}: all weights are 0, and {evidence}"
        yield Suspect(first, ZERO_WEIGHTS, Match("likely", text), steps, variable.layer)
    if zero or all(gradient.layer is None for gradient in gradients):
        return
    off = [
        event
        for event, found in measured
        if op_type_of(dataflow.run, event) in RECTIFIERS and not found.largest.any()
    ]
    if off:
        last = max(off, key=lambda event: event.index)
        text = f"all {size_of(dataflow.run, last):,} outputs are 0, and {evidence}"
        yield Suspect(last, dead_relu(dataflow, last), Match("likely", text), steps)
        return
    first = min((gradient.event for gradient in gradients), key=lambda event: event.index)
    lost = lost_at(dataflow, first)
    yield Suspect(lost, NO_GRADIENT, Match("likely", evidence), steps)


def _products_with_zeros(
    dataflow: Dataflow, measured: list[tuple[TensorEvent, Magnitudes]]
) -> list[tuple[TensorEvent, Variable]]:
    """Return the products of variables that are 0 whenever they are measured, with these.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
    """
    values = VariableValues(dataflow.run, dataflow.calls)
    found: dict[Variable, TensorEvent] = {}
    for event, magnitudes in measured:
        if magnitudes.largest.any():
            continue
        uses = (use for use in dataflow.consumers(event) if use.op_type in OF_WEIGHTS)
        product = next((use.event for use in uses if use.event is not None), None)
        for variable, _ in values.of_measured(event, magnitudes):
            if product is not None and variable.trainable:
                found.setdefault(variable, product)
    return [(product, variable) for variable, product in found.items()]
