"""The surroundings of an op in its graph: what it takes, and who takes what it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row of Graph Structure.

    Attributes:
        role: An input of the op, the op itself, or a consumer of one of its outputs.
        op_name: The input's producer, the op, or the consumer.
        op_type: Its type; None where its creation has not been recorded.
        output_slot: Which output: of the input's producer, or of the op that is consumed.
        input_slot: Which input: of the op, or of the consumer.
    """

    role: Literal["input", "op", "consumer"]
    op_name: str
    op_type: str | None
    output_slot: int = 0
    input_slot: int = 0


def neighbours(run: Run, graph_id: str, op_name: str) -> tuple[Neighbour, ...]:
    """Return the rows of Graph Structure: inputs, the op, consumers by output slot."""
    graph = run.graphs.get(graph_id)
    if graph is None:
        return (Neighbour("op", op_name, None),)

    def op_type(name: str) -> str | None:
        op = graph.ops.get(name)
        return op.op_type if op else None

    op = graph.ops.get(op_name)
    inputs = [
        Neighbour("input", ref.op_name, op_type(ref.op_name), ref.slot, slot)
        for slot, ref in enumerate(op.inputs if op else ())
    ]
    consumers = [
        Neighbour("consumer", use.op_name, op_type(use.op_name), use.slot, use.input_slot)
        for use in sorted(graph.consumers(op_name), key=lambda use: use.slot)
    ]
    return (*inputs, Neighbour("op", op_name, op_type(op_name)), *consumers)
