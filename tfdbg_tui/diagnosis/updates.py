"""Which layer or variable the step of an optimizer is about: that which its numbers go into."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.variables import READS, assigns
from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward, is_backward_op
from tfdbg_tui.diagnosis.variable_values import VariableValues

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Layer, Variable

_CONVERSIONS = frozenset({"Cast", "Identity"})
_LAST = 256  # eager assignments that are looked at
_FAR = 4  # ops to an assignment: Adam squares a gradient, subtracts, scales, and adds what it has


def updated_layer(dataflow: Dataflow, event: TensorEvent) -> Layer | None:
    """Return the layer whose variable a tensor goes into, or what an optimizer keeps of it.

    None where the variables that are assigned first are of no layer, or of several.

    Args:
        dataflow: Of the run.
        event: The tensor.
    """
    known = dataflow.variables.named
    if not known:
        return None
    found = [known.get(key) for key in _first_assigned(dataflow, event)]
    layers = {layer_of_variable(dataflow, one) if one else None for one in found}
    return layers.pop() if len(layers) == 1 else None


def named_variables(dataflow: Dataflow, event: TensorEvent) -> list[str]:
    """Return the names of the variables that an op makes, takes, or else changes by its result.

    Of what an optimizer keeps it is the name of the variable that it keeps it of.

    Args:
        dataflow: Of the run.
        event: The result of the op.
    """
    known = dataflow.variables.named
    if not known:
        return []
    made = _made(dataflow, event) & known.keys()
    keys = made or variables_read(dataflow, event) & known.keys()
    keys = keys or _first_assigned(dataflow, event) & known.keys()
    return [_kept_of(dataflow, known[key]).name for key in sorted(keys)]


def changes_variable(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Return whether a tensor goes into a variable, known or not.

    Args:
        dataflow: Of the run.
        event: The tensor.
    """
    return bool(_first_assigned(dataflow, event))


def changed_at(dataflow: Dataflow, variable: Variable) -> int | None:
    """Return the stack of an op that changes a variable in training; None where none is known.

    Eagerly it is that of the last change.

    Args:
        dataflow: Of the run.
        variable: The variable.
    """
    run, variables = dataflow.run, dataflow.variables
    steps = VariableValues(run, dataflow.calls).steps
    for graph in list(run.graphs.values()):
        if graph.file_set != variable.file_set:
            continue
        for op in list(graph.ops.values()):
            is_assigned = assigns(op.op_type) and variables.handle(op) == variable.handle
            if is_assigned or steps.get((graph.graph_id, op.name)) == variable:
                return op.stack_id
    executions = run.executions
    rows = executions.of_kinds(lambda kind: assigns(kind.op_type))[-_LAST:]
    for row in rows[executions.steps.numbers_of(rows) >= 0][::-1].tolist():
        changed = next(iter(dataflow.timeline.input_ids(row)), 0)
        if (executions.kind(row).file_set, changed) == variable.key:
            return int(executions.stack_ids[row])
    return None


def layer_of_variable(dataflow: Dataflow, variable: Variable) -> Layer | None:
    """Return the layer of a variable, or of the variable that an optimizer keeps it of."""
    of = _kept_of(dataflow, variable)
    return None if of.slot_of else of.layer


def _kept_of(dataflow: Dataflow, variable: Variable) -> Variable:
    return dataflow.variables.named.get((variable.file_set, variable.slot_of), variable)


def _made(dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    if event.kind != "execution":
        return set()
    kind = dataflow.run.executions.kind(event.index)
    return {(kind.file_set, one) for one in dataflow.timeline.output_ids(event.index)}


def variables_read(dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    """Return the keys of the variables whose values an op takes, in whatever type.

    Args:
        dataflow: Of the run.
        event: A result of the op.
    """
    run = dataflow.run
    found = set()
    for producer in dataflow.producers(event):
        made = producer.event
        while made is not None and op_type_of(run, made) in _CONVERSIONS:
            made = next((p.event for p in dataflow.producers(made)), None)
        if made is None or op_type_of(run, made) not in READS:
            continue
        op = graph_op_of(run, made)
        if op is not None:
            found.add((run.graphs[op.graph_id].file_set, dataflow.variables.handle(op)))
        elif made.kind == "execution":
            kind = run.executions.kind(made.index)
            found.update((kind.file_set, one) for one in dataflow.timeline.input_ids(made.index))
    return found


def _first_assigned(dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    if event.kind == "execution":
        return _assigned_eagerly(dataflow, event)
    op = graph_op_of(dataflow.run, event)
    return _assigned(dataflow, op) if op is not None else set()


def _assigned(dataflow: Dataflow, op: GraphOp) -> set[tuple[int, int]]:
    """Return the variables that are assigned first of what is made of the result of an op."""
    run = dataflow.run
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


def _assigned_eagerly(dataflow: Dataflow, event: TensorEvent) -> set[tuple[int, int]]:
    """Return the variables that eager ops assign first of what is made of a tensor."""
    run = dataflow.run
    kind_of, timeline = run.executions.kind, dataflow.timeline
    made = {event.index}
    in_gradient = is_backward(run, event)
    for _ in range(_FAR):
        ids = [(row, tensor_id) for row in made for tensor_id in timeline.output_ids(row)]
        made = {user for row, tensor_id in ids for user, _ in timeline.users(tensor_id, row)}
        if not in_gradient:
            made = {row for row in made if not is_backward(run, replace(event, index=row))}
        assigning = [row for row in made if assigns(kind_of(row).op_type)]
        if assigning:
            return {(kind_of(row).file_set, timeline.input_ids(row)[0]) for row in assigning}
    return set()
