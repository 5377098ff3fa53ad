"""Loops of TensorFlow 1, made of Enter, Merge, Switch, NextIteration and Exit, and what they keep.

Such a loop is in the graph of its caller.  A TensorArray is followed by its flow, a number that
stands for what was written; a stack, which keeps a value for the gradient, by its handle.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.links import Producer
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run
    from tfdbg_tui.logdir.definitions.graphs import TensorRef

    Resolve = Callable[[str, TensorRef, At, int], Producer]

_NEXT = frozenset({"NextIteration", "RefNextIteration"})
_BORDERS = frozenset({"Enter", "RefEnter", "Exit", "RefExit"})
_WRITES = {"TensorArrayWriteV3": 2, "TensorArrayScatterV3": 2, "TensorArraySplitV3": 1}
"""Ops that write to a TensorArray, and which input is the value."""

FLOWS = frozenset({*_WRITES, "TensorArrayV3", "TensorArrayGradV3"})
"""Ops whose floating-point output is no value: it only says what comes after what."""

_FLOW_INPUTS = {"TensorArrayReadV3": 2, "TensorArrayGatherV3": 2, "TensorArrayConcatV3": 1}
"""Ops that read a TensorArray, and which input is the flow."""


class V1Loops:
    """Finds what is behind the ops that such loops are made of.

    Args:
        run: The run.
        timeline: Which record is of which computation.
        resolve: Finds what made a tensor; see `Resolver.resolve`.
    """

    def __init__(self, run: Run, timeline: Timeline, resolve: Resolve) -> None:
        self._run = run
        self._timeline = timeline
        self._resolve = resolve

    def behind(self, op: GraphOp, at: At, depth: int) -> Producer | None:
        """Return what made a tensor that an op hands on; None where it is no such op.

        Args:
            op: The op.
            at: Where in time.
            depth: How many more boundaries may be crossed.
        """
        outside = replace(at, iteration=None)
        if op.op_type in _BORDERS:
            found = self._resolve(op.graph_id, op.input(0), outside, depth - 1)
        elif op.op_type in _NEXT:
            found = self._resolve(op.graph_id, op.input(0), at, depth - 1)
        elif op.op_type == "TensorArrayGradV3":
            found = self._resolve(op.graph_id, op.input(1), at, depth - 1)
        elif op.op_type in _WRITES:
            value = op.input(_WRITES[op.op_type])
            found = self._resolve(op.graph_id, value, outside, depth - 1)
            found = replace(found, inferred=True, op_type=op.op_type)
        elif op.op_type == "Merge" and (again := self._next_iteration(op)) is not None:
            found = self._variable(op, again, at, depth)
        elif op.op_type == "StackPopV2" and (pushed := self._pushed(op)) is not None:
            found = self._popped(op, pushed, at, depth)
        else:
            return None
        return replace(found, via="loop")

    def read_flow(self, op: GraphOp) -> int | None:
        """Return which input of an op stands for what was written to a TensorArray, or None."""
        return _FLOW_INPUTS.get(op.op_type)

    def _variable(self, merge: GraphOp, again: TensorRef, at: At, depth: int) -> Producer:
        """Return what a variable of a loop is, in an iteration, or when the loop has ended."""
        start = next((ref for ref in merge.inputs if ref != again), again)
        if at.iteration == 0:
            return self._resolve(merge.graph_id, start, at, depth - 1)
        if at.iteration is not None:
            before = replace(at, iteration=at.iteration - 1)
            return self._resolve(merge.graph_id, again, before, depth - 1)
        found = self._came_before(self._resolve(merge.graph_id, again, at, depth - 1), at)
        if found.event is None:  # It has not run, or is around a loop in its first iteration.
            return self._resolve(merge.graph_id, start, at, depth - 1)
        return found

    def _came_before(self, found: Producer, at: At) -> Producer:
        """Return what made a variable in the last iteration before a row, if there was one.

        Of loops in each other only the iteration of the inner one is on record.
        """
        event = found.event
        if event is None or event.kind != "graph_execution" or event.index < at.row:
            return found
        if self._timeline.at(at.row).iteration is None:
            return found  # What is after a loop, not in another one, may be recorded before it.
        return replace(found, event=self._timeline.before(event, at))

    def _next_iteration(self, merge: GraphOp) -> TensorRef | None:
        """Return what a Merge takes of the iteration before; None where it ends a branch."""
        ops = ((ref, self._run.op(merge.graph_id, ref.op_name)) for ref in merge.inputs)
        return next((ref for ref, op in ops if op is not None and op.op_type in _NEXT), None)

    def _pushed(self, pop: GraphOp) -> TensorRef | None:
        """Return the tensor that is pushed to the stack which an op pops from."""
        graph = self._run.graphs[pop.graph_id]
        stack, left = pop.input(0).op_name, set[str]()
        while (op := graph.ops.get(stack)) is not None and op.op_type in _BORDERS:
            if stack in left:
                return None  # A damaged graph is a circle.
            left.add(stack)
            stack = op.input(0).op_name
        entered = [stack]
        for name in entered:  # grows: from loop to loop
            for op in (graph.ops.get(use.op_name) for use in graph.consumers(name)):
                if op is not None and op.op_type == "StackPushV2":
                    return op.input(1)
                if op is not None and op.op_type in _BORDERS and op.name not in entered:
                    entered.append(op.name)
        return None

    def _popped(self, pop: GraphOp, pushed: TensorRef, at: At, depth: int) -> Producer:
        """Return what was pushed: the gradient's loop begins with the last iteration."""
        there = replace(at, iteration=None)
        last = self._resolve(pop.graph_id, pushed, there, depth - 1)
        if at.iteration is None or last.event is None or last.event.kind != "graph_execution":
            return last
        number = self._timeline.at(last.event.index).iteration
        if number is None or number < at.iteration:
            return last
        there = replace(there, iteration=number - at.iteration)
        return self._resolve(pop.graph_id, pushed, there, depth - 1)
