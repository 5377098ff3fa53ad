"""Trainings that train nothing: all is frozen, gradients are None, or they are not applied."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import graph_id_of
from tfdbg_tui.diagnosis.history import by_step, computed, measured_tensors
from tfdbg_tui.diagnosis.locations import is_loss_of_fit, line_that_ran
from tfdbg_tui.diagnosis.losses import losses_that_fall, magnitudes_of_loss, target_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    GRADIENTS_NONE,
    GRADIENTS_NOT_APPLIED,
    NOTHING_TRAINED,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.rules.silent.unchanged import is_kernel
from tfdbg_tui.diagnosis.untrained import assigned_later, connected_of, keys_of
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Variable

_MANY = 5  # measured steps, or computations
_NAMED = 3  # variables


def find_nothing_trained(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the loss of a `fit` whose model has kernels, none of which may be trained or changes.

    That of a training step of Keras' own: one of the program may train in ways that are unknown.
    Other models may be trained beside, as the generator of a GAN.
    """
    run, calls = dataflow.run, dataflow.calls
    done = {calls.outermost(request.target_graph_id) for request in run.gradient_requests}
    for graph_id, loss in _losses(dataflow):
        if graph_id in done:
            continue
        done.add(graph_id)
        times = _times_of_kernels(dataflow, graph_id)
        if not times or any(one.trainable or _may_change(dataflow, one) for one in times):
            continue
        layer, others = first_and_others(kernel.layer for kernel in times)
        evidence = (
            f"no variable of {counted(1 + len(others), 'layer')} may be trained (layer.trainable "
            f"is False), and {counted(len(times), 'kernel')} of them are what they were in all "
            f"{max(times.values()):,} computations measured"
        )
        match = Match("likely", evidence)
        yield Suspect(loss, NOTHING_TRAINED, match, len(times), layer, others)


def find_not_applied(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the loss of a `fit` that asks for gradients, where nothing assigns to a variable.

    Elsewhere gradients may be asked for to look at them.
    """
    run = dataflow.run
    requests = [request for request in run.gradient_requests if request.target_graph_id]
    trainable = [variable for variable in run.variables if variable.trainable]
    if not (run.num_epochs and requests) or any(_may_change(dataflow, v) for v in trainable):
        return
    handles = {key for request in requests for key in keys_of(request, request.asked)}
    asked = {variable for variable in trainable if variable.key in handles}
    times = {kernel: n for kernel, n in _times_of_kernels(dataflow).items() if kernel in asked}
    computed_losses = ((target_of(dataflow, one), one.stack_id) for one in requests)
    loss, stack_id = next((pair for pair in computed_losses if pair[0]), (None, None))
    if loss is None or not times:
        return
    layer, others = first_and_others(kernel.layer for kernel in times)
    evidence = (
        f"nothing assigns to the {len(asked):,} variables whose gradients are asked for, and the "
        f"{len(times):,} kernels are what they were in all {max(times.values()):,} computations "
        f"measured"
    )
    yield Suspect(
        loss,
        GRADIENTS_NOT_APPLIED,
        Match("likely", evidence),
        len(times),
        layer,
        others,
        line=line_that_ran(run, stack_id),
        stack_id=stack_id,
    )


def find_gradients_none(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the loss of a loop that asks for gradients in each step and only ever gets None.

    Nothing assigns to what they are asked for, and no loss falls: it might be trained in another
    way, or something that is no variable.
    """
    run, requests = dataflow.run, dataflow.run.gradient_requests
    if not requests or any(map(connected_of, requests)):
        return
    request = requests[-1]
    asked, beside = keys_of(request, request.asked), keys_of(request, request.left_out)
    loss = target_of(dataflow, request)
    # Once they may be loaded, or set to those of another model.
    if not asked or loss is None or assigned_later(dataflow, asked | beside, times=2):
        return
    steps, _ = by_step(run, magnitudes_of_loss(dataflow, loss))
    if len(steps) < _MANY or any(losses_that_fall(dataflow)):
        return
    names = {variable.key: variable.name for variable in run.variables}
    of = ", ".join(names.get(key, "a variable") for key in sorted(beside)[:_NAMED])
    evidence = (
        f"no gradient for any of {counted(len(asked), 'variable')} in all {len(steps):,} steps "
        f"measured, and nothing assigns to them"
    )
    evidence += f"; the loss is made of {counted(len(beside), 'other')}: {of}" if beside else ""
    yield Suspect(
        loss,
        GRADIENTS_NONE,
        Match("likely", evidence),
        len(asked),
        line=line_that_ran(run, request.stack_id),
        stack_id=request.stack_id,
    )


def _losses(dataflow: Dataflow) -> Iterator[tuple[str, TensorEvent]]:
    """Yield the first computation of what Keras has computed as losses of training steps.

    With each comes the graph that is called, in which it is computed.
    """
    run = dataflow.run
    for graph_id, graph in list(run.graphs.items()):
        for op in reversed(list(graph.ops.values())):
            if is_loss_of_fit(run, op.stack_id):
                for event in computed(dataflow, graph_id, op.name):
                    first = int(dataflow.timeline.rows_of(event.index)[0])
                    yield dataflow.calls.outermost(graph_id), replace(event, index=first)


def _times_of_kernels(dataflow: Dataflow, called: str | None = None) -> dict[Variable, int]:
    """Return how often the variables were measured that layers multiply data with.

    Empty if one of them was not the same in all.

    Args:
        dataflow: Of the run.
        called: The graph that is called, in which they are read; None for all.
    """
    values = VariableValues(dataflow.run, dataflow.calls)
    times: dict[Variable, int] = {}
    for event, measured in measured_tensors(dataflow.run):
        graph_id = graph_id_of(dataflow.run, event) or ""
        if called is not None and dataflow.calls.outermost(graph_id) != called:
            continue
        for variable, found in values.of_measured(event, measured):
            if variable.layer is None or len(found) < _MANY:
                continue
            if np.ptp(found.largest):
                return {}
            if is_kernel(dataflow, event):
                times[variable] = max(times.get(variable, 0), len(found))
    return times


def _may_change(dataflow: Dataflow, variable: Variable) -> bool:
    """Whether a function assigns to a variable."""
    return any(
        graph.file_set == variable.file_set
        and dataflow.variables.assigned_in(graph.graph_id, variable.handle)
        for graph in list(dataflow.run.graphs.values())
    )
