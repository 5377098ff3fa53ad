"""What a tensor was computed from and what takes it, one step at a time, across every boundary.

Unlike `producers` and `consumers` of `Dataflow`, which go on to what is recorded, a step leads to
the next op or boundary, recorded or not: it is what a user walks along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.dataflow.call_rows import At
from tfdbg_tui.diagnosis.dataflow.links import GraphTensor, copied_input, copied_output
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.crossings import Crossings
    from tfdbg_tui.diagnosis.dataflow.links import Producer
    from tfdbg_tui.diagnosis.dataflow.resolve import Resolver
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.dataflow.variables import Variables
    from tfdbg_tui.logdir import GraphOp, Run

_KEPT = 1 << 14
_LONGEST = 100  # copies after one another that are folded
_READS = 200  # ops that read variables: how many are asked whether they read a certain value
_TRIED = 2  # computations of each of them: the first may belong to the call that assigns

NodeKind = Literal["op", "argument", "call", "variable"]


@dataclass(frozen=True, slots=True)
class Node:
    """A tensor and the op, or the boundary, that it comes from.

    Attributes:
        kind: "op", or the boundary: "argument" of a function, result of a "call" (of a function,
            a branch, a loop), "variable".
        graph_id: The graph; None outside of graphs.
        name: Name of the op; outside of graphs its type.
        op_type: Its type; None where its creation was not recorded.
        slot: Which of its outputs; None for all of them.
        input_slot: Which input it is, of the op that takes it; of a use, which input it takes.
        event: The tensor's record; of a variable, that of the value it holds.  None without one.
        at: Where in time it is, in a graph.
        copies: How many ops that pass their input on lie between it and what it belongs to.
    """

    kind: NodeKind
    graph_id: str | None
    name: str
    op_type: str | None
    slot: int | None = None
    input_slot: int = 0
    event: TensorEvent | None = None
    at: At | None = None
    copies: int = 0

    @property
    def is_boundary(self) -> bool:
        """Whether it is a boundary, rather than an op."""
        return self.kind != "op"


class Neighbours:
    """Finds the steps from a tensor in both directions, and keeps what it has found.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        variables: What was assigned to variables.
        resolver: What made the tensors of graphs.
        crossings: What a tensor is called on the other side of a boundary.
        producers: Returns the recorded inputs of the op that made a tensor.
    """

    def __init__(
        self,
        run: Run,
        *,
        calls: Calls,
        timeline: Timeline,
        variables: Variables,
        resolver: Resolver,
        crossings: Crossings,
        producers: Callable[[TensorEvent], tuple[Producer, ...]],
    ) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._variables = variables
        self._resolver = resolver
        self._crossings = crossings
        self._producers = producers
        self.inputs = lru_cache(_KEPT)(self._inputs)
        self.uses = lru_cache(_KEPT)(self._uses)

    def of_event(self, event: TensorEvent, input_slot: int = 0) -> Node:
        """Return the node of a recorded tensor."""
        if event.kind == "execution":
            kind = self._run.executions.kind(event.index)
            what: NodeKind = "call" if kind.is_function else "op"
            return Node(what, None, kind.op_type, kind.op_type, event.slot, input_slot, event)
        site = self._run.graph_executions.site(event.index)
        at = self._timeline.at(event.index)
        tensor = GraphTensor(site.graph_id, TensorRef(site.op_name, event.slot), at)
        return self._node(tensor, event, input_slot)

    def of_op(self, graph_id: str, op_name: str, slot: int, row: int) -> Node:
        """Return the node of an output of an op that is not recorded, as seen from a row.

        Args:
            graph_id: The graph.
            op_name: The op.
            slot: Which of its outputs.
            row: The row.
        """
        at = self._timeline.at(row)
        return self._node(GraphTensor(graph_id, TensorRef(op_name, slot), at), None, 0)

    def all_inputs(self, node: Node) -> tuple[Node, ...]:
        """Return what a node was computed from, also tensors that Python gave to an eager op."""
        if node.graph_id is not None:
            return self.inputs(node)
        if node.event is None:
            return ()
        given = tuple(
            Node("op", None, producer.name, None, input_slot=producer.input_slot)
            for producer in self._producers(node.event)
            if producer.event is None and producer.nearest is None and producer.via == "eager"
        )
        return tuple(sorted((*self.inputs(node), *given), key=lambda node: node.input_slot))

    def recorded_uses(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the nearest recorded tensors that were computed from one.

        The results that functions return to Python are passed by, where it goes on from there.
        """
        return list(self._recorded(self.uses(self.of_event(event)), _LONGEST))

    def _recorded(self, nodes: tuple[Node, ...], depth: int) -> Iterator[TensorEvent]:
        for node in nodes:
            returned = node.kind == "call" and node.graph_id is None
            if node.event is not None and node.kind != "variable" and not returned:
                yield node.event
            elif depth and node.is_boundary:
                further = list(self._recorded(self.uses(node), depth - 1))
                yield from further or ([node.event] if node.event and returned else [])

    # ---- What it was computed from

    def _inputs(self, node: Node) -> tuple[Node, ...]:
        """Return what a node was computed from, in order: ops, or the boundaries before them."""
        if node.kind == "variable":
            return (self.of_event(node.event),) if node.event is not None else ()
        if node.graph_id is None:
            return self._inputs_of_execution(node)
        op = self._op(node)
        if op is None or node.is_boundary:
            return self._behind(node)
        assert node.at is not None
        if self._variables.reads(op):
            return (self._variable(op, node),)
        tensors = (GraphTensor(op.graph_id, ref, node.at) for ref in op.inputs)
        return tuple(self._found(tensor, slot) for slot, tensor in enumerate(tensors))

    def _inputs_of_execution(self, node: Node) -> tuple[Node, ...]:
        assert node.event is not None
        producers, found = self._producers(node.event), []
        if node.kind == "call" and all(producer.via == "eager" for producer in producers):
            returned = self._crossings.returned(node.event)  # nothing inside is on record
            if returned is not None:
                return (self._found(returned, 0),)
        for producer in producers:
            if producer.nearest is not None:
                found.append(self._found(producer.nearest, producer.input_slot))
            elif producer.event is not None and producer.via == "variable":
                found.append(self._eager_variable(node.event, producer.event))
            elif producer.event is not None:
                found.append(self.of_event(producer.event, producer.input_slot))
        return tuple(found)

    def _behind(self, node: Node) -> tuple[Node, ...]:
        """Return what lies behind a boundary: of a result that in the function, for example."""
        assert node.graph_id is not None
        assert node.at is not None
        tensor = GraphTensor(node.graph_id, TensorRef(node.name, node.slot or 0), node.at)
        producer = self._resolver.behind(tensor, node.event)
        if producer.nearest is not None:
            return (self._found(producer.nearest, 0),)
        return (self.of_event(producer.event),) if producer.event is not None else ()

    def _variable(self, read: GraphOp, node: Node) -> Node:
        """Return the variable that an op reads, with the value that was assigned to it."""
        producers = self._producers(node.event) if node.event is not None else ()
        assigned = producers[0].event if producers else None
        name = self._name_of_handle(read)
        return Node("variable", read.graph_id, name, None, event=assigned, at=node.at)

    def _name_of_handle(self, op: GraphOp) -> str:
        """Return the name of the variable that an op of a graph takes first, or of the argument."""
        graph = self._run.graphs.get(op.graph_id)
        key = (graph.file_set if graph else 0), self._variables.handle(op)
        return self._name_of(key) or (op.inputs[0].op_name if op.inputs else op.name)

    def _name_of(self, key: tuple[int, int]) -> str:
        """Return the name of a variable by its key; "" where it is not on record."""
        known = self._variables.named
        variable = known.get(key)
        kept_of = known.get((variable.file_set, variable.slot_of)) if variable else None
        if variable is None or kept_of is None or not variable.slot_of:
            return variable.name if variable else ""
        return f"{variable.name} of {kept_of.name}"

    def _eager_variable(
        self, access: TensorEvent, value: TensorEvent, at: At | None = None
    ) -> Node:
        """Return the variable that Python reads or assigns to, which the first input tells.

        Args:
            access: A tensor of the execution that reads it or assigns to it.
            value: What it holds.
            at: Where in time it is.
        """
        handle = next(iter(self._timeline.input_ids(access.index)), 0)
        key = self._run.executions.kind(access.index).file_set, handle
        name = self._name_of(key) or "variable"
        return Node("variable", None, name, None, event=value, at=at)

    def _found(self, tensor: GraphTensor, input_slot: int) -> Node:
        """Return the node of a tensor that an op takes, or of what that is a copy of."""
        copies = 0
        while copies < _LONGEST:
            op = self._run.op(tensor.graph_id, tensor.ref.op_name)
            source = copied_input(op, tensor.ref.slot) if op is not None else None
            if source is None:
                break
            tensor = tensor._replace(ref=source)
            copies += 1
        event = self._timeline.find(*tensor)
        return replace(self._node(tensor, event, input_slot), copies=copies)

    def _node(self, tensor: GraphTensor, event: TensorEvent | None, input_slot: int) -> Node:
        graph_id, ref, at = tensor
        if event is not None and event.kind == "graph_execution":
            at = self._timeline.at(event.index)
        op = self._run.op(graph_id, ref.op_name)
        return Node(
            self._kind(op, tensor),
            graph_id,
            ref.op_name,
            op.op_type if op else None,
            ref.slot,
            input_slot,
            event,
            at,
        )

    def _kind(self, op: GraphOp | None, tensor: GraphTensor) -> NodeKind:
        if op is None:
            callee = self._calls.callee(tensor.graph_id, tensor.ref.op_name)
            return "call" if callee is not None else "op"
        if op.op_type == "Placeholder":
            return "argument"
        return "call" if self._calls.called_graphs(op) else "op"

    # ---- What takes it

    def _uses(self, node: Node) -> tuple[Node, ...]:
        """Return what takes a node's tensor: ops, or the boundaries before them."""
        if node.kind == "variable":
            return tuple(self._reads(node))
        if assigns(node.op_type or ""):
            return tuple(self._assigned(node))
        if node.graph_id is None:
            return tuple(self._uses_by_python(node))
        assert node.at is not None
        return tuple(dict.fromkeys(self._uses_in_graph(node.graph_id, node.name, node.slot, node)))

    def _uses_in_graph(
        self, graph_id: str, op_name: str, slot: int | None, node: Node
    ) -> Iterator[Node]:
        at = node.at
        assert at is not None
        graph = self._run.graphs.get(graph_id)
        if graph is None:
            return
        yield from self._leaving(graph_id, op_name, slot, at)
        yield from self._into_unrecorded_calls(graph_id, op_name, slot, at)
        for use in graph.consumers(op_name):
            op = graph.ops.get(use.op_name)
            if slot is not None and use.slot != slot:
                continue
            inside = self._crossings.into(op, use.input_slot, at) if op else []
            copy = copied_output(op, use.input_slot) if op else None
            if inside:
                yield from (self._next(tensor, 0) for tensor in inside)
            elif copy is not None:
                yield from self._uses_in_graph(graph_id, copy.op_name, copy.slot, node)
            else:
                tensor = GraphTensor(graph_id, TensorRef(use.op_name, 0), at)
                yield replace(self._next(tensor, use.input_slot), slot=None)

    def _next(self, tensor: GraphTensor, input_slot: int) -> Node:
        """Return the node of an op that takes something, as computed next."""
        event = self._timeline.next(tensor.graph_id, tensor.ref.op_name, tensor.at)
        return self._node(tensor, event, input_slot)

    def _leaving(self, graph_id: str, op_name: str, slot: int | None, at: At) -> Iterator[Node]:
        """Yield the results of calls, or the next iterations, that a function's outputs become."""
        for number, ref in enumerate(self._calls.outputs(graph_id)):
            if ref.op_name != op_name or slot not in (None, ref.slot):
                continue
            following = self._crossings.next_iteration(graph_id, number, at)
            again = self._next(following, 0) if following is not None else None
            if again is not None and self._is_told(again):
                yield again
                continue
            for outside in self._crossings.out_of(graph_id, number, at):
                yield self._node(outside, self._timeline.find(*outside), 0)
            for event in self._crossings.to_python(graph_id, ref, at):
                yield self.of_event(event)

    def _is_told(self, argument: Node) -> bool:
        """Whether it is certain that a loop had the iteration that an argument belongs to."""
        return argument.event is not None or (
            argument.at is not None and argument.at.run is not None
        )

    def _into_unrecorded_calls(
        self, graph_id: str, op_name: str, slot: int | None, at: At
    ) -> Iterator[Node]:
        """Yield arguments of functions whose calls TensorFlow's writer has not recorded."""
        for callee in self._calls.unrecorded_callees(graph_id):
            for name in self._calls.arguments(callee):
                argument = GraphTensor(callee, TensorRef(name, 0), at)
                given = self._resolver.behind(argument, None).nearest
                if given is None or (given.graph_id, given.ref.op_name) != (graph_id, op_name):
                    continue
                if slot in (None, given.ref.slot):
                    yield self._next(argument, 0)

    def _uses_by_python(self, node: Node) -> Iterator[Node]:
        """Yield what takes an eager tensor: eager ops, and arguments of functions."""
        event = node.event
        if event is None:
            return
        made = self._timeline.execution(event.index).output_tensor_ids
        slots = range(len(made)) if node.slot is None else [event.slot]
        for tensor_id in (made[slot] for slot in slots if slot < len(made)):
            for index, input_slot in self._timeline.users(tensor_id, event.index):
                kind = self._run.executions.kind(index)
                argument = None
                if kind.is_function:
                    argument = self._crossings.from_python(index, input_slot)
                if argument is not None:
                    yield self._next(argument, 0)
                else:
                    used = TensorEvent("execution", index, 0)
                    yield replace(self.of_event(used, input_slot), kind="op", slot=None)

    def _assigned(self, node: Node) -> Iterator[Node]:
        """Yield the variable that an op assigns to."""
        op = self._op(node)
        if node.graph_id is None and node.event is not None:
            inputs = self._inputs(node)
            value = (inputs[-1].event if len(inputs) > 1 else None) or node.event
            at = At(self._timeline.row_after(node.event.index), "")
            yield self._eager_variable(node.event, value, at)
        elif op is not None and node.at is not None and len(op.inputs) > 1:
            given = self._found(GraphTensor(op.graph_id, op.inputs[-1], node.at), 0)
            name = self._name_of_handle(op)
            yield Node("variable", op.graph_id, name, None, event=given.event, at=node.at)

    def _reads(self, variable: Node) -> Iterator[Node]:
        """Yield the ops that read the value of a variable next."""
        if variable.event is None or variable.at is None:
            return
        for op in self._readers()[:_READS]:
            value = TensorRef(op.name, 0)
            for event in self._timeline.after(op.graph_id, value, variable.at.row, _TRIED):
                producers = self._producers(event)
                if any(producer.event == variable.event for producer in producers):
                    yield self.of_event(event)
                    break

    def _readers(self) -> list[GraphOp]:
        reads = self._variables.reads
        graphs = list(self._run.graphs.values())
        return [op for graph in graphs for op in list(graph.ops.values()) if reads(op)]

    def _op(self, node: Node) -> GraphOp | None:
        return self._run.op(node.graph_id, node.name) if node.graph_id else None
