"""Which layer the step of an optimizer is about: that whose variable its numbers go into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import graph_op_of
from tfdbg_tui.diagnosis.gradients import is_backward_op

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Layer, Run, Variable

_FAR = 4  # ops to an assignment: Adam squares a gradient, subtracts, scales, and adds what it has


def updated_layer(run: Run, dataflow: Dataflow, event: TensorEvent) -> Layer | None:
    """Return the layer whose variable a tensor goes into, or what an optimizer keeps of it.

    None where the variables that are assigned first are of no layer, or of several.

    Args:
        run: The run.
        dataflow: Of the run.
        event: The tensor.
    """
    known = {variable.key: variable for variable in run.variables}
    found = [known.get(key) for key in _first_assigned(run, dataflow, event)]
    layers = {layer_of_variable(run, one) if one else None for one in found}
    return layers.pop() if len(layers) == 1 else None


def layer_of_variable(run: Run, variable: Variable) -> Layer | None:
    """Return the layer of a variable, or of the variable that an optimizer keeps it of."""
    if not variable.slot_of:
        return variable.layer
    of = variable.file_set, variable.slot_of
    return next((other.layer for other in run.variables if other.key == of), None)


def _first_assigned(run: Run, dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    if event.kind == "execution":
        return _assigned_eagerly(run, dataflow, event)
    op = graph_op_of(run, event)
    return _assigned(run, dataflow, op) if op is not None else set()


def _assigned(run: Run, dataflow: Dataflow, op: GraphOp) -> set[tuple[int, int]]:
    """Return the variables that are assigned first of what is made of the result of an op."""
    graph = run.graphs[op.graph_id]
    in_gradient = is_backward_op(run, op)
    made = [op]
    for _ in range(_FAR):
        used = {use.op_name for one in made for use in graph.consumers(one.name)}
        made = [graph.ops[name] for name in used]
        if not in_gradient:  # A loss goes into no variable; its gradient, by way of them, into all.
            made = [one for one in made if not is_backward_op(run, one)]
        assigning = [one for one in made if assigns(one.op_type)]
        if assigning:
            return {(graph.file_set, dataflow.variables.handle(one)) for one in assigning}
    return set()


def _assigned_eagerly(run: Run, dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    """Return the variables that eager ops assign first of what is made of a tensor."""
    kind_of, timeline = run.executions.kind, dataflow.timeline
    made = {event.index}
    for _ in range(_FAR):
        ids = [(row, tensor_id) for row in made for tensor_id in timeline.output_ids(row)]
        made = {user for row, tensor_id in ids for user, _ in timeline.users(tensor_id, row)}
        assigning = [row for row in made if assigns(kind_of(row).op_type)]
        if assigning:
            return {(kind_of(row).file_set, timeline.input_ids(row)[0]) for row in assigning}
    return set()
