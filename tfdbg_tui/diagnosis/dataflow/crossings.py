"""Where a tensor enters and leaves functions, branches, loops, and the Python code around them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.call_rows import At
from tfdbg_tui.diagnosis.dataflow.calls import LOOPS
from tfdbg_tui.diagnosis.dataflow.links import GraphTensor
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run


class Crossings:
    """Finds what a tensor is called on the other side of a boundary.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
    """

    def __init__(self, run: Run, calls: Calls, timeline: Timeline) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._arguments_by_input = lru_cache(maxsize=1024)(self._find_arguments_by_input)

    def into(self, op: GraphOp, input_slot: int, at: At) -> list[GraphTensor]:
        """Return the arguments of called graphs that an input of a call, If or While becomes.

        Args:
            op: The call, If or While.
            input_slot: Which input of it.
            at: Where in time, in the graph with the op.
        """
        found = []
        for graph_id in self._calls.called_graphs(op):
            inside = self._timeline.enter(at, op, graph_id, first=True)
            given = self._arguments_by_input(op.graph_id, op.name, graph_id)
            names = given.get(op.inputs[input_slot], ())
            found += [GraphTensor(graph_id, TensorRef(name, 0), inside) for name in names]
        return found

    def _find_arguments_by_input(
        self, caller_id: str, op_name: str, graph_id: str
    ) -> dict[TensorRef, list[str]]:
        """Return which arguments of a called graph each tensor becomes that its call takes.

        Without those that it does not use: a loop's condition has all variables of the loop.
        """
        found: dict[TensorRef, list[str]] = {}
        call = self._run.op(caller_id, op_name)
        for name in self._calls.arguments(graph_id) if graph_id in self._run.graphs else ():
            argument = self._run.op(graph_id, name)
            if call is None or argument is None or not self._calls.is_used(graph_id, name):
                continue
            ref = self._calls.given(argument, call)
            if ref is not None:
                found.setdefault(ref, []).append(name)
        return found

    def out_of(self, graph_id: str, slot: int, at: At) -> list[GraphTensor]:
        """Return the outputs of the op that calls a graph which an output of the graph becomes.

        They are several only where the calls are a conclusion.

        Args:
            graph_id: The graph that is called.
            slot: Which output of it.
            at: Where in time, in that graph.
        """
        site = self._calls.call_site(graph_id)
        if site is None:
            return []
        if site.op is None:
            names = self._calls.call_names(site.caller_id, graph_id)
            return [GraphTensor(site.caller_id, TensorRef(name, slot), at) for name in names]
        left = self._timeline.leave(at, graph_id)
        if left is None:
            return []
        call, outside = left
        return [GraphTensor(call.graph_id, TensorRef(call.name, slot), outside)]

    def next_iteration(self, graph_id: str, slot: int, at: At) -> GraphTensor | None:
        """Return the argument that an output of a loop's body is in the next iteration.

        Args:
            graph_id: The loop's body.
            slot: Which output of it.
            at: Where in time.
        """
        site = self._calls.call_site(graph_id)
        names = self._calls.arguments(graph_id)[slot : slot + 1]
        if not names or site is None or site.op is None or site.op.op_type not in LOOPS:
            return None
        later = self._timeline.other_iteration(at, graph_id, 1)
        return GraphTensor(graph_id, TensorRef(names[0], 0), later) if later is not None else None

    def to_python(self, graph_id: str, ref: TensorRef, at: At) -> list[TensorEvent]:
        """Return the outputs of a function, or fetches of a session, that a tensor became.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
        """
        index = self._timeline.execution_of(at.row)
        if index is None or self._calls.call_site(graph_id) is not None:
            return []
        outputs = self._calls.outputs(graph_id, self._run.executions.kind(index).op_type)
        return [TensorEvent("execution", index, i) for i, out in enumerate(outputs) if out == ref]

    def returned(self, event: TensorEvent) -> GraphTensor | None:
        """Return what an output of an execution of a function is inside it.

        Where the writer does not tell which call a record belongs to, None: what is found inside
        may be of another call.
        """
        kind, grouped = self._run.executions.kind(event.index), self._timeline.grouped
        graph_id = self._executed(event.index) if grouped else None
        outputs = self._calls.outputs(graph_id, kind.op_type) if graph_id else ()
        if graph_id is None or event.slot >= len(outputs):
            return None
        at = At(self._timeline.row_after(event.index), "", event.index)
        return GraphTensor(graph_id, outputs[event.slot], at)

    def _executed(self, index: int) -> str | None:
        """Return the graph that an execution has run; None where that is not on record."""
        known = self._calls.executed_graphs(self._run.executions.kind(index))
        return next(
            (graph_id for graph_id in reversed(known) if graph_id in self._run.graphs), None
        )

    def from_python(self, index: int, input_slot: int) -> GraphTensor | None:
        """Return the argument of a function that an input of its execution becomes."""
        graph_id = self._executed(index)
        names = self._calls.arguments(graph_id) if graph_id else ()
        if graph_id is None or input_slot >= len(names):
            return None
        # The rows of an execution begin after those of the one before it.
        row = max(0, self._timeline.row_after(index - 1) - 1) if index else 0
        at = At(row, "", index if self._timeline.grouped else None)
        return GraphTensor(graph_id, TensorRef(names[input_slot], 0), at)
