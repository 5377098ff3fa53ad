"""Which events belong to the computation of a gradient, and whose gradient it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_op_of,
    op_type_of,
    recorded_layer,
    stack_id_of,
)
from tfdbg_tui.diagnosis.locations import user_frame
from tfdbg_tui.diagnosis.op_traits import SELECTS_ELEMENTS
from tfdbg_tui.logdir.definitions.graphs import GRADIENT_NAME
from tfdbg_tui.logdir.index.training_calls import is_backward_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.logdir import Graph, GraphOp, Layer, Run, StackFrame


@dataclass(frozen=True, slots=True)
class ForwardOp:
    """The op whose gradient an event belongs to.

    Attributes:
        op_type: Its type.
        stack_id: Where the user called it.
        selected: Whether its result goes into a select, which may leave it out.
        layer: The layer that it is of, where that is recorded.
    """

    op_type: str
    stack_id: int
    selected: bool
    layer: Layer | None = field(default=None, compare=False)


_SCOPE = re.compile(r"(?:^|.*/)(?:gradient_tape|gradients(?:_\d+)?)/(.+)/[^/]+$")
_WITHIN = re.compile(r".*/gradients(?:_\d+)?/")
"""In the gradient of a loop or branch: what comes before the name of the forward op in its body."""

_SLOPES = {
    "Reciprocal": ("Log", "Log1p", "Acos", "Asin", "Atanh", "Angle"),
    "RealDiv": ("Atan2", "Acosh", "RealDiv"),
    "BesselI0": ("BesselI1",),
    "BesselI1": ("BesselI0", "BesselI1"),
    "Cosh": ("Sinh",),
    "Sinh": ("Cosh",),
    "Digamma": ("Lgamma",),
    "Polygamma": ("Digamma", "Polygamma"),
}
"""Types of the ops in whose gradients an op type is, where their names do not tell."""

_MACHINERY = re.compile(r"tensorflow/python/(eager/backprop|ops/gradients_util)\.py$")
_WITH_GRADIENT = re.compile(r"tensorflow/python/ops/custom_gradient\.py$")
_COPIES = re.compile(r"tensorflow/python/ops/(custom_gradient|gen_array_ops)\.py$")
_GRADIENT_OF = re.compile(r"_(\w+?)Grad(?:ient)?(V\d+)?$")

_OF_RESULT = frozenset(
    {
        "Sqrt", "Rsqrt", "Exp", "Expm1", "Tanh", "Sigmoid", "Reciprocal", "Inv", "Elu", "Selu",
        "Softmax", "LogSoftmax", "EuclideanNorm", "Max", "Min",
    }
)  # fmt: skip
"""Ops whose gradient is computed from their result."""

_NESTED = 40  # loops and branches around an op
_DEPTH = 4  # ops of a gradient: how far behind one of them the forward values are
_BEHIND = 5_000  # executions: how far back the forward op of an eager gradient is looked for


def is_backward(run: Run, event: TensorEvent) -> bool:
    """Whether an event is part of a backward pass."""
    op = graph_op_of(run, event)
    if op is not None:
        return is_backward_op(run, op)
    if "__backward_" in (op_type_of(run, event) or ""):
        return True
    return is_backward_stack(_frames(run, event))


def is_backward_op(run: Run, op: GraphOp) -> bool:
    """Whether an op of a graph is part of a backward pass."""
    graph = run.graphs[op.graph_id]
    return graph.name.startswith("__backward_") or GRADIENT_NAME.search(op.name) is not None


def forward_op(dataflow: Dataflow, event: TensorEvent) -> ForwardOp | None:
    """Return the op whose gradient an event of a backward pass computes, or None.

    The names of most gradient ops begin with it; else it is the one that took the same input, or
    made it: SqrtGrad takes what Sqrt has made.

    Args:
        dataflow: Where tensors come from.
        event: A tensor of a gradient.
    """
    run = dataflow.run
    op = graph_op_of(run, event)
    named = _named(run, dataflow.calls, op) if op is not None else None
    if named is not None:
        first = _first(run, dataflow.calls, named)
        return replace(_of_graph(run, named), stack_id=first.stack_id, layer=first.layer)
    stack_id = stack_id_of(run, event)
    is_wanted = _forward_types(run, stack_id, op_type_of(run, event) or "")
    if event.kind == "execution":
        return _eager_op(dataflow, event, is_wanted)
    found = list(_graph_ops(dataflow, event, is_wanted))
    if op is not None and not found:
        found = [_of_graph(run, user) for user in _same_graph_ops(run, op, is_wanted)]
    if found:
        return _only(found)
    # A Jacobian of eager ops is a function that takes what they made.
    call = dataflow.timeline.execution_of(event.index)
    called = TensorEvent("execution", call, 0) if call is not None else None
    return _eager_op(dataflow, called, is_wanted) if called is not None else None


def forward_ops(run: Run, calls: Calls, op: GraphOp) -> set[GraphOp]:
    """Return the ops of which a gradient op of a graph may be, by names and graphs alone.

    Args:
        run: The run.
        calls: The calls between its graphs.
        op: An op of a backward pass.
    """
    named = _named(run, calls, op)
    if named is not None:
        return {_first(run, calls, named)}
    return set(_same_graph_ops(run, op, _forward_types(run, op.stack_id, op.op_type)))


def _first(run: Run, calls: Calls, op: GraphOp) -> GraphOp:
    """Return the op that all began with, of the gradient of a gradient; else the op itself."""
    while (before := _named(run, calls, op)) is not None:
        op = before
    return op


def _only(found: Sequence[ForwardOp]) -> ForwardOp | None:
    """Return the forward op, if there are no two; without a layer, if only that is in doubt."""
    if len(set(found)) != 1:
        return None
    layers = {forward.layer for forward in found}
    return found[0] if len(layers) == 1 else replace(found[0], layer=None)


def _forward_types(run: Run, stack_id: int | None, op_type: str) -> Callable[[str], bool]:
    """Return what tells the types of the ops that a gradient may be of.

    TensorFlow names its gradient functions after them: ``_EuclideanNormGrad``.
    """
    function = _gradient_function(run.stack(stack_id) if stack_id is not None else ())
    match = _GRADIENT_OF.match(function or "")
    if match is not None:
        name = (match[1] + (match[2] or "")).lower()
        return lambda op_type: op_type.lower() == name
    wanted = _SLOPES.get(op_type, (op_type.removesuffix("Grad"),))
    return lambda op_type: op_type in wanted


def _gradient_function(frames: Sequence[StackFrame]) -> str | None:
    """Return the name of the function that computes the gradient of an op, in its stack."""
    position = _last_differentiating(frames)
    deeper = frames[position + 1 :] if position is not None else ()
    return deeper[0].function if deeper else None


def is_users_gradient(run: Run, event: TensorEvent) -> bool:
    """Whether a function of the user computes a gradient: its line is the place of an event."""
    frames = _frames(run, event)
    users, differentiating = user_frame(frames), _last_differentiating(frames)
    return users is not None and differentiating is not None and users > differentiating


def is_not_given(run: Run, event: TensorEvent) -> bool:
    """Whether an eager op made a tensor for a gradient function alone: no tape has given it.

    A function of the user's may show it all the same.
    """
    stack_id = stack_id_of(run, event)
    if event.kind != "execution" or stack_id is None or is_users_gradient(run, event):
        return False
    made = run.executions[event.index].output_tensor_ids[event.slot : event.slot + 1]
    file_set = run.executions.kind(event.index).file_set
    if made and run.is_left_gradient(file_set, made[0]):
        return True
    frames = run.stack(stack_id)
    tapes = [given for place, given in run.gradients_given.items() if _is_in(run, place, frames)]
    return bool(tapes) and not any(stack_id in given for given in tapes)


def is_kept_by_library(run: Run, event: TensorEvent) -> bool:
    """Whether a library's function with a gradient of its own has not given an eager tensor away.

    ``tf.custom_gradient`` copies what such a function gives, so what nothing takes in it is at most
    kept for the gradient.  TensorFlow's writer records no copies.
    """
    if event.kind != "execution" or not run.files.is_of_our_writer:
        return False
    frames = _frames(run, event)
    inside = frames[(user_frame(frames) or 0) + 1 :]
    return any(
        frame.function == "_eager_mode_decorator"
        and _is_of(_WITH_GRADIENT, frame)
        and not _is_of(_COPIES, called)
        for frame, called in pairwise(inside)
    )


def has_own_gradient(run: Run, event: TensorEvent) -> bool:
    """Whether an eager op ran in a function whose gradient the program gives itself."""
    return any(
        frame.function == "_eager_mode_decorator" and _is_of(_WITH_GRADIENT, frame)
        for frame in _frames(run, event)
    )


def _is_of(path: re.Pattern[str], frame: StackFrame) -> bool:
    return frame.path is not None and path.search(frame.path.replace("\\", "/")) is not None


def is_passed_on(run: Run, event: TensorEvent) -> bool:
    """Whether an eager gradient was given by a tape that went on to others with it."""
    stack_id = stack_id_of(run, event)
    places = run.gradients_passed_on
    if event.kind != "execution" or stack_id is None or not places:
        return False
    frames = run.stack(stack_id)
    return any(stack_id in ids and _is_in(run, place, frames) for place, ids in places.items())


def _is_in(run: Run, place: int, frames: Sequence[StackFrame]) -> bool:
    outer = run.stack(place)
    if not all(frame.function for frame in outer):
        return False  # Frames that the dump does not describe are like any others.
    return tuple(frames[: len(outer)]) == tuple(outer)


def _last_differentiating(frames: Sequence[StackFrame]) -> int | None:
    """Return the position of the innermost frame that calls gradient functions, or None."""
    for position in reversed(range(len(frames))):
        path = frames[position].path
        if path is not None and _MACHINERY.search(path.replace("\\", "/")):
            return position
    return None


def _frames(run: Run, event: TensorEvent) -> Sequence[StackFrame]:
    stack_id = stack_id_of(run, event)
    return run.stack(stack_id) if stack_id is not None else ()


def _graph_ops(
    dataflow: Dataflow, event: TensorEvent, is_wanted: Callable[[str], bool]
) -> Iterator[ForwardOp]:
    """Yield forward ops that made or took a value that a gradient is computed from."""
    run = dataflow.run
    for source in _forward_values(dataflow, event):
        made_by, stack_id = op_type_of(run, source), stack_id_of(run, source)
        if made_by is not None and is_wanted(made_by) and stack_id is not None:
            selected = any(use.op_type in SELECTS_ELEMENTS for use in dataflow.consumers(source))
            yield ForwardOp(made_by, stack_id, selected, recorded_layer(run, source))
            continue
        op = graph_op_of(run, source)
        if op is not None:
            users = (use.name for use in dataflow.consumers(source))
            yield from _forward_ops(run, op, users, is_wanted)


def _same_graph_ops(run: Run, op: GraphOp, is_wanted: Callable[[str], bool]) -> Iterator[GraphOp]:
    """Yield forward ops that made what a gradient op takes, or take it, such as an argument."""
    graph = run.graphs[op.graph_id]
    level = [op]
    for _ in range(1 + _DEPTH):
        names = dict.fromkeys(ref.op_name for one in level for ref in one.inputs)
        sources = [graph.ops[name] for name in names if name in graph.ops]
        level = [source for source in sources if GRADIENT_NAME.search(source.name)]
        for source in sources:
            if not GRADIENT_NAME.search(source.name):
                yield from _that_made_or_takes(graph, source, is_wanted)


def _that_made_or_takes(
    graph: Graph, source: GraphOp, is_wanted: Callable[[str], bool]
) -> Iterator[GraphOp]:
    if is_wanted(source.op_type):
        yield source
        return
    for user in (graph.ops.get(use.op_name) for use in graph.consumers(source.name)):
        if user is not None and is_wanted(user.op_type) and not GRADIENT_NAME.search(user.name):
            yield user


def _forward_values(dataflow: Dataflow, event: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the tensors of the forward pass that a tensor of a backward pass was computed from."""
    level = [event]
    for _ in range(1 + _DEPTH):
        made = (producer.event for one in level for producer in dataflow.producers(one))
        sources = dict.fromkeys(dataflow.origin(one) for one in made if one is not None)
        level = [source for source in sources if is_backward(dataflow.run, source)]
        yield from (source for source in sources if not is_backward(dataflow.run, source))


def _eager_op(
    dataflow: Dataflow, event: TensorEvent, is_wanted: Callable[[str], bool]
) -> ForwardOp | None:
    """Return the execution that made or took an eager tensor that a gradient is computed from.

    That is the one whose tensors are the nearest, if all of these are of one line.  TensorFlow
    reads a variable without a record, but the tensor that it read has an id.
    """
    run = dataflow.run
    distances = _used_ids(dataflow, event, partial(is_backward, run))
    found: dict[tuple[int, bool], list[ForwardOp]] = {}
    for index in range(event.index - 1, max(-1, event.index - _BEHIND), -1):
        op_type = run.executions.kind(index).op_type
        if not is_wanted(op_type) or not _may_be_forward(run, TensorEvent("execution", index, 0)):
            continue
        execution = dataflow.timeline.execution(index)
        made = [distances[i] for i in execution.output_tensor_ids if i in distances]
        taken = [distances[i] for i in execution.input_tensor_ids if i in distances]
        if made or taken:
            uses = dataflow.consumers(TensorEvent("execution", index, 0))
            selected = any(use.op_type in SELECTS_ELEMENTS for use in uses)
            key = min(made + taken), op_type in _OF_RESULT and not made
            stack_id = int(run.executions.stack_ids[index])
            forward = ForwardOp(op_type, stack_id, selected, execution.layer)
            found.setdefault(key, []).append(forward)
    return _only(found[min(found)]) if found else None


def _may_be_forward(run: Run, event: TensorEvent) -> bool:
    """Whether an eager tensor may be one whose gradient is computed.

    `tf.recompute_grad` calls the user's function again while it computes the gradient.
    """
    return not is_backward(run, event) or is_users_gradient(run, event)


def _used_ids(
    dataflow: Dataflow, event: TensorEvent, is_backward: Callable[[TensorEvent], bool]
) -> dict[int, int]:
    """Return the eager tensors that a tensor of a backward pass was computed from.

    Returns:
        By the id of a tensor: how many ops of the backward pass are between.
    """
    distances: dict[int, int] = {}
    events = [event]
    for distance in range(_DEPTH + 1):
        sources = []
        for made in events:
            for tensor_id in dataflow.timeline.execution(made.index).input_tensor_ids:
                distances.setdefault(tensor_id, distance)
            sources += [p.event for p in dataflow.producers(made) if p.event is not None]
        events = [s for s in sources if s.kind == "execution" and is_backward(s)]
    return distances


def _named(run: Run, calls: Calls, op: GraphOp, depth: int = _NESTED) -> GraphOp | None:
    """Return the forward op that the name of a gradient op begins with.

    Args:
        run: The run.
        calls: Which graph calls which.
        op: The gradient op.
        depth: How many loops and branches around it are looked at; a damaged file may have circles.
    """
    match = _SCOPE.match(op.name)
    if match is None:
        return None
    around = calls.forward_graph(op.graph_id) or calls.forward_graph(calls.outermost(op.graph_id))
    graphs = op.graph_id, around or ""
    scopes = [(graph_id, match[1]) for graph_id in graphs]
    within = _WITHIN.sub("", match[1])
    scopes += [(graph_id, within) for graph_id in _forward_parts(run, calls, op, depth)]
    for graph_id, scope in scopes:
        parts = scope.split("/")
        for end in range(len(parts), 0, -1):
            forward = run.op(graph_id, "/".join(parts[:end]).removesuffix("_grad"))
            if forward is not None:
                return forward
    return None


def _forward_parts(run: Run, calls: Calls, op: GraphOp, depth: int) -> tuple[str, ...]:
    """Return what the loop or branch consists of in whose gradient an op is; see `_named`."""
    site = calls.call_site(op.graph_id)
    if not depth or site is None or site.op is None or not is_backward_op(run, site.op):
        return ()
    forward = _named(run, calls, site.op, depth - 1)
    return calls.called_graphs(forward) if forward is not None else ()


def _forward_ops(
    run: Run, beside: GraphOp, names: Iterable[str], is_wanted: Callable[[str], bool]
) -> Iterator[ForwardOp]:
    """Yield those ops of the graph of another one that may be forward ops."""
    for op in (run.op(beside.graph_id, name) for name in names):
        if op is not None and is_wanted(op.op_type) and not GRADIENT_NAME.search(op.name):
            yield _of_graph(run, op)


def _of_graph(run: Run, op: GraphOp) -> ForwardOp:
    ops = run.graphs[op.graph_id].ops
    users = [ops.get(use.op_name) for use in run.graphs[op.graph_id].consumers(op.name)]
    selected = any(user is not None and user.op_type in SELECTS_ELEMENTS for user in users)
    return ForwardOp(op.op_type, op.stack_id, selected, op.layer)
