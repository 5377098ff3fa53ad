"""Graphs and their ops, as the program built them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.logdir.short_repr import short_repr

if TYPE_CHECKING:
    from tfdbg_tui.logdir.layers import Layer
    from tfdbg_tui.wire.events import GraphSignature

GRADIENT_NAME = re.compile(r"(^|/)gradient_tape/|(^|/)gradients(_\d+)?/|_grad/")
"""Is found in the names that TensorFlow gives to most ops of gradients."""

VECTORIZED = "/pfor/"
"""Comes after the name of an op of a loop's body in those that `tf.vectorized_map` makes of it."""


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A tensor of a graph: an output of an op."""

    op_name: str
    slot: int

    def __str__(self) -> str:
        return f"{self.op_name}:{self.slot}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A use of an output of an op as an input of another op."""

    slot: int
    op_name: str
    input_slot: int


@dataclass(frozen=True, slots=True, repr=False)
class GraphOp:
    """An op of a graph.

    Attributes:
        graph_id: The graph that it is in.
        name: Its name, unique in the graph.
        op_type: Its type, for example ``MatMul``.
        inputs: The tensors it takes, in order (data inputs only).
        num_outputs: Number of tensors it makes.
        output_tensor_ids: The debugger's number of each output, unique in a file set.
        output_dtypes: DataType number of each output, where recorded.
        called_graphs: Graphs that it calls (function call, If, While), where recorded.
        stack_id: Argument of `Run.stack`: where the program created it; of what
            `tf.vectorized_map` has made of an op, where it created that.
        host: Host it was created on.
        wall_time: When it was created, in seconds since the epoch.
        collective_keys: Group and instance key of a collective op, where recorded.
        layer: The innermost layer in whose call it was created, where that is recorded.
    """

    graph_id: str
    name: str
    op_type: str
    inputs: tuple[TensorRef, ...]
    num_outputs: int
    output_tensor_ids: tuple[int, ...]
    output_dtypes: tuple[int, ...]
    called_graphs: tuple[str, ...]
    stack_id: int
    host: str
    wall_time: float
    collective_keys: tuple[int, ...] = ()
    layer: Layer | None = None

    __repr__ = short_repr

    def input(self, slot: int) -> TensorRef:
        """Return an input; that of no op where a damaged record holds fewer than the op takes."""
        return self.inputs[slot] if slot < len(self.inputs) else TensorRef("", 0)


@dataclass(slots=True, repr=False)
class Graph:
    """A graph: a traced function, a branch or body of control flow, or a v1 graph.

    Grows while its records are read; nothing in it ever changes or goes away.

    Attributes:
        graph_id: The debugger's id.
        name: Name of the traced Python function; "" for the outermost v1 graph.
        outer_id: Graph inside which it was built.
        file_set: Number of the file set that recorded it.
        ops: Its ops by name, in order of creation.
        inner_ids: Graphs built inside it, in order.
        signatures: Its arguments and outputs as a function, where recorded.
        compiled: Whether XLA compiles it, where recorded: the tensors of such graphs are recorded
            when their call has ended, graph by graph.
        trainable: Names of the ops of the variables that optimizers of TensorFlow 1 train, unless
            they are given others; where recorded.
    """

    graph_id: str
    name: str
    outer_id: str | None
    file_set: int
    ops: dict[str, GraphOp] = field(default_factory=dict)
    inner_ids: dict[str, None] = field(default_factory=dict)
    signatures: list[GraphSignature] = field(default_factory=list)
    compiled: bool = False
    trainable: dict[str, None] = field(default_factory=dict)
    _consumers: dict[str, list[Consumer]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, {len(self.ops):,} ops, id {self.graph_id!r})"

    def add_op(self, op: GraphOp) -> None:
        """Add an op and its uses of other ops' outputs."""
        self.ops[op.name] = op
        for input_slot, ref in enumerate(op.inputs):
            uses = self._consumers.setdefault(ref.op_name, [])
            uses.append(Consumer(ref.slot, op.name, input_slot))

    def consumers(self, op_name: str) -> tuple[Consumer, ...]:
        """Return the uses of the outputs of an op, in order of creation of the users."""
        return tuple(self._consumers.get(op_name, ()))


def parse_tensor_name(name: str) -> TensorRef:
    """Return the tensor that ``op_name:slot`` names; slot 0 where there is none."""
    op_name, colon, slot = name.rpartition(":")
    if colon and slot.isascii() and slot.isdigit():
        return TensorRef(op_name, int(slot[:9]))
    return TensorRef(name, 0)
