"""What becomes of a tensor: the ops that use it, also in called functions and by their callers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import LOOPS
from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH, Use
from tfdbg_tui.diagnosis.dataflow.resolve import call_input
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run


class Uses:
    """Finds the uses of tensors."""

    def __init__(self, run: Run, calls: Calls, timeline: Timeline) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline

    def of_tensor(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> list[Use]:
        """Return the uses of a tensor of a graph, as seen from a row."""
        graph = self._run.graphs[graph_id]
        uses: list[Use] = []
        for use in graph.consumers(ref.op_name):
            if use.slot != ref.slot:
                continue
            op = graph.ops.get(use.op_name)
            op_type = op.op_type if op else None
            called = op is not None and self._calls.called_graphs(op)
            # What a call, If or While makes of a tensor is told by the ops inside.
            event = None if called else self._timeline.next(graph_id, use.op_name, at)
            if event is None and op is not None and op_type in PASS_THROUGH and depth:
                slot = use.input_slot if op_type == "IdentityN" else 0
                inner = self.of_tensor(graph_id, TensorRef(op.name, slot), at, depth - 1)
                inner += self._uses_of_output(graph_id, TensorRef(op.name, slot), at, depth)
                if inner:
                    uses += inner
                    continue
            if event is None and op is not None and depth:
                uses += self._uses_inside(op, use.input_slot, at)
            uses.append(Use(use.input_slot, use.op_name, event, False, "graph", op_type))
        return uses

    def _uses_of_output(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> list[Use]:
        """Return what becomes of a tensor as an output of its function."""
        site = self._calls.call_site(graph_id)
        if site is None:
            return self._uses_by_python(graph_id, ref, at)
        outputs = self._calls.outputs(graph_id)
        if ref not in outputs:
            return []
        slot = outputs.index(ref)
        caller_id = site.caller_id
        if site.op is not None:
            left = self._timeline.leave(at, graph_id) or (site.op, replace(at, number=None))
            call, outside = left
            ref = TensorRef(call.name, slot)
            after = self.of_tensor(call.graph_id, ref, outside, depth - 1)
            again = self._next_iteration(graph_id, slot, at) if after else []
            return [*again, *after]
        names = self._calls.call_names(caller_id, graph_id)
        uses = [self.of_tensor(caller_id, TensorRef(name, slot), at, depth - 1) for name in names]
        return [replace(use, inferred=True) for found in uses for use in found]

    def _uses_by_python(self, graph_id: str, ref: TensorRef, at: At) -> list[Use]:
        """Return the output of a function, or the fetch of a session, that a tensor became."""
        index = self._timeline.execution_of(at.row)
        if index is None:
            return []
        name = self._run.executions.kind(index).op_type
        outputs = self._calls.outputs(graph_id, name)
        if ref not in outputs:
            return []
        event = TensorEvent("execution", index, outputs.index(ref))
        return [Use(0, name, event, False, "output", name)]

    def _next_iteration(self, graph_id: str, slot: int, at: At) -> list[Use]:
        """Return the argument that an output of a loop's body is in the next iteration."""
        site = self._calls.call_site(graph_id)
        arguments = self._calls.arguments(graph_id)
        if site is None or site.op is None or site.op.op_type not in LOOPS:
            return []
        names = arguments[slot : slot + 1]
        events = [(name, self._timeline.next(graph_id, name, at)) for name in names]
        return [Use(0, name, event, False, "argument", "Placeholder") for name, event in events]

    def _uses_inside(self, op: GraphOp, input_slot: int, at: At) -> list[Use]:
        """Return the arguments of called graphs that an input of a call, If or While becomes."""
        uses = []
        for graph_id in self._calls.called_graphs(op):
            inside = self._timeline.enter(at, op, graph_id)
            graph = self._run.graphs.get(graph_id)
            for name in self._calls.arguments(graph_id) if graph else ():
                argument = self._run.op(graph_id, name)
                ref = call_input(self._run, self._calls, argument, op) if argument else None
                if ref == op.inputs[input_slot]:
                    event = self._timeline.next(graph_id, name, inside)
                    uses.append(Use(0, name, event, False, "argument", "Placeholder"))
        return uses

    def of_eager_tensor(self, event: TensorEvent) -> tuple[Use, ...]:
        """Return the uses of an output of an execution."""
        outputs = self._timeline.execution(event.index).output_tensor_ids
        if event.slot >= len(outputs):
            return ()
        uses = []
        for index, slot in self._timeline.users(outputs[event.slot], event.index):
            kind = self._run.executions.kind(index)
            made = TensorEvent("execution", index, 0) if kind.num_outputs else None
            uses.append(Use(slot, kind.op_type, made, False, "eager", kind.op_type))
        return tuple(uses)
