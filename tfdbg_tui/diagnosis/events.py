"""One tensor that one recorded event made, and what the run says about it.

An execution makes a tensor for each of its outputs, a graph execution makes one.  Everything in
this package refers to tensors in this form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.op_traits import value_inputs
from tfdbg_tui.wire.dtypes import dtype_name

if TYPE_CHECKING:
    from tfdbg_tui.logdir import GraphExecution, GraphOp, Layer, Run, TensorSummary

Kind = Literal["execution", "graph_execution"]

_DEEP = 6  # ops behind one another, to the constants that all is made of

UNKNOWN_OP = "unknown op"
"""Stands for the type of an op whose definition cannot be read."""


@dataclass(frozen=True, slots=True)
class TensorEvent:
    """A tensor made by a recorded event.

    Attributes:
        kind: Which list of the run the event is in.
        index: Position in that list.
        slot: Which output of the op.
    """

    kind: Kind
    index: int
    slot: int


def summary_of(run: Run, event: TensorEvent) -> TensorSummary | None:
    """Return what was recorded of the tensor's values; None where there is nothing."""
    if event.kind == "graph_execution":
        return run.graph_executions[event.index].summary
    outputs = run.executions[event.index].outputs
    return outputs[event.slot] if event.slot < len(outputs) else None


def size_of(run: Run, event: TensorEvent) -> int:
    """Return the number of elements of a tensor; 0 where it is not on record."""
    summary = summary_of(run, event)
    return (summary.size or 0) if summary is not None else 0


def is_bad(run: Run, event: TensorEvent) -> bool | None:
    """Return whether a tensor has NaN or infinity; None where that is not on record."""
    summary = summary_of(run, event)
    return None if summary is None else summary.has_inf_or_nan


def typed_summary(run: Run, trace: GraphExecution) -> TensorSummary | None:
    """Return the values of a graph execution; their type, if not recorded, as its graph tells it.

    In ADAPTIVE and CONCISE_HEALTH healthy tensors have no type on record.
    """
    summary, op = trace.summary, run.op(trace.graph_id, trace.op_name)
    dtypes = op.output_dtypes if op else ()
    if summary is None or summary.dtype or trace.output_slot >= len(dtypes):
        return summary
    return replace(summary, dtype=dtype_name(dtypes[trace.output_slot]))


def name_of(run: Run, event: TensorEvent) -> str:
    """Return ``op_name:slot``; for executions, which have no name, ``op_type:slot``.

    Of a call it is the function as its author knows it.
    """
    if event.kind == "graph_execution":
        return run.graph_executions.site(event.index).tensor_name
    return f"{readable_function(run.executions.kind(event.index).op_type)}:{event.slot}"


def op_name_of(run: Run, event: TensorEvent) -> str | None:
    """Return the name of the op in its graph; None for executions, which have none."""
    if event.kind == "graph_execution":
        return run.graph_executions.site(event.index).op_name
    return None


def op_type_of(run: Run, event: TensorEvent) -> str | None:
    """Return the type of the op, or the name of the executed function; None where unknown."""
    if event.kind == "execution":
        return run.executions.kind(event.index).op_type
    op = graph_op_of(run, event)
    return op.op_type if op else None


def graph_id_of(run: Run, event: TensorEvent) -> str | None:
    """Return the graph that the op is in; None for executions, which are in none."""
    if event.kind == "graph_execution":
        return run.graph_executions.site(event.index).graph_id
    return None


def graph_op_of(run: Run, event: TensorEvent) -> GraphOp | None:
    """Return the op in its graph; None for executions and ops of unknown creation."""
    if event.kind == "execution":
        return None
    site = run.graph_executions.site(event.index)
    return run.op(site.graph_id, site.op_name)


def is_constant_or_count(run: Run, op: GraphOp | None) -> bool:
    """Whether what an op of a graph makes is of constants alone, or a cast of wide integers.

    Those are numbers of steps, of elements, of classes, which tell nothing of how large what is
    trained becomes: the gradient of a mean is divided by how many elements there are, and the rate
    of Adam depends on the number of the step.

    Args:
        run: The run.
        op: The op; None, for an eager one or where it is not known, is neither.
    """
    if op is None:
        return False
    return _is_of_constants(run, op, _DEEP) or (op.op_type == "Cast" and _takes_integers(run, op))


def _is_of_constants(run: Run, op: GraphOp, depth: int) -> bool:
    """Whether an op is a constant, or computes with such alone: the sum of weights of 1, say."""
    if op.op_type == "Const" or depth == 0:
        return op.op_type == "Const"
    slots = () if op.called_graphs else value_inputs(op.op_type, len(op.inputs))
    makers = [run.op(op.graph_id, op.inputs[slot].op_name) for slot in slots]
    return bool(makers) and all(
        maker is not None and _is_of_constants(run, maker, depth - 1) for maker in makers
    )


def _takes_integers(run: Run, op: GraphOp) -> bool:
    given = next(iter(op.inputs), None)
    maker = run.op(op.graph_id, given.op_name) if given is not None else None
    if given is None or maker is None:
        return False
    dtypes = maker.output_dtypes[given.slot : given.slot + 1]
    return any(dtype_name(number) in ("int32", "int64") for number in dtypes)


def stack_id_of(run: Run, event: TensorEvent) -> int | None:
    """Return the stack of the execution, or of the op's creation; an argument of `Run.stack`."""
    if event.kind == "execution":
        return run.executions.stack_ids[event.index]
    op = graph_op_of(run, event)
    return op.stack_id if op else None


def recorded_layer(run: Run, event: TensorEvent) -> Layer | None:
    """Return the layer in whose call the tensor's op was made, where that is recorded."""
    if event.kind == "execution":
        return run.layer_of_kind(run.executions.kind(event.index))
    op = graph_op_of(run, event)
    return op.layer if op else None


def device_of(run: Run, event: TensorEvent) -> str:
    """Return the name of the device that made the tensor; "" where unknown."""
    if event.kind == "graph_execution":
        return run.graph_executions.site(event.index).device
    devices = run.executions[event.index].output_devices
    return devices[event.slot] if event.slot < len(devices) else ""


def wall_time_of(run: Run, event: TensorEvent) -> float:
    """Return when the event was recorded, in seconds since the epoch."""
    events = run.executions if event.kind == "execution" else run.graph_executions
    return float(events.wall_times([event.index])[0])
