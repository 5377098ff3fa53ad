"""The losses of a program: what gradients are asked of, what that is made of, how large it is."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.kept import kept
from tfdbg_tui.diagnosis.dataflow.variables import READS
from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of, stack_id_of, summary_of
from tfdbg_tui.diagnosis.gradients import forward_ops
from tfdbg_tui.diagnosis.history import by_step, computed, magnitudes_of, sample_of
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.worklist import Worklist
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import GradientRequest
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_FOLLOWED = 5_000  # tensors that a loss is made of
_SAMPLE = 8  # computations of a loss whose sign is looked at
AVERAGES = frozenset({"Mean", "Sum", "RealDiv", "DivNoNan", "Mul", "Cast", "Identity", "Reshape"})
"""Types of ops by which a loss is averaged, or handed on."""
_CHANGES_SIGN = frozenset({"Neg", "Sub"})
_NUMBERS = READS | ARGUMENTS | {"Const"}
"""Types of ops that give a loss scale: a number of the program, an argument, a variable."""
_AT_END = 4  # measured steps of a loss that is compared with the first
_SAME = 0.9  # of a loss: batches differ by so much
_BEGINS_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?/grad_ys_\d+$")


@kept
def made_of(dataflow: Dataflow, loss: TensorEvent) -> Mapping[TensorEvent, set[TensorEvent]]:
    """Return what a loss is made of, but for values of variables, and for what each is used there.

    What is only there by way of `tf.stop_gradient` is not meant to learn.  Nothing where it is too
    much.

    Args:
        dataflow: Of the run.
        loss: A computation of the loss.
    """
    users: dict[TensorEvent, set[TensorEvent]] = {loss: set()}
    events = Worklist([loss], _FOLLOWED)
    for event in events:
        if op_type_of(dataflow.run, event) == "StopGradient":
            continue
        for producer in dataflow.producers(event):
            made = producer.event
            if made is not None and op_type_of(dataflow.run, made) not in READS:
                events.add(made)
                users.setdefault(made, set()).add(event)
    return {} if len(users) >= _FOLLOWED else users


def given_to(users: Mapping[TensorEvent, set[TensorEvent]]) -> dict[TensorEvent, set[TensorEvent]]:
    """Return what each tensor is made of that a loss is made of.

    Args:
        users: What each is used for; see `made_of`.
    """
    given: dict[TensorEvent, set[TensorEvent]] = defaultdict(set)
    for made, takers in users.items():
        for taker in takers:
            given[taker].add(made)
    return given


def all_comes_through(
    dataflow: Dataflow,
    users: Mapping[TensorEvent, set[TensorEvent]],
    event: TensorEvent,
) -> bool:
    """Whether a loss is made of a tensor, and of no trained variable but by way of that tensor.

    Args:
        dataflow: Of the run.
        users: What the loss is made of, itself first; see `made_of`.
        event: The tensor.
    """
    if event not in users:
        return False
    loss = next(iter(users))
    given = given_to(users)
    trainable = {variable.key for variable in dataflow.run.variables if variable.trainable}
    beside = Worklist([loss])
    for made in beside:
        if variables_read(dataflow, made) & trainable:
            return False
        beside.add(*(given[made] - {event}))
    return True


@kept
def losses(dataflow: Dataflow) -> tuple[TensorEvent, ...]:
    """Return a computation of each tensor whose gradient is asked for, without a loss scale."""
    of_tapes = (target_of(dataflow, request) for request in dataflow.run.gradient_requests)
    found = chain(of_tapes, _targets_in_v1(dataflow))
    unscaled = (_unscaled(dataflow, loss) for loss in found if loss is not None)
    return tuple(dict.fromkeys(unscaled))


def _targets_in_v1(dataflow: Dataflow) -> Iterator[TensorEvent | None]:
    """Yield what `tf.gradients`, which is no tape, has differentiated.

    It begins with ones, and what takes these is in the gradient of what was asked for.
    """
    for graph in list(dataflow.run.graphs.values()):
        for op in list(graph.ops.values()):
            if op.op_type != "Fill" or not _BEGINS_GRADIENTS.search(op.name):
                continue
            uses = (graph.ops[use.op_name] for use in graph.consumers(op.name))
            made = {one for use in uses for one in forward_ops(dataflow.run, dataflow.calls, use)}
            if len(made) == 1:
                target = TensorRef(made.pop().name, 0)
                yield _last_computed(dataflow, graph.graph_id, target)


def loss_scale(dataflow: Dataflow) -> float:
    """Return by what number losses are multiplied before gradients are asked for; 1 for none."""
    factors = (_factor(dataflow, request) for request in dataflow.run.gradient_requests)
    return max(factors, default=1.0)


def scaled_at(dataflow: Dataflow) -> Iterator[int | None]:
    """Yield the stacks of what multiplies losses by a scale, and of what made that.

    Args:
        dataflow: Of the run.
    """
    for request in dataflow.run.gradient_requests:
        if _factor(dataflow, request) <= 1.0:
            continue
        graph = dataflow.run.graphs.get(request.target_graph_id)
        if graph is None or request.target is None:
            product = target_of(dataflow, request)
            yield stack_id_of(dataflow.run, product) if product is not None else None
            continue
        product_op = graph.ops[request.target.op_name]
        yield product_op.stack_id
        for given in (graph.ops[one.op_name] for one in product_op.inputs):
            if given.op_type in READS:
                key = graph.file_set, dataflow.variables.handle(given)
                made = dataflow.timeline.maker_in(*key)
                yield stack_id_of(dataflow.run, made) if made is not None else None


def _factor(dataflow: Dataflow, request: GradientRequest) -> float:
    if request.target is None:
        return _factor_of_eager(dataflow, target_of(dataflow, request))
    product = dataflow.run.op(request.target_graph_id, request.target.op_name)
    if product is None or product.op_type != "Mul":
        return 1.0
    # What only its gradient takes of a product, TensorFlow does not compute.
    made = (dataflow.run.op(product.graph_id, given.op_name) for given in product.inputs)
    constants = [op.name for op in made if op is not None and op.op_type in _NUMBERS]
    values = [
        float(magnitudes_of(dataflow, event).largest.max(initial=0.0))
        for name in constants
        for event in computed(dataflow, product.graph_id, name)
    ]
    return max(values, default=1.0)


def _factor_of_eager(dataflow: Dataflow, product: TensorEvent | None) -> float:
    """Return how many times as large a product is as the one factor that is no number of Python."""
    factor = None if product is None else _scaled_by_python(dataflow, product)
    if product is None or factor is None:
        return 1.0
    before, after = (magnitudes_of(dataflow, one).largest for one in (factor, product))
    if not (before.size and after.size and before[0]):
        return 1.0
    return float(after[0] / before[0])


def _scaled_by_python(dataflow: Dataflow, product: TensorEvent) -> TensorEvent | None:
    """Return what an eager product is of besides a number of Python, which leaves no record."""
    if product.kind != "execution" or op_type_of(dataflow.run, product) != "Mul":
        return None
    made = [producer.event for producer in dataflow.producers(product)]
    factors = [event for event in made if event is not None]
    return factors[0] if len(factors) == 1 and len(made) == 2 else None


def magnitudes_of_loss(dataflow: Dataflow, loss: TensorEvent) -> Magnitudes:
    """Return the magnitudes of a loss, without those of others that the same line computes.

    Eagerly, a line may compute several tensors by ops of one type; the loss is the same one in turn
    in each step.

    Args:
        dataflow: Of the run.
        loss: A computation of it.
    """
    found = magnitudes_of(dataflow, loss)
    if loss.kind != "execution":
        return found
    rows = dataflow.timeline.alike(loss.index)
    steps = dataflow.run.executions.steps.numbers_of(rows)
    begins = np.flatnonzero(np.diff(steps, prepend=-2))
    turns = np.arange(len(rows)) - np.repeat(begins, np.diff(begins, append=len(rows)))
    own = turns == turns[np.searchsorted(rows, loss.index)]
    return found.some(np.isin(found.rows, rows[own]))


def behind(
    dataflow: Dataflow, event: TensorEvent, op_types: AbstractSet[str]
) -> TensorEvent | None:
    """Return what a tensor is made of by ops of some types, going back by their first inputs.

    None where that is not on record.

    Args:
        dataflow: Of the run.
        event: The tensor; returned where an op of another type made it.
        op_types: The types.
    """
    made: TensorEvent | None = event
    while made is not None and op_type_of(dataflow.run, made) in op_types:
        made = next((producer.event for producer in dataflow.producers(made)), None)
    return made


def may_be_negative(dataflow: Dataflow, loss: TensorEvent, found: Magnitudes) -> bool:
    """Whether a loss is below 0 at times, or is a difference, or something with its sign changed.

    Args:
        dataflow: Of the run.
        loss: A computation of it.
        found: Its magnitudes.
    """
    run = dataflow.run
    rows = sample_of(found.rows, _SAMPLE).tolist()
    summaries = [summary_of(run, replace(loss, index=row)) for row in rows]
    if any(one is not None and (one.minimum or 0) < 0 for one in summaries):
        return True
    made = behind(dataflow, loss, AVERAGES)
    return made is not None and op_type_of(run, made) in _CHANGES_SIGN


def losses_that_fall(dataflow: Dataflow) -> list[bool]:
    """Return of each loss whether it is smaller at the end than in the first step.

    Those that are not measured in steps, or may be below 0, are left out.
    """
    fall = []
    for loss in losses(dataflow):
        found = magnitudes_of_loss(dataflow, loss)
        _, largest = by_step(dataflow.run, found)
        if len(largest) >= _AT_END and not may_be_negative(dataflow, loss, found):
            fall.append(bool(np.median(largest[-_AT_END:]) < _SAME * largest[0]))
    return fall


def falls_after(dataflow: Dataflow, step: int) -> bool:
    """Whether a loss is smaller at the end than just after a step, or may be.

    Args:
        dataflow: Of the run.
        step: The step.
    """
    measured = (
        by_step(dataflow.run, magnitudes_of_loss(dataflow, one)) for one in losses(dataflow)
    )
    after = [largest[steps > step] for steps, largest in measured]
    known = [largest for largest in after if len(largest) >= 2 * _AT_END]
    return (
        len(known) < len(after)
        or not known
        or any(
            np.median(largest[-_AT_END:]) < _SAME * np.median(largest[:_AT_END])
            for largest in known
        )
    )


def target_of(dataflow: Dataflow, request: GradientRequest) -> TensorEvent | None:
    """Return a computation of what is differentiated; None where that is not known.

    Args:
        dataflow: Of the run.
        request: What a tape was asked for.
    """
    if request.target is None:
        made = dataflow.timeline.maker_in(request.file_set, request.target_id)
        return dataflow.origin(made) if made is not None else None
    return _last_computed(dataflow, request.target_graph_id, request.target)


def _last_computed(dataflow: Dataflow, graph_id: str, tensor: TensorRef) -> TensorEvent | None:
    """Return the last computation of a tensor of a graph, of what it is a copy of.

    Args:
        dataflow: Of the run.
        graph_id: The graph.
        tensor: The tensor in it.
    """
    traces = dataflow.run.graph_executions
    for site, number in dataflow.timeline.sites(graph_id, tensor.op_name):
        row = traces.last_before(number, len(traces))
        if row is not None and site.output_slot == tensor.slot:
            return dataflow.origin(TensorEvent("graph_execution", row, site.output_slot))
    return None


def _unscaled(dataflow: Dataflow, loss: TensorEvent) -> TensorEvent:
    """Return what a product is of besides a variable or Python's number; else the tensor itself."""
    if op_type_of(dataflow.run, loss) != "Mul":
        return loss
    factors = [p.event for p in dataflow.producers(loss) if p.event is not None]
    values = [factor for factor in factors if not _is_read(dataflow, factor)]
    is_scaled = len(factors) == 2 or factors == [_scaled_by_python(dataflow, loss)]
    return values[0] if len(values) == 1 and is_scaled else loss


def _is_read(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor is the value of a variable, or a cast of it."""
    while op_type_of(dataflow.run, event) == "Cast":
        producers = dataflow.producers(event)
        if not producers or producers[0].event is None:
            return False
        event = producers[0].event
    return op_type_of(dataflow.run, event) in READS
