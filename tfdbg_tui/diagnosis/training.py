"""What a program means to train, and what it trains: which variables gradients are asked for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.dataflow.variables import READS, assigns
from tfdbg_tui.diagnosis.events import TensorEvent, op_type_of, stack_id_of, summary_of
from tfdbg_tui.diagnosis.function_names import INITIALIZER, readable_function
from tfdbg_tui.diagnosis.gradients import forward_ops
from tfdbg_tui.diagnosis.history import by_step, computed, magnitudes_of
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.worklist import Worklist
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import GradientRequest, Graph, Layer, Run, Variable
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MOST = 20_000  # executions that assign, whose inputs are read
_FOLLOWED = 5_000  # tensors that a loss is made of
_SAMPLE = 8  # computations of a loss whose sign is looked at
AVERAGES = frozenset({"Mean", "Sum", "RealDiv", "DivNoNan", "Mul", "Cast", "Identity", "Reshape"})
"""Types of ops by which a loss is averaged, or handed on."""
_CHANGES_SIGN = frozenset({"Neg", "Sub"})
_AT_END = 4  # measured steps of a loss that is compared with the first
_SAME = 0.9  # of a loss: batches differ by so much
_LOADER = re.compile(r"[/\\]tensorflow[/\\]python[/\\]saved_model[/\\]load\.py$")
"""The file of TensorFlow that makes the variables of a SavedModel."""
_BEGINS_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?/grad_ys_\d+$")

Key = tuple[int, int]
"""Tells a variable: file set and handle."""


class Untrained(NamedTuple):
    """Variables that may be trained and never change.

    Attributes:
        layer: The layer that has them, and no other that does; None for what is in none.
        variables: These.
        asked: Whether their gradients are asked for: they have none.
    """

    layer: Layer | None
    variables: tuple[Variable, ...]
    asked: bool


def find_untrained(dataflow: Dataflow) -> list[Untrained]:
    """Return the variables that may be trained and never change, while others are trained.

    Of a layer that is only: one that trains some of its variables is not among them.
    """
    run = dataflow.run
    connected, unconnected, left_out = (set[Key]() for _ in range(3))
    for request in run.gradient_requests:
        unconnected.update(_keys(request, request.unconnected))
        connected.update(_connected(request))
        left_out.update(_keys(request, request.left_out))
    known = {v.key: v for v in run.variables if v.trainable}
    wanted = (unconnected | left_out) & known.keys() - connected
    if not wanted:
        return []
    # A gradient may be asked for without training: of an input, say, or to look at it.
    changed = _assigned(dataflow, connected)
    again = _assigned(dataflow, changed, times=2)
    wanted &= _without_gradient(run, changed) | _left_out(dataflow, again, known)
    wanted -= _assigned(dataflow, wanted)
    trained = [v for key, v in known.items() if key not in wanted]
    return [
        Untrained(layer, variables, any(v.key in unconnected for v in variables))
        for layer, variables in _by_layer((known[key] for key in sorted(wanted)), trained)
    ]


def _without_gradient(run: Run, changed: set[Key]) -> set[Key]:
    """Return the variables whose gradient is asked for with that of others, and which have none.

    Args:
        run: The run.
        changed: The variables that have a gradient and are assigned to.
    """
    return {
        key
        for requests in _trainings(run, changed)
        for request in requests
        for key in _keys(request, request.unconnected)
    }


def _left_out(dataflow: Dataflow, changed: set[Key], known: Mapping[Key, Variable]) -> set[Key]:
    """Return the variables that a training reads and does not ask for.

    Of layers they are none where what is trained is in no layer and is given to layers: an image, a
    latent vector, or what is added to an input, for which a model is asked that is to stay as it
    is.  Variables of a SavedModel in no layer are none, either: it cannot say that it is frozen,
    and most that are loaded are to stay as they are.

    Args:
        dataflow: Of the run.
        changed: The variables that have a gradient and are assigned to more than once.
        known: The variables that may be trained.
    """
    found: set[Key] = set()
    for requests in _trainings(dataflow.run, changed):
        keys = {key for request in requests for key in _keys(request, request.left_out)}
        trained = changed & (keys | {key for each in requests for key in _connected(each)})
        of_layers = {key for key in keys & known.keys() if known[key].layer}
        in_none = keys & known.keys() - of_layers
        found |= {key for key in in_none if not _is_loaded(dataflow, key)}
        trains_layers = any(known[key].layer for key in trained & known.keys())
        if of_layers and (
            trains_layers or _take_nothing_of(dataflow, requests, of_layers, trained)
        ):
            found |= of_layers
    return found


def _is_loaded(dataflow: Dataflow, key: Key) -> bool:
    """Whether a variable was made by `tf.saved_model.load`."""
    made = dataflow.timeline.maker_in(*key)
    stack_id = stack_id_of(dataflow.run, made) if made is not None else None
    frames = dataflow.run.stack(stack_id) if stack_id is not None else ()
    return any(frame.path is not None and _LOADER.search(frame.path) for frame in frames)


def _take_nothing_of(
    dataflow: Dataflow,
    requests: Iterable[GradientRequest],
    some: set[Key],
    others: set[Key],
) -> bool:
    """Whether a loss is made of both, and ops that take some variables take nothing of others.

    Args:
        dataflow: Of the run.
        requests: What tapes were asked for of the loss.
        some: Variables.
        others: Other variables.
    """
    targets = (_target(dataflow, request) for request in requests)
    loss = next((target for target in targets if target is not None), None)
    users = made_of(dataflow, loss) if loss is not None else {}
    read = {event: variables_read(dataflow, event) for event in users}
    takers = {event for event, keys in read.items() if keys & some}
    made = Worklist(event for event, keys in read.items() if keys & others)
    if not takers or not made.seen:
        return False
    for event in made:
        made.add(*users[event])
    return made.seen.isdisjoint(takers)


def made_of(dataflow: Dataflow, loss: TensorEvent) -> dict[TensorEvent, set[TensorEvent]]:
    """Return what a loss is made of, but for values of variables, and for what each is used there.

    What is only there by way of `tf.stop_gradient` is not meant to learn.  Nothing where it is too
    much.

    Args:
        dataflow: Of the run.
        loss: A computation of the loss.
    """
    users: dict[TensorEvent, set[TensorEvent]] = {loss: set()}
    waiting = [loss]
    while waiting:
        event = waiting.pop()
        if op_type_of(dataflow.run, event) == "StopGradient":
            continue
        for producer in dataflow.producers(event):
            made = producer.event
            if made is None or op_type_of(dataflow.run, made) in READS:
                continue
            if made not in users:
                waiting.append(made)
            users.setdefault(made, set()).add(event)
        if len(users) > _FOLLOWED:
            return {}
    return users


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


def _trainings(run: Run, changed: set[Key]) -> Iterator[list[GradientRequest]]:
    """Yield what tapes were asked for of each tensor where some of that, or of it, changes.

    Args:
        run: The run.
        changed: The variables that have a gradient and are assigned to.
    """
    by_target: dict[Hashable, list[GradientRequest]] = defaultdict(list)
    for request in run.gradient_requests:
        target = request.target_graph_id, request.target, request.target_id
        # Several tensors that are differentiated together have neither name nor number.
        some = target if any(target[1:]) else request
        by_target[request.file_set, some].append(request)
    for requests in by_target.values():
        if any(_is_of_training(request, changed) for request in requests):
            yield requests


def _is_of_training(request: GradientRequest, changed: set[Key]) -> bool:
    """Whether a tape is asked for what changes, or for nothing but what its loss is not of.

    The latter is of a training if other tapes train what the loss is of: a critic, say.
    """
    connected = _connected(request)
    return bool(changed & (connected or _keys(request, request.left_out)))


def _connected(request: GradientRequest) -> set[Key]:
    return _keys(request, {*request.asked} - {*request.unconnected})


def _keys(request: GradientRequest, handles: Iterable[int]) -> set[Key]:
    return {(request.file_set, handle) for handle in handles}


def losses(dataflow: Dataflow) -> Iterator[TensorEvent]:
    """Yield a computation of each tensor whose gradient is asked for, without a loss scale."""
    of_tapes = (_target(dataflow, request) for request in dataflow.run.gradient_requests)
    found = chain(of_tapes, _targets_in_v1(dataflow))
    yield from dict.fromkeys(_unscaled(dataflow, loss) for loss in found if loss is not None)


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


def _factor(dataflow: Dataflow, request: GradientRequest) -> float:
    if request.target is None:
        return _factor_of_eager(dataflow, _target(dataflow, request))
    product = dataflow.run.op(request.target_graph_id, request.target.op_name)
    if product is None or product.op_type != "Mul":
        return 1.0
    # What only its gradient takes of a product, TensorFlow does not compute.
    made = (dataflow.run.op(product.graph_id, given.op_name) for given in product.inputs)
    constants = [op.name for op in made if op is not None and op.op_type == "Const"]
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


def may_be_negative(dataflow: Dataflow, loss: TensorEvent, found: Magnitudes) -> bool:
    """Whether a loss is below 0 at times, or is a difference, or something with its sign changed.

    Args:
        dataflow: Of the run.
        loss: A computation of it.
        found: Its magnitudes.
    """
    run = dataflow.run
    rows = found.rows[np.unique(np.linspace(0, len(found) - 1, _SAMPLE).astype(int))]
    summaries = [summary_of(run, replace(loss, index=row)) for row in rows.tolist()]
    if any(one is not None and (one.minimum or 0) < 0 for one in summaries):
        return True
    made: TensorEvent | None = loss
    while made is not None and op_type_of(run, made) in AVERAGES:
        made = next((producer.event for producer in dataflow.producers(made)), None)
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


def _target(dataflow: Dataflow, request: GradientRequest) -> TensorEvent | None:
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


def _by_layer(
    some: Iterable[Variable], others: Iterable[Variable]
) -> Iterator[tuple[Layer | None, tuple[Variable, ...]]]:
    """Yield the outermost layers all of whose variables are among some, and these."""
    of_others = {part for v in others if v.layer for part in v.layer.parts}
    found: dict[Layer | None, list[Variable]] = defaultdict(list)
    for variable in some:
        parts = variable.layer.parts if variable.layer else ()
        outermost = next((part for part in parts if part not in of_others), None)
        if outermost is not None or variable.layer is None:
            found[outermost].append(variable)
    for layer, variables in found.items():
        yield layer, tuple(variables)


def _assigned(dataflow: Dataflow, wanted: set[Key], times: int = 1) -> set[Key]:
    """Return those variables that are assigned, or may be, after they were made.

    Args:
        dataflow: Of the run.
        wanted: The variables.
        times: How often at least, where that is known: what loops and branches assign, they may do
            often.
    """
    counted = _eager_assignments(dataflow)
    if counted is None:
        return wanted
    found = {key for key in wanted if _is_assigned_in_graph(dataflow, key, times)}
    for file_set, handle in wanted - found:
        made = dataflow.timeline.maker_in(file_set, handle)
        # The first value is assigned as well, where the variable is made.
        if counted[file_set, handle] - (made is not None) >= times:
            found.add((file_set, handle))
    return found


def _eager_assignments(dataflow: Dataflow) -> Counter[Key] | None:
    """Return how often each variable is assigned by eager ops; None if those are too many."""
    executions = dataflow.run.executions
    rows = executions.of_kinds(lambda kind: assigns(kind.op_type))
    if len(rows) > _MOST:
        return None
    return Counter(
        (executions.kind(row).file_set, handle)
        for row in rows.tolist()
        for handle in dataflow.timeline.input_ids(row)[:1]
    )


def _is_assigned_in_graph(dataflow: Dataflow, key: Key, times: int) -> bool:
    file_set, handle = key
    return any(
        dataflow.variables.assigned_in(graph.graph_id, handle)
        and _ran(dataflow, graph.graph_id, times)
        and not _only_initializes(dataflow, graph)
        for graph in list(dataflow.run.graphs.values())
        if graph.file_set == file_set
    )


def _only_initializes(dataflow: Dataflow, graph: Graph) -> bool:
    """Whether what a graph assigns are first values of variables.

    A function that makes variables is traced twice: the first graph, which makes them, does not
    run; their values are assigned by a function of TensorFlow's own.
    """
    if readable_function(graph.name) == INITIALIZER:
        return True
    calls, executions = dataflow.calls, dataflow.run.executions
    outermost = dataflow.run.graphs.get(calls.outermost(graph.graph_id))
    if outermost is None or not any(
        op.op_type == "VarIsInitializedOp" for op in list(outermost.ops.values())
    ):
        return False
    ran = executions.of_kinds(lambda kind: outermost.graph_id in calls.executed_graphs(kind))
    return not len(ran)


def _ran(dataflow: Dataflow, graph_id: str, times: int) -> bool:
    """Whether a graph ran a number of times at least, as far as is known."""
    calls, executions = dataflow.calls, dataflow.run.executions
    if times == 1 or calls.outermost(graph_id) != graph_id:
        return True
    of_graph = executions.of_kinds(lambda kind: graph_id in calls.executed_graphs(kind))
    return not len(of_graph) or len(of_graph) >= times
