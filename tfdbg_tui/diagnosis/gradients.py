"""Which events belong to the computation of a gradient, and whose gradient it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, stack_id_of

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run


class ForwardOp(NamedTuple):
    """The op whose gradient an event belongs to; its stack says where the user called it."""

    op_type: str
    stack_id: int


_NAME = re.compile(r"(^|/)gradient_tape/|(^|/)gradients(_\d+)?/|_grad/")
_FRAME = re.compile(
    r"tensorflow/python/(eager/(imperative_grad|backprop)|ops/(gradients_util|gradients_impl))\.py$"
)
_FUNCTION = re.compile(r"(gradient|_gradient_function|imperative_grad|jacobian|batch_jacobian)$")

_SCOPE = re.compile(r"(?:^|.*/)(?:gradient_tape|gradients(?:_\d+)?)/(.+)/[^/]+$")
_SLOPES = {"Reciprocal": ("Log", "Log1p"), "Inv": ("Log", "Log1p")}
"""Types of the ops in whose gradients an op type is, where their names do not tell."""


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
        return ForwardOp(named.op_type, named.stack_id)
    op_type = op_type_of(run, event) or ""
    wanted = _SLOPES.get(op_type, (op_type.removesuffix("Grad"),))
    found: set[ForwardOp] = set()
    for producer in dataflow.producers(event):
        if producer.event is None or is_backward(run, producer.event):
            continue
        source = dataflow.origin(producer.event)
        made_by, stack_id = op_type_of(run, source), stack_id_of(run, source)
        if made_by is not None and made_by in wanted and stack_id is not None:
            return ForwardOp(made_by, stack_id)
        uses = (use for use in dataflow.consumers(source) if use.op_type in wanted)
        found |= {forward for use in uses if (forward := _of_use(run, source, use))}
    return found.pop() if len(found) == 1 else None


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
    if made_in is not None:
        op = run.op(made_in.graph_id, use.name)
        if op is None or _NAME.search(op.name):
            return None
        return ForwardOp(op.op_type, op.stack_id)
    if use.event is None or is_backward(run, use.event):
        return None
    stack_id = stack_id_of(run, use.event)
    return ForwardOp(use.op_type or "", stack_id) if stack_id is not None else None
