"""Variables that a program means to train, and does not: by which gradients are asked for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import stack_id_of, summary_of
from tfdbg_tui.diagnosis.function_names import INITIALIZER, readable_function
from tfdbg_tui.diagnosis.history import by_step, measured_tensors
from tfdbg_tui.diagnosis.losses import made_of, target_of
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import GradientRequest, Graph, Layer, Run, Variable

_MEASURED = 5  # values of a variable that are the same, though something assigns to it
_MOST = 20_000  # executions that assign, whose inputs are read
_LOADER = re.compile(r"[/\\]tensorflow[/\\]python[/\\]saved_model[/\\]load\.py$")
"""The file of TensorFlow that makes the variables of a SavedModel."""

Key = tuple[int, int]
"""Tells a variable: file set and handle."""


class Untrained(NamedTuple):
    """Variables that may be trained and never change.

    Attributes:
        layer: The layer that has them, and no other that does; None for what is in none.
        variables: These.
        asked: Whether their gradients are asked for: they have none.
        assigned: Whether something assigns to them, and it is what they were.
        asked_at: Stacks of where gradients of others are asked for, and none of them is.
    """

    layer: Layer | None
    variables: tuple[Variable, ...]
    asked: bool
    assigned: bool = False
    asked_at: tuple[int, ...] = ()


def find_untrained(dataflow: Dataflow) -> list[Untrained]:
    """Return the variables that may be trained and never change, while others are trained.

    Those of a layer that trains some of its variables are not among them.
    """
    run = dataflow.run
    connected, unconnected, left_out = (set[Key]() for _ in range(3))
    for request in run.gradient_requests:
        unconnected.update(keys_of(request, request.unconnected))
        connected.update(connected_of(request))
        left_out.update(keys_of(request, request.left_out))
    known = {v.key: v for v in run.variables if v.trainable}
    wanted = (unconnected | left_out) & known.keys() - connected
    if not wanted:
        return []
    # A gradient may be asked for without training: of an input, say, or to look at it.
    changed = assigned_later(dataflow, connected)
    again = assigned_later(dataflow, changed, times=2)
    wanted &= _without_gradient(run, changed) | _left_out(dataflow, again, known)
    assigned = assigned_later(dataflow, wanted)
    # Who puts zeros in place of gradients that are None, lets the optimizer assign what was there.
    kept = _kept(dataflow, assigned & unconnected)
    wanted -= assigned - kept
    trained = [v for key, v in known.items() if key not in wanted]
    return [
        Untrained(
            layer,
            variables,
            any(v.key in unconnected for v in variables),
            any(v.key in kept for v in variables),
            _asked_at(run, {v.key for v in variables}, changed),
        )
        for layer, variables in _by_layer((known[key] for key in sorted(wanted)), trained)
    ]


def _asked_at(run: Run, wanted: set[Key], changed: set[Key]) -> tuple[int, ...]:
    """Return the stacks of where trainings ask for gradients, and leave some variables out.

    Args:
        run: The run.
        wanted: The variables.
        changed: The variables that have a gradient and are assigned to.
    """
    found = (
        request.stack_id
        for requests in _trainings(run, changed)
        for request in requests
        if wanted & keys_of(request, request.left_out)
    )
    return tuple(dict.fromkeys(stack_id for stack_id in found if stack_id is not None))


def _kept(dataflow: Dataflow, wanted: set[Key]) -> set[Key]:
    """Return those variables whose values are the same whenever they were measured, to the bit."""
    if not wanted:
        return set()
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    ends: dict[Key, set[tuple[float | None, float | None]]] = defaultdict(set)
    times = Counter[Key]()
    for event, measured in measured_tensors(run):
        for variable, found in values.of_measured(event, measured):
            if variable.key not in wanted:
                continue
            times[variable.key] = max(times[variable.key], len(by_step(run, found)[0]))
            for row in found.rows.tolist():
                value = summary_of(run, replace(event, index=row))
                ends[variable.key].add((value.minimum, value.maximum) if value else (None, None))
    return {
        key
        for key, some in ends.items()
        if len(some) == 1 and None not in next(iter(some)) and times[key] >= _MEASURED
    }


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
        for key in keys_of(request, request.unconnected)
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
        keys = {key for request in requests for key in keys_of(request, request.left_out)}
        trained = changed & (keys | {key for each in requests for key in connected_of(each)})
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
    targets = (target_of(dataflow, request) for request in requests)
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
    connected = connected_of(request)
    return bool(changed & (connected or keys_of(request, request.left_out)))


def connected_of(request: GradientRequest) -> set[Key]:
    """Return the variables of which a gradient was given."""
    return keys_of(request, {*request.asked} - {*request.unconnected})


def keys_of(request: GradientRequest, handles: Iterable[int]) -> set[Key]:
    """Return the variables of some handles of a request."""
    return {(request.file_set, handle) for handle in handles}


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


def assigned_later(dataflow: Dataflow, wanted: set[Key], times: int = 1) -> set[Key]:
    """Return those variables that are assigned to, or may be, after they were made.

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
