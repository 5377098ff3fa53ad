"""A step of the dataflow: an input and what made it, or a tensor and a use of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, TensorSummary

MAX_DEPTH = 40
"""How many boundaries a value is followed across."""

PASS_THROUGH = frozenset(
    {"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics"}
)
"""Ops whose output k is their input k.  TensorFlow's writer does not record Identity."""


def copied_input(op: GraphOp, slot: int) -> TensorRef | None:
    """Return the input that an output of an op is a copy of; None where it is none."""
    if op.op_type not in PASS_THROUGH or not op.inputs:
        return None
    return op.inputs[min(slot, len(op.inputs) - 1)]


def copied_output(op: GraphOp, input_slot: int) -> TensorRef | None:
    """Return the output that is a copy of an input of an op; None where there is none."""
    if op.op_type not in PASS_THROUGH:
        return None
    return TensorRef(op.name, input_slot if op.op_type == "IdentityN" else 0)


LIST_VALUES = {"TensorListFromTensor": 0, "TensorListPushBack": 1, "TensorListSetItem": 2}
"""Ops that put a tensor into a list (an RNN's inputs and outputs), and which input that is."""


class GraphTensor(NamedTuple):
    """A tensor of a graph, whether it is recorded or not.

    Attributes:
        graph_id: The graph.
        ref: Its op and output slot.
        at: Where in time it is meant.
    """

    graph_id: str
    ref: TensorRef
    at: At


@dataclass(frozen=True, slots=True)
class Producer:
    """An input of an event and where it comes from.

    Attributes:
        input_slot: Position among the inputs of the op.
        name: The tensor's name: ``op_name:slot`` in a graph, ``op_type:slot`` outside.
        event: The event that made it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: How the value got there: "graph", "argument", "call", "branch", "loop", "forward",
            "eager", "variable", "output", or "replica" of what another one puts into a collective.
        op_type: Type of the op that makes the input, where known; it tells more than the event
            where nothing was recorded.
        lost: Whether the tensor is recorded at other times, but not then: a ring buffer has
            dropped it.
        given: What the event's own record says of it: this project's writer describes the inputs
            of bad eager ops.
        is_number: Whether it is, by that record, a floating-point tensor.
        updated_by: Type of the op that has computed what a variable holds from what it held and
            from this; None if the variable holds this.
        updated_at: Stack of that op, where it is of a graph.
        nearest: The first tensor of a graph on the way to the event, often not recorded: what lies
            right behind a call, a branch, an argument.
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str
    op_type: str | None = None
    lost: bool = False
    given: TensorSummary | None = None
    is_number: bool = True
    updated_by: str | None = None
    updated_at: int | None = None
    nearest: GraphTensor | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a tensor.

    Attributes:
        input_slot: Which input of the consuming op it is.
        name: Name of the consuming op (in a graph) or its type (outside).
        event: The first output that the consumer made of it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: As in `Producer`.
        op_type: Type of the consuming op, where known.
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str
    op_type: str | None = None
