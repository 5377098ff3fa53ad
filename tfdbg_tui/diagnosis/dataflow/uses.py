"""What becomes of a tensor: the ops that use it, also in called functions and by their callers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.links import Use, copied_output
from tfdbg_tui.diagnosis.events import TensorEvent

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.crossings import Crossings
    from tfdbg_tui.diagnosis.dataflow.links import GraphTensor
    from tfdbg_tui.diagnosis.dataflow.states import States
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run, TensorRef


class Uses:
    """Finds the uses of tensors.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        crossings: What a tensor is called on the other side of a boundary.
        states: What is handed from one call of a dataset's function to the next.
    """

    def __init__(
        self,
        run: Run,
        calls: Calls,
        timeline: Timeline,
        *,
        crossings: Crossings,
        states: States,
    ) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._crossings = crossings
        self._states = states

    def of_tensor(self, graph_id: str, ref: TensorRef, at: At, depth: int) -> list[Use]:
        """Return the uses of a tensor of a graph, as seen from a row.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
            depth: How many more boundaries may be crossed.
        """
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
            copy = copied_output(op, use.input_slot) if op is not None else None
            if event is None and copy is not None and depth:
                inner = self.of_tensor(graph_id, copy, at, depth - 1)
                inner += self._uses_of_output(graph_id, copy, at, depth)
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
        outputs = self._calls.outputs(graph_id)
        slot = outputs.index(ref) if ref in outputs else len(outputs)
        state = self._states.following(graph_id, slot, at)
        if state is not None:
            return [Use(0, state[0], state[1], True, "argument", "Placeholder")]
        if site is None:
            return self._uses_by_python(graph_id, ref, at)
        if ref not in outputs:
            return []
        following = self._crossings.next_iteration(graph_id, slot, at)
        again = [self._as_argument(following)] if following is not None else []
        if following is not None and following.at.run is not None:
            return again if again[0].event is not None else self.of_tensor(*following, depth - 1)
        if following and at.iteration is not None and self._timeline.is_traced(*following[:2]):
            if again[0].event is not None:
                return again
            again = []  # This was the last one, whose results what follows the loop takes.
        outside = self._crossings.out_of(graph_id, slot, at)
        after = [use for tensor in outside for use in self.of_tensor(*tensor, depth - 1)]
        if site.op is None:
            return [replace(use, inferred=True) for use in after]
        return [*again, *after] if after else []

    def _uses_by_python(self, graph_id: str, ref: TensorRef, at: At) -> list[Use]:
        """Return the output of a function, or the fetch of a session, that a tensor became."""
        events = self._crossings.to_python(graph_id, ref, at)[:1]
        names = [self._run.executions.kind(event.index).op_type for event in events]
        return [
            Use(0, name, event, False, "output", name)
            for name, event in zip(names, events, strict=True)
        ]

    def _uses_inside(self, op: GraphOp, input_slot: int, at: At) -> list[Use]:
        """Return the arguments of called graphs that an input of a call, If or While becomes."""
        return list(map(self._as_argument, self._crossings.into(op, input_slot, at)))

    def _as_argument(self, tensor: GraphTensor) -> Use:
        name = tensor.ref.op_name
        event = self._timeline.next(tensor.graph_id, name, tensor.at)
        return Use(0, name, event, False, "argument", "Placeholder")

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
