"""Trainings whose steps are so short that the variables stay as they are."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.history import dtype_of, measured_tensors
from tfdbg_tui.diagnosis.learning_rates import learning_rates
from tfdbg_tui.diagnosis.losses import losses_that_fall
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import (
    GRADIENT_NEXT_TO_NOTHING,
    UPDATES_NEXT_TO_NOTHING,
    UPDATES_OF_ZERO,
    UPDATES_TOO_SMALL,
    VANISHING_GRADIENT,
)
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.logdir.definitions.graphs import TensorRef
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.layer_gradients import LayerGradient
    from tfdbg_tui.logdir import GraphOp, Run, Variable
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

    _Measured = dict[tuple[str, TensorRef], tuple[TensorEvent, Magnitudes]]

_MANY = 4  # measured computations of each update, of which steps are too short
_LATE = 4  # of all steps one in so many may come before
_FADES = 3  # measured steps before a rate of 0, in which a schedule makes steps shorter
_FADED = 0.7  # times as long are the last of them, at most
_LONGER = 1e3  # times as long is a step of a bias than of all else, at most
_SHORT = 1e-6  # of a variable, that a step adds
_STANDING = 3  # variables that no step changes by more than that
_FIXED = 2  # variables that no step changes at all
_MANY_STAND = 8  # measured computations of their updates
_BESIDE = 100.0  # times as much is added to another at least
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""From 1 to the next number of each type."""


class _Step(NamedTuple):
    """How far the op of an optimizer goes at most.

    Attributes:
        rate: Which of its inputs is the learning rate.
        gradient: Which is the gradient.
        times: How many times the rate, or the rate times the gradient, it goes, momentum included.
        divides: Whether it divides the gradient by its size.
    """

    rate: int
    gradient: int
    times: float = 1.0
    divides: bool = False


_STEPS = {
    "ApplyGradientDescent": _Step(1, 2),
    "ApplyMomentum": _Step(2, 3, 100.0),
    "ApplyKerasMomentum": _Step(2, 3, 100.0),
    "ApplyAdam": _Step(5, 9, 10.0, divides=True),
    "ApplyAdagrad": _Step(2, 3, divides=True),
    "ApplyAdagradV2": _Step(2, 4, divides=True),
    "ApplyRMSProp": _Step(3, 7, 100.0, divides=True),
}
"""Of the ops of optimizers, with or without `Resource` before them."""


class _Added(NamedTuple):
    """A tensor that is added to a variable, or its gradient, and how much is added at most."""

    event: TensorEvent
    found: Magnitudes
    largest: Floats


class _Update(NamedTuple):
    """What is added to a variable in each step.

    Attributes:
        event: The last one.
        variable: The variable.
        steps: In which steps; below 0 what is in none.
        largest: The largest magnitude of each.
        share: The same, of the largest magnitude that the variable had then.
    """

    event: TensorEvent
    variable: Variable
    steps: Int64Array
    largest: Floats
    share: Floats


def find_tiny_updates(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the training functions all of whose updates are too small for their variables.

    A number does not change by what is less than a quarter of the distance to the next one at 1,
    times itself.  What begins with 0, as a bias does, changes all the same, and learns nothing.
    Nor does a millionth of itself make a difference, where it is no more from the first step on.
    Where a schedule makes steps so short after some, or none at all, nothing may have been learned
    in these: else they are short as all is learned.
    """
    if not dataflow.variables.trained:
        return
    for updates, beside in _by_graph(dataflow):
        dtype = dtype_of(dataflow.run, updates[0].event) or ""
        since, rule = _since(updates, _EPSILON.get(dtype, 0.0) / 4), UPDATES_TOO_SMALL
        if since is None and _since(updates, _SHORT) == 0 and not _may_have_learned(dataflow):
            since, rule = 0, UPDATES_NEXT_TO_NOTHING
        if since is None or (since and _may_have_learned(dataflow)):
            continue
        told = "the loss is what it was"
        if rule is UPDATES_TOO_SMALL:
            told = f"{dtype} has no number between 1 and 1 + {_EPSILON[dtype]:.1g}"
        largest = max(updates, key=lambda update: float(update.share[since:].max()))
        if _is_meant(largest.largest, since):
            continue
        most = float(largest.largest[since:].max())
        in_steps = (
            f"in {'the last' if since else 'all'} {len(largest.share) - since:,} steps measured"
        )
        evidence = (
            f"what is added to {largest.variable.name} is at most {most:.3g}, which is "
            f"{largest.share[since:].max():.1g} of its largest number, {in_steps}, and no more of "
            f"others that do not begin with 0; {told}"
        )
        if not most:
            rule = UPDATES_OF_ZERO
            evidence = f"what is added to {largest.variable.name} and others is 0 {in_steps}"
        if beside[since:].max(initial=0.0) > _LONGER * largest.largest[since:].max():
            rule = GRADIENT_NEXT_TO_NOTHING  # The step is long enough for a bias.
        match, step = Match("likely", evidence), int(largest.steps[since])
        yield Suspect(
            largest.event,
            rule,
            match,
            len(updates),
            largest.variable.layer,
            since=step if step >= 0 else None,
        )


def find_standing(dataflow: Dataflow, gradients: list[LayerGradient]) -> list[Suspect]:
    """Return the layers that hardly change in any step, where others of the same training do.

    Several, and half of all: the weights on the way back make gradients smaller than beside the
    last gradient shows.  Fewer where it is lost in rounding what is added to them.  One rate for
    all of them: with several the short steps may be meant.

    Args:
        dataflow: Of the run.
        gradients: Those of its layers.
    """
    for updates, _ in _by_graph(dataflow):
        shares = np.array([update.share.max() for update in updates])
        stand = (shares <= _SHORT) & np.array([update.largest.all() for update in updates])
        lost = _EPSILON.get(dtype_of(dataflow.run, updates[0].event) or "", 0.0) / 4
        is_fixed = (stand & (shares <= lost)).sum() >= _FIXED
        is_many = stand.sum() >= max(_STANDING, len(updates) / 2)
        if not (is_many or is_fixed) or len(updates[0].share) < _MANY_STAND:
            continue
        if shares.max() < _BESIDE * _SHORT or len(learning_rates(dataflow)) > 1:
            continue
        standing = [updates[place] for place in np.flatnonzero(stand).tolist()]
        layers = {update.variable.layer for update in standing}
        behind = [one for one in gradients if one.layer is not None and one.layer in layers]
        if not behind:
            continue
        last = max(behind, key=lambda one: one.event.index)
        evidence = (
            f"what is added to {counted(len(standing), 'variable')} ({standing[0].variable.name} "
            f"and others) is at most {shares[stand].max():.1g} of the largest number of each, in "
            f"all {len(updates[0].share):,} steps measured; of others up to {shares.max():.1g}"
        )
        others = (one.layer for one in sorted(behind, key=lambda one: -one.event.index))
        since, match = int(updates[0].steps[0]), Match("likely", evidence)
        return [
            Suspect(
                last.event,
                VANISHING_GRADIENT,
                match,
                len(standing),
                last.layer,
                tuple(dict.fromkeys(one for one in others if one not in (None, last.layer))),
                since=since if since >= 0 else None,
            )
        ]
    return []


def _since(updates: list[_Update], bound: float) -> int | None:
    """Return from which of the measured steps on no update is larger than a share.

    None where that is after more than a quarter of all steps: a rate that is annealed may end like
    that.

    Args:
        updates: Those of a graph.
        bound: The share.
    """
    if len({len(update.share) for update in updates}) > 1:
        return None
    larger = np.flatnonzero(np.max([update.share for update in updates], axis=0) > bound)
    since = int(larger[-1]) + 1 if larger.size else 0
    if len(updates[0].share) - since < _MANY:
        return None
    steps = updates[0].steps
    first, begin, last = (steps if steps.min() >= 0 else np.arange(len(steps)))[[0, since, -1]]
    return since if begin - first <= (last - first) / _LATE else None


def _is_meant(largest: Floats, since: int) -> bool:
    """Whether a rate is 0 as the program has set it so, not as a schedule has led there.

    Args:
        largest: What was added in each step.
        since: From which of the measured steps on it is too small.
    """
    if not since:
        return not largest.all()
    led_there = since >= _FADES and largest[since - 1] < _FADED * largest[0]
    return not largest[since] and not led_there


def _may_have_learned(dataflow: Dataflow) -> bool:
    fall = losses_that_fall(dataflow)
    return not fall or any(fall)


def _by_graph(dataflow: Dataflow) -> Iterator[tuple[list[_Update], Floats]]:
    """Yield the updates of each graph that has measured all that it makes.

    And the largest of each step of what begins with 0, whose share of that tells nothing.
    """
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    measured = _measured_in_graphs(run)
    reads: dict[tuple[str, Variable], Magnitudes] = {}
    added: dict[tuple[str, Variable], _Added | None] = {}
    for (graph_id, _), (event, found) in measured.items():
        value = values.of_site(run.graph_executions.site(event.index))
        if value is None or value.variable.slot_of or not value.variable.trainable:
            continue
        if value.is_update:
            added[graph_id, value.variable] = _Added(event, found, found.largest)
        else:
            reads[graph_id, value.variable] = found
    for (graph_id, name), variable in values.steps.items():
        if variable.trainable and not variable.slot_of:
            added[graph_id, variable] = _step_of(run, measured, run.graphs[graph_id].ops[name])
    graphs: dict[str, list[_Update]] = defaultdict(list)
    beside: dict[str, Floats] = {}
    unknown = set()
    for (graph_id, variable), one in added.items():
        read = reads.get((graph_id, variable))
        held = _in_same(read, one.found) if read is not None and one is not None else None
        if one is None or held is None or len(held) < _MANY:
            unknown.add(graph_id)
        elif held.all():
            share = one.largest / held
            steps = run.executions.steps.numbers_of(one.found.executions)
            graphs[graph_id].append(_Update(one.event, variable, steps, one.largest, share))
        else:
            others = beside.get(graph_id, np.zeros(len(one.largest)))
            beside[graph_id] = np.maximum(others[: len(held)], one.largest[: len(others)])
    for graph_id, updates in graphs.items():
        if graph_id not in unknown:
            yield updates, beside.get(graph_id, np.zeros(0))


def _measured_in_graphs(run: Run) -> _Measured:
    found = {}
    for event, magnitudes in measured_tensors(run):
        if event.kind == "graph_execution":
            site = run.graph_executions.site(event.index)
            found[site.graph_id, TensorRef(site.op_name, site.output_slot)] = event, magnitudes
    return found


def _step_of(run: Run, measured: _Measured, op: GraphOp) -> _Added | None:
    """Return what the op of an optimizer adds at most; None where that is not known.

    Args:
        run: The run.
        measured: The tensors of graphs that were measured.
        op: The op.
    """
    kind = _STEPS.get(op.op_type.removeprefix("Resource"))
    if kind is None or len(op.inputs) <= max(kind.rate, kind.gradient):
        return None
    rate, gradient = (
        measured.get((op.graph_id, _behind_identities(run, op.graph_id, op.inputs[place])))
        for place in (kind.rate, kind.gradient)
    )
    if rate is None or gradient is None:
        return None
    event, found = gradient
    rates = _in_same(rate[1], found)
    if rates is None:
        return None
    sizes = np.sign(found.largest) if kind.divides else found.largest
    return _Added(event, found, kind.times * rates * sizes)


def _behind_identities(run: Run, graph_id: str, tensor: TensorRef) -> TensorRef:
    """Return the tensor that one of a graph is the same as: what only hands on is not measured."""
    op = run.op(graph_id, tensor.op_name)
    while op is not None and op.op_type == "Identity" and op.inputs:
        tensor = op.inputs[0]
        op = run.op(graph_id, tensor.op_name)
    return tensor


def _in_same(some: Magnitudes, others: Magnitudes) -> Floats | None:
    """Return the largest magnitudes of a tensor in the executions of another, each measured once.

    None where it was not measured in each of them.
    """
    some = some.some(np.isin(some.executions, others.executions))
    return some.largest if np.array_equal(some.executions, others.executions) else None
