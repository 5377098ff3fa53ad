"""Variables of a session's graph that its optimizers leave out: by what their ops assign to."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.cuts import has_no_gradient
from tfdbg_tui.diagnosis.dataflow.variables import assigns, computes
from tfdbg_tui.diagnosis.gradients import is_backward_op
from tfdbg_tui.diagnosis.history import computed
from tfdbg_tui.diagnosis.op_traits import OF_WEIGHTS, RANDOM
from tfdbg_tui.diagnosis.untrained import Untrained
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Graph, GraphOp

_RESTORE = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
_KERNEL = 1  # which input of an op that multiplies data with weights is these


def find_left_out(dataflow: Dataflow) -> Iterator[Untrained]:
    """Yield variables of sessions that stay the random numbers that they began with.

    They may be trained, a loss that is differentiated is made of them, and others are trained. What
    was restored, or set in another way, may be left out of a training on purpose, and so may all of
    a model if an input of it is trained: an image, say.

    Args:
        dataflow: Of the run.
    """
    for graph in list(dataflow.run.graphs.values()):
        if not graph.trainable:
            continue
        assigning = _assigning(graph)
        changed = {name for name, ops in assigning.items() if _is_changed(dataflow, ops)}
        changed &= graph.trainable.keys()
        if not any(_is_kernel(graph, name) for name in changed):
            continue
        scopes = {_scope(name) for name in changed} - {""}
        names = {name for name in graph.trainable if _scope(name) not in scopes} - changed
        names = {name for name in names if _is_differentiated(dataflow, graph, name)}
        values = VariableValues(dataflow.run, dataflow.calls)
        left_out = [v for v in values.variables if v.file_set == graph.file_set and v.name in names]
        if any(_begins_random(dataflow, assigning[variable.name]) for variable in left_out):
            steps = (op for name in changed for op in assigning[name] if computes(op.op_type))
            asked_at = tuple(dict.fromkeys(op.stack_id for op in steps))
            yield Untrained(None, tuple(left_out), asked=False, asked_at=asked_at)


def _assigning(graph: Graph) -> Mapping[str, Sequence[GraphOp]]:
    """Return the ops that assign to each variable of a graph, the one that initializes it first."""
    found: dict[str, list[GraphOp]] = defaultdict(list)
    for op in list(graph.ops.values()):
        if assigns(op.op_type) and op.inputs:
            found[op.inputs[0].op_name].append(op)
    return found


def _scope(name: str) -> str:
    return name.rpartition("/")[0]


def _is_changed(dataflow: Dataflow, ops: Sequence[GraphOp]) -> bool:
    """Whether a variable was set, or may have been, to something else than its first value.

    Args:
        dataflow: Of the run.
        ops: Those that assign to it.
    """
    for op in ops[1:]:
        restoring = [one for one in _made_of(dataflow, op) if one.op_type in _RESTORE]
        if not restoring or any(_has_run(dataflow, one) for one in restoring):
            return True
    return False


def _begins_random(dataflow: Dataflow, ops: Sequence[GraphOp]) -> bool:
    """Whether the first value of a variable was random numbers, which were computed.

    Args:
        dataflow: Of the run.
        ops: Those that assign to it.
    """
    made_of = _made_of(dataflow, ops[0]) if ops else ()
    return any(one.op_type in RANDOM and _has_run(dataflow, one) for one in made_of)


def _made_of(dataflow: Dataflow, op: GraphOp) -> Iterator[GraphOp]:
    """Yield the ops that the value was made of that an op assigns."""
    names = Worklist(ref.op_name for ref in op.inputs[1:])
    for name in names:
        made = dataflow.run.op(op.graph_id, name)
        if made is not None:
            names.add(*(ref.op_name for ref in made.inputs))
            yield made


def _has_run(dataflow: Dataflow, op: GraphOp) -> bool:
    return any(computed(dataflow, op.graph_id, op.name))


def _is_kernel(graph: Graph, name: str) -> bool:
    """Whether layers multiply data with a variable."""
    values = (use.op_name for use in graph.consumers(name))
    uses = (use for value in values for use in graph.consumers(value))
    return any(
        use.input_slot == _KERNEL and graph.ops[use.op_name].op_type in OF_WEIGHTS for use in uses
    )


def _is_differentiated(dataflow: Dataflow, graph: Graph, name: str) -> bool:
    """Whether a gradient is computed of what is made of a variable, and may get to it."""
    names = Worklist(use.op_name for use in graph.consumers(name))
    for made in names:
        op = graph.ops[made]
        if is_backward_op(dataflow.run, op):
            return True
        if not has_no_gradient(op) and not assigns(op.op_type):
            names.add(*(use.op_name for use in graph.consumers(made)))
    return False
