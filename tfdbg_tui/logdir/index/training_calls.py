"""Whether an execution is one of a training step, or of a backward pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.graphs import GRADIENT_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.events import ExecutionKind, StackFrame

_BACKWARD = "__backward_"
_CHANGES_VARIABLE = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")
_FRAME = re.compile(
    r"tensorflow/python/(eager/(imperative_grad|backprop)|ops/(gradients_util|gradients_impl))\.py$"
)
_FUNCTION = re.compile(r"(gradient|_gradient_function|imperative_grad|jacobian|batch_jacobian)$")


def trains(kind: ExecutionKind, graphs: Mapping[str, Graph]) -> bool:
    """Whether an execution computes gradients, or steps an optimizer, by itself.

    One of a gradient alone does not, which eager code asks for: what that differentiates has been
    called before it.
    """
    if kind.graph_id is None or _BACKWARD in kind.op_type:
        return False
    if kind.fetched and kind.graph_id in graphs:
        return _runs_optimizer(graphs[kind.graph_id], kind.fetched)
    return differentiates(graphs, kind.graph_id)


def _runs_optimizer(graph: Graph, fetched: Iterable[str]) -> bool:
    """Whether a run of a session fetches what `minimize` has returned.

    That is named as the scope of the ops that change the variables.
    """
    scopes = tuple(f"{name}/" for name in fetched)
    ops = (op for op in list(graph.ops.values()) if _CHANGES_VARIABLE.match(op.op_type))
    return any(op.name.startswith(scopes) for op in ops)


def differentiates(graphs: Mapping[str, Graph], graph_id: str) -> bool:
    """Whether a graph computes gradients, itself or in what it calls, as a training step does."""
    waiting, seen = [graph_id], {graph_id}
    while waiting:
        graph = graphs.get(waiting.pop())
        if graph is None:
            continue
        ops = list(graph.ops.values())
        if any(GRADIENT_NAME.search(op.name) for op in ops):
            return True
        inner = {*graph.inner_ids, *(called for op in ops for called in op.called_graphs)} - seen
        seen |= inner
        waiting += inner
    return False


def is_backward_stack(frames: Iterable[StackFrame]) -> bool:
    """Whether what is executed eagerly there is part of a backward pass."""
    return any(
        frame.path is not None
        and _FRAME.search(frame.path.replace("\\", "/"))
        and _FUNCTION.search(frame.function)
        for frame in frames
    )
