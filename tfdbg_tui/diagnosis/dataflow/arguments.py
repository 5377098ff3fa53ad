"""The caller's tensor that an argument of a function, or of a loop's body, stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tfdbg_tui.diagnosis.dataflow.calls import LOOPS
from tfdbg_tui.diagnosis.dataflow.links import MAX_DEPTH, Producer, copied_input
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.states import States
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.dataflow.variables import Variables
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run


class _Output(Protocol):
    def __call__(
        self,
        graph_id: str | None,
        slot: int,
        at: At,
        depth: int,
        unknown: Producer,
        via: str,
        *,
        inferred: bool,
    ) -> Producer: ...


class Arguments:
    """Finds what functions and bodies of loops were given.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        variables: Which tensors are resources.
        states: What is handed from one call of a dataset's function to the next.
        resolve: Returns what made a tensor of a graph.
        output: Returns the tensor behind an output of a called graph.
    """

    def __init__(
        self,
        run: Run,
        calls: Calls,
        timeline: Timeline,
        *,
        variables: Variables,
        states: States,
        resolve: Callable[[str, TensorRef, At, int], Producer],
        output: _Output,
    ) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._variables = variables
        self._states = states
        self._resolve = resolve
        self._output = output

    def given(self, op: GraphOp, at: At, depth: int) -> Producer:
        """Return the caller's tensor that a function's argument stands for.

        Args:
            op: The op in the function that is the argument.
            at: Where in time it is read.
            depth: How many more tensors may be followed.
        """
        unknown = Producer(0, f"{op.name}:0", None, False, "argument", op.op_type)
        if depth <= 0:
            return unknown
        forward = self._calls.forward_tensor(op.graph_id, op.name)
        if forward is not None and not self._timeline.grouped:
            found = self._resolve(*forward, at, depth - 1)
            return replace(found, inferred=True, via="forward")
        state = self._states.slot(op)
        last = self._states.last(op, state, at) if state is not None else None
        if last is not None:
            return replace(unknown, event=last, inferred=True, via="loop")
        site = self._calls.call_site(op.graph_id)
        if site is None and state is not None:
            first = self._states.first(op, state)
            return replace(unknown, event=first, inferred=True, op_type=None)
        if site is None:
            return self._eager_argument(op, at, unknown)
        if site.op is None:
            return self._guess_argument(op, site.caller_id, at, depth, unknown)
        via = "loop" if site.op.op_type in LOOPS else "argument"
        if site.op.op_type in LOOPS:
            again = self._loop_argument(op, site.op, at, depth, unknown)
            if again is not None:
                return again
        left = self._timeline.leave(at, op.graph_id)
        if left is None:
            return unknown
        call, at = left
        ref = self._calls.given(op, call)
        if ref is None:
            return unknown
        found = self._resolve(call.graph_id, ref, at, depth - 1)
        return replace(found, inferred=found.inferred or site.inferred, via=via)

    def _loop_argument(
        self, op: GraphOp, loop: GraphOp, at: At, depth: int, unknown: Producer
    ) -> Producer | None:
        """Return what the previous iteration left in a loop's argument; None in the first one."""
        called = self._calls.called_graphs(loop)
        slot = self._calls.argument_slot(op.graph_id, op.name)
        if len(called) != 2 or slot is None:
            return None
        if self._is_same(called[1], slot):
            return None  # Every iteration has what the loop was given.
        before = self._timeline.other_iteration(at, called[1], -1)
        if before is None:
            return None
        found = self._output(called[1], slot, before, depth - 1, unknown, "loop", inferred=False)
        if before.iteration is not None or before.run is not None:
            return found
        if found.event is None or slot >= len(loop.inputs):
            return None
        start = self._resolve(loop.graph_id, loop.inputs[slot], at, depth - 1)
        both = (start.event, found.event)
        if (
            start.event is not None
            and start.event.kind == "graph_execution"
            and all(event.kind == "graph_execution" for event in both if event)
            and start.event.index > found.event.index
        ):
            return None  # the loop has been started anew since
        if self._callers_differ(at.row, found.event):
            return None
        return found

    def _is_same(self, body: str, slot: int) -> bool:
        """Whether an argument of a loop's body is the same in each iteration."""
        outputs = self._calls.outputs(body)
        ref = outputs[slot] if slot < len(outputs) else None
        for _ in range(MAX_DEPTH):  # In a damaged graph, copies may be of each other.
            op = self._run.op(body, ref.op_name) if ref is not None else None
            if ref is None or op is None:
                return False
            if op.op_type == "Placeholder":
                return self._calls.argument_slot(body, op.name) == slot
            ref = copied_input(op, ref.slot)
        return False

    def _callers_differ(self, row: int, event: TensorEvent) -> bool:
        """Whether a row and another event belong to different executions."""
        if event.kind != "graph_execution":
            return False
        return self._timeline.execution_of(row) != self._timeline.execution_of(event.index)

    def _eager_argument(self, op: GraphOp, at: At, unknown: Producer) -> Producer:
        """Return the eager tensor that Python gave a function for an argument."""
        slot = self._calls.argument_slot(op.graph_id, op.name)
        index = self._timeline.execution_of(at.row)
        if index is None or slot is None:
            return unknown
        inputs = self._timeline.execution(index).input_tensor_ids
        if slot >= len(inputs):
            return unknown
        event = self._timeline.maker(inputs[slot], index)
        inferred = at.execution is None and not self._known_function(index)
        return replace(unknown, event=event, inferred=inferred)

    def _known_function(self, index: int) -> bool:
        return self._run.executions.kind(index).graph_id is not None

    def _guess_argument(
        self, op: GraphOp, caller_id: str, at: At, depth: int, unknown: Producer
    ) -> Producer:
        """Guess the caller's tensor behind an argument where the call op was not recorded."""
        caller = self._run.graphs[caller_id]
        if op.name in caller.ops:
            found = self._resolve(caller_id, TensorRef(op.name, 0), at, depth - 1)
            return replace(found, inferred=True, via="argument")
        candidates = self._loose_ends(caller_id, op.wall_time)
        mine = [
            name
            for name in self._calls.arguments(op.graph_id)
            if name not in caller.ops and not self._is_resource(op.graph_id, name)
        ]
        if op.name not in mine or len(candidates) < len(mine):
            return unknown
        ref = candidates[mine.index(op.name) - len(mine)]
        found = self._resolve(caller_id, ref, at, depth - 1)
        return replace(found, inferred=True, via="argument")

    def _loose_ends(self, graph_id: str, before: float) -> list[TensorRef]:
        """Return tensors of a graph that no recorded op uses, in order of creation.

        A call op that was not recorded must have used them.
        """
        graph = self._run.graphs[graph_id]
        ends = [
            (op.wall_time, TensorRef(op.name, 0))
            for op in list(graph.ops.values())
            if op.wall_time < before
            and op.num_outputs == 1
            and not graph.consumers(op.name)
            and op.op_type not in ("Const", "NoOp", "VarHandleOp")
            and not self._is_resource(graph_id, op.name)
        ]
        ends += self._calls.loose_outputs(graph_id, before)
        return [ref for _, ref in sorted(ends, key=lambda end: end[0])]

    def _is_resource(self, graph_id: str, op_name: str) -> bool:
        return self._variables.is_resource(graph_id, op_name)
