"""Which events belong to the computation of a gradient, and whose gradient it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of, op_type_of, stack_id_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.logdir import GraphOp, Run


class ForwardOp(NamedTuple):
    """The op whose gradient an event belongs to.

    Attributes:
        op_type: Its type.
        stack_id: Where the user called it.
        selected: Whether its result goes into a select, which may leave it out.
    """

    op_type: str
    stack_id: int
    selected: bool


_NAME = re.compile(r"(^|/)gradient_tape/|(^|/)gradients(_\d+)?/|_grad/")
_FRAME = re.compile(
    r"tensorflow/python/(eager/(imperative_grad|backprop)|ops/(gradients_util|gradients_impl))\.py$"
)
_FUNCTION = re.compile(r"(gradient|_gradient_function|imperative_grad|jacobian|batch_jacobian)$")

_SCOPE = re.compile(r"(?:^|.*/)(?:gradient_tape|gradients(?:_\d+)?)/(.+)/[^/]+$")
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

_SELECTS = ("Select", "SelectV2")
_DEPTH = 4  # ops of a gradient: how far behind one of them the forward values are
_BEHIND = 5_000  # executions: how far back the forward op of an eager gradient is looked for


def is_backward(run: Run, event: TensorEvent) -> bool:
    """Whether an event is part of a backward pass."""
    op = graph_op_of(run, event)
    if op is not None:
        graph = run.graphs[op.graph_id]
        return graph.name.startswith("__backward_") or _NAME.search(op.name) is not None
    if "__backward_" in (op_type_of(run, event) or ""):
        return True
    stack_id = stack_id_of(run, event)
    frames = run.stack(stack_id) if stack_id is not None else ()
    return any(
        frame.path is not None
        and _FRAME.search(frame.path.replace("\\", "/"))
        and _FUNCTION.search(frame.function)
        for frame in frames
    )


def forward_op(run: Run, dataflow: Dataflow, event: TensorEvent) -> ForwardOp | None:
    """Return the op whose gradient an event of a backward pass computes, or None.

    The names of most gradient ops begin with it; else it is the one that took the same input, or
    made it: SqrtGrad takes what Sqrt has made.
    """
    op = graph_op_of(run, event)
    named = _named(run, dataflow, op) if op is not None else None
    if named is not None:
        return _of_graph(run, named)
    op_type = op_type_of(run, event) or ""
    wanted = _SLOPES.get(op_type, (op_type.removesuffix("Grad"),))
    found = set(
        _eager_ops(run, dataflow, event, wanted)
        if event.kind == "execution"
        else _graph_ops(run, dataflow, event, wanted)
    )
    return found.pop() if len(found) == 1 else None


def _graph_ops(
    run: Run, dataflow: Dataflow, event: TensorEvent, wanted: tuple[str, ...]
) -> Iterator[ForwardOp]:
    """Yield forward ops that made or took a value that a gradient is computed from."""
    for source in _forward_values(run, dataflow, event):
        made_by, stack_id = op_type_of(run, source), stack_id_of(run, source)
        if made_by is not None and made_by in wanted and stack_id is not None:
            selected = any(use.op_type in _SELECTS for use in dataflow.consumers(source))
            yield ForwardOp(made_by, stack_id, selected)
            continue
        uses = (use for use in dataflow.consumers(source) if use.op_type in wanted)
        yield from filter(None, (_of_use(run, source, use) for use in uses))


def _forward_values(
    run: Run, dataflow: Dataflow, event: TensorEvent, depth: int = _DEPTH
) -> Iterator[TensorEvent]:
    """Yield the tensors of the forward pass that a tensor of a backward pass was computed from."""
    for producer in dataflow.producers(event):
        if producer.event is None:
            continue
        source = dataflow.origin(producer.event)
        if not is_backward(run, source):
            yield source
        elif depth:
            yield from _forward_values(run, dataflow, source, depth - 1)


def _eager_ops(
    run: Run, dataflow: Dataflow, event: TensorEvent, wanted: tuple[str, ...]
) -> Iterator[ForwardOp]:
    """Yield executions that made or took an eager tensor that a gradient is computed from.

    TensorFlow reads a variable without a record, but the tensor that it read has an id.
    """
    used = set(_used_ids(run, dataflow, event))
    for index in range(event.index - 1, max(-1, event.index - _BEHIND), -1):
        op_type = run.executions.kind(index).op_type
        if op_type not in wanted or is_backward(run, TensorEvent("execution", index, 0)):
            continue
        execution = dataflow.timeline.execution(index)
        if not used.isdisjoint((*execution.input_tensor_ids, *execution.output_tensor_ids)):
            uses = dataflow.consumers(TensorEvent("execution", index, 0))
            selected = any(use.op_type in _SELECTS for use in uses)
            yield ForwardOp(op_type, int(run.executions.stack_ids[index]), selected)


def _used_ids(
    run: Run, dataflow: Dataflow, event: TensorEvent, depth: int = _DEPTH
) -> Iterator[int]:
    """Yield the ids of the eager tensors that a tensor of a backward pass was computed from."""
    yield from dataflow.timeline.execution(event.index).input_tensor_ids
    for producer in dataflow.producers(event) if depth else ():
        source = producer.event
        if source is not None and source.kind == "execution" and is_backward(run, source):
            yield from _used_ids(run, dataflow, source, depth - 1)


def _named(run: Run, dataflow: Dataflow, op: GraphOp) -> GraphOp | None:
    """Return the forward op that the name of a gradient op begins with."""
    match = _SCOPE.match(op.name)
    calls = dataflow.calls
    if match is None:
        return None
    graphs = [op.graph_id, calls.forward_graph(calls.outermost(op.graph_id)) or ""]
    parts = match[1].split("/")
    for graph_id in graphs:
        for end in range(len(parts), 0, -1):
            forward = run.op(graph_id, "/".join(parts[:end]).removesuffix("_grad"))
            if forward is not None:
                return forward
    return None


def _of_use(run: Run, source: TensorEvent, use: Use) -> ForwardOp | None:
    """Return the op that uses a tensor, unless it belongs to a gradient itself."""
    made_in = graph_op_of(run, source)
    op = run.op(made_in.graph_id, use.name) if made_in is not None else None
    if op is None or _NAME.search(op.name):
        return None
    return _of_graph(run, op)


def _of_graph(run: Run, op: GraphOp) -> ForwardOp:
    ops = run.graphs[op.graph_id].ops
    users = [ops.get(use.op_name) for use in run.graphs[op.graph_id].consumers(op.name)]
    selected = any(user is not None and user.op_type in _SELECTS for user in users)
    return ForwardOp(op.op_type, op.stack_id, selected)
