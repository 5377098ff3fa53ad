"""What made a tensor of a graph: through copies, calls, branches, loops, arguments, variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.arguments import Arguments
from tfdbg_tui.diagnosis.dataflow.assigned import Assigned
from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES, CONTROL, LOOPS
from tfdbg_tui.diagnosis.dataflow.containers import Containers, takes
from tfdbg_tui.diagnosis.dataflow.links import (
    LIST_VALUES,
    MAX_DEPTH,
    GraphTensor,
    Producer,
    copied_input,
)
from tfdbg_tui.diagnosis.dataflow.replicas import Replicas
from tfdbg_tui.diagnosis.dataflow.v1_loops import FLOWS, V1Loops
from tfdbg_tui.diagnosis.events import graph_id_of, graph_op_of, is_bad
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.states import States
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.dataflow.variables import Variables
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run


class Resolver:
    """Finds what made tensors of graphs.

    Attributes:
        assigned: Finds what variables hold.
        containers: Finds what comes out of queues and tables.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        variables: What was assigned to its variables.
        states: What is handed from one call of a dataset's function to the next.
    """

    def __init__(
        self,
        run: Run,
        calls: Calls,
        timeline: Timeline,
        *,
        variables: Variables,
        states: States,
    ) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._variables = variables
        self.assigned = Assigned(run, timeline, variables, self.resolve)
        self._v1_loops = V1Loops(run, timeline, self.resolve)
        self.containers = Containers(run, timeline)
        self._replicas = Replicas(run, timeline)
        self._arguments = Arguments(
            run,
            calls,
            timeline,
            variables=variables,
            states=states,
            resolve=self.resolve,
            output=self._output,
        )

    def producers(self, event: TensorEvent) -> tuple[Producer, ...]:
        """Return the inputs of the op that made a tensor, in order, and those of its replicas."""
        op = graph_op_of(self._run, event)
        if op is None:
            return ()
        at = self._timeline.at(event.index)
        if op.op_type == "Placeholder":
            return (self._arguments.given(op, at, MAX_DEPTH),)
        if op.op_type in CONTROL and self._calls.called_graphs(op):
            unknown = Producer(0, str(TensorRef(op.name, event.slot)), None, False, "call")
            return (self._inside(op, event.slot, at, MAX_DEPTH, unknown, like=event.index),)
        refs = list(enumerate(op.inputs))
        held: tuple[Producer, ...] = ()
        if self._variables.reads(op):
            held, refs = (self.assigned.read_by(event, op, at),), refs[1:]
        elif takes(op.op_type):
            held, refs = (self.containers.put(event),), refs[1:]
        if op.op_type == "StackPopV2":
            return (self.behind(GraphTensor(op.graph_id, TensorRef(op.name, 0), at), None),)
        found = [
            replace(self.resolve(op.graph_id, ref, at, MAX_DEPTH), input_slot=slot)
            for slot, ref in refs
        ]
        flow = self._v1_loops.read_flow(op)
        if flow is not None:
            written = self.behind(GraphTensor(op.graph_id, op.inputs[flow], at), None)
            found[flow] = replace(written, input_slot=flow)
        found += [
            replace(self.resolve(op.graph_id, ref, at, MAX_DEPTH), input_slot=slot, via="replica")
            for slot, ref in self._replicas.inputs(op)
        ]
        if is_bad(self._run, event) and not self._any_bad((*held, *found)):
            found = [self._held_when_taken(producer, event) for producer in found]
        return (*held, *found)

    def _any_bad(self, producers: Iterable[Producer]) -> bool:
        events = (producer.event for producer in producers)
        return any(event is not None and is_bad(self._run, event) for event in events)

    def _held_when_taken(self, producer: Producer, event: TensorEvent) -> Producer:
        """Return what an input was, that of a variable of TensorFlow 1 as a bad result tells it.

        Its read op gives no copy: what is on record of that may be older than what was taken.

        Args:
            producer: The input, as it was found.
            event: What was computed from it.
        """
        tensor = producer.nearest
        op = self._run.op(tensor.graph_id, tensor.ref.op_name) if tensor is not None else None
        for _ in range(MAX_DEPTH):  # In a damaged graph, copies may be of each other.
            source = copied_input(op, 0) if op is not None else None
            if op is None or source is None:
                break
            op = self._run.op(op.graph_id, source.op_name)
        if tensor is None or op is None or not self._variables.is_reference(op):
            return producer
        held = self.assigned.held_by(op, tensor.at, event)
        if not self._any_bad([held]):
            return producer
        return replace(held, input_slot=producer.input_slot, nearest=tensor)

    def resolve(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> Producer:
        """Return what made a tensor of a graph, as seen from a row.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
            depth: How many more boundaries may be crossed.
        """
        op = self._run.op(graph_id, ref.op_name)
        op_type = op.op_type if op else None
        event = self._timeline.find(graph_id, ref, at) if op_type not in FLOWS else None
        lost = event is None and self._timeline.is_traced(graph_id, ref)
        unknown = Producer(0, str(ref), event, False, "graph", op_type, lost)
        found = unknown
        if event is None and depth > 0:
            found = self._behind(graph_id, ref, at, depth, unknown)
        return replace(found, nearest=GraphTensor(graph_id, ref, at))

    def outcomes(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> Iterator[Producer]:
        """Yield what may have made a tensor of a graph: of branches, each may have been taken.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
            depth: How many more boundaries may be crossed.
        """
        op = self._run.op(graph_id, ref.op_name)
        source = copied_input(op, ref.slot) if op is not None else None
        if source is not None and depth > 0:
            yield from self.outcomes(graph_id, source, at, depth - 1)
        elif op is not None and op.op_type in BRANCHES and depth > 0:
            for called in self._calls.called_graphs(op):
                outputs = self._calls.outputs(called)
                if ref.slot < len(outputs):
                    inside = self._timeline.enter(at, op, called)
                    yield from self.outcomes(called, outputs[ref.slot], inside, depth - 1)
        else:
            yield self.resolve(graph_id, ref, at, depth)

    def behind(self, tensor: GraphTensor, event: TensorEvent | None) -> Producer:
        """Return what an argument, a call or a copy stands for, even if it is recorded itself.

        Args:
            tensor: The argument, or the output of the call or copy.
            event: Its record, where there is one.
        """
        graph_id, ref, at = tensor
        op = self._run.op(graph_id, ref.op_name)
        unknown = Producer(0, str(ref), None, False, "graph", op.op_type if op else None)
        if op is not None and event is not None and self._calls.called_graphs(op):
            return self._inside(op, ref.slot, at, MAX_DEPTH, unknown, like=event.index)
        return self._behind(graph_id, ref, at, MAX_DEPTH, unknown)

    def _behind(
        self, graph_id: str, ref: TensorRef, at: At, depth: int, unknown: Producer
    ) -> Producer:
        """Return what made a tensor that only hands on another one."""
        op = self._run.op(graph_id, ref.op_name)
        if op is None:
            callee = self._calls.callee(graph_id, ref.op_name)
            return self._output(callee, ref.slot, at, depth, unknown, "call", inferred=True)
        source = copied_input(op, ref.slot)
        if source is not None:
            return self.resolve(graph_id, source, at, depth - 1)
        if op.op_type == "Placeholder":
            return self._arguments.given(op, at, depth - 1)
        if self._variables.is_reference(op):
            return self.assigned.held_by(op, at)
        through_loop = self._v1_loops.behind(op, at, depth)
        if through_loop is not None:
            return through_loop
        if op.op_type == "Switch":
            return replace(self.resolve(graph_id, op.input(0), at, depth - 1), via="branch")
        if op.op_type == "Merge":
            ends = [self.resolve(graph_id, ref, at, depth - 1) for ref in op.inputs]
            return replace(_taken(ends, at, lambda p: p.via != "branch") or unknown, via="branch")
        if op.op_type in LIST_VALUES and len(op.inputs) > LIST_VALUES[op.op_type]:
            anywhere = replace(at, iteration=None, run=None)
            value = op.inputs[LIST_VALUES[op.op_type]]
            found = self.resolve(graph_id, value, anywhere, depth - 1)
            return replace(found, inferred=True, op_type=op.op_type)
        if self._calls.called_graphs(op):
            return self._inside(op, ref.slot, at, depth, unknown)
        return unknown

    def _inside(
        self,
        op: GraphOp,
        slot: int,
        at: At,
        depth: int,
        unknown: Producer,
        like: int | None = None,
    ) -> Producer:
        """Return the tensor in a called graph that an output of a call, If or While really is.

        Args:
            op: The call, If or While.
            slot: Which output of it.
            at: Where in time.
            depth: How many more boundaries may be crossed.
            unknown: What to return where nothing is found.
            like: Row of the output itself, where it is recorded.
        """
        called = self._calls.called_graphs(op)
        if op.op_type in BRANCHES:
            return self._branch_output(op, slot, at, depth, unknown, like)
        if op.op_type not in LOOPS:
            inside = self._timeline.enter(at, op, called[0])
            return self._output(called[0], slot, inside, depth, unknown, "call", inferred=False)
        after = unknown
        if len(called) == 2:
            inside = self._timeline.enter(at, op, called[1])
            after = self._output(called[1], slot, inside, depth, unknown, "loop", inferred=False)
            if after.event is None and slot < len(op.inputs):
                given = self.resolve(op.graph_id, op.inputs[slot], at, depth - 1)
                return replace(given, inferred=True)  # Its iterations may have left no record.
        return after

    def _output(
        self,
        graph_id: str | None,
        slot: int,
        at: At,
        depth: int,
        unknown: Producer,
        via: str,
        *,
        inferred: bool,
    ) -> Producer:
        """Return the tensor behind an output of a called graph."""
        if graph_id is None or graph_id not in self._run.graphs:
            return unknown
        outputs = self._calls.outputs(graph_id)
        if slot >= len(outputs):
            return unknown
        found = self.resolve(graph_id, outputs[slot], at, depth - 1)
        return replace(found, inferred=found.inferred or inferred, via=via)

    def _branch_output(
        self, op: GraphOp, slot: int, at: At, depth: int, unknown: Producer, like: int | None
    ) -> Producer:
        """Return the tensor behind an output of the branch that was taken last."""
        called = self._calls.called_graphs(op)
        inside = [self._timeline.enter(at, op, graph_id) for graph_id in called]
        found = [
            self._output(graph_id, slot, branch, depth, unknown, "branch", inferred=False)
            for graph_id, branch in zip(called, inside, strict=True)
        ]
        if like is None or not self._timeline.grouped:
            return _taken(found, at, lambda p: self._is_in(p.event, called)) or unknown
        recorded = _recorded(found)
        return min(recorded, key=lambda p: self._difference(p, like), default=unknown)

    def _is_in(self, event: TensorEvent | None, graph_ids: Sequence[str]) -> bool:
        """Whether a tensor was made in some graphs, or in one that was traced inside of them."""
        graph_id = graph_id_of(self._run, event) if event is not None else None
        around = self._run.graph_path(graph_id) if graph_id is not None else ()
        return any(graph.graph_id in graph_ids for graph in around)

    def _difference(self, producer: Producer, row: int) -> tuple[bool, int]:
        """Return how much speaks against a tensor being the same as that of a row."""
        index = producer.event.index if producer.event else -1
        return not self._timeline.same_counts(index, row), abs(index - row)


def _taken(
    found: Iterable[Producer], at: At, is_inside: Callable[[Producer], bool]
) -> Producer | None:
    """Return the output of the branch that was taken, of those of all branches; None if unknown.

    What a branch has computed itself is on record only if it was taken.

    Args:
        found: What each branch hands out.
        at: Where in time.
        is_inside: Whether the branch itself has computed it.
    """
    recorded = _recorded(found)
    once = at.run is not None or (at.execution is not None and at.iteration is None)
    inside = [p for p in recorded if is_inside(p)] if once else []
    return max(inside or recorded, key=lambda p: _nearness(p.event, at), default=None)


def _recorded(found: Iterable[Producer]) -> list[Producer]:
    return [p for p in found if p.event is not None and p.event.kind == "graph_execution"]


def _nearness(event: TensorEvent | None, at: At) -> tuple[bool, int]:
    """Return a key by which the last tensor before a row is the greatest."""
    index = event.index if event is not None else -1
    return index < at.row, index
