"""What a variable holds when it is read: the value that was assigned to it last."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.links import MAX_DEPTH, Producer
from tfdbg_tui.diagnosis.events import graph_id_of, graph_op_of, is_bad
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.diagnosis.dataflow.call_rows import At
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.diagnosis.dataflow.variables import Assignment, Variables
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run, TensorRef


_LOOK_BACK = 50  # assignments: how far back what made a value bad is looked for


class Assigned:
    """Finds what made the values of variables.

    Args:
        run: The run.
        timeline: Which record is of which computation.
        variables: What was assigned to variables.
        resolve: Returns what made a tensor of a graph.
    """

    def __init__(
        self,
        run: Run,
        timeline: Timeline,
        variables: Variables,
        resolve: Callable[[str, TensorRef, At, int], Producer],
    ) -> None:
        self._run = run
        self._timeline = timeline
        self._variables = variables
        self._resolve = resolve

    def read_by(self, event: TensorEvent, op: GraphOp, at: At) -> Producer:
        """Return what was last assigned to the variable that an op reads.

        Args:
            event: The record of what was read.
            op: The op that read it.
            at: Where in time.
        """
        name = str(op.inputs[0]) if op.inputs else f"{op.name}:0"
        index = self._timeline.execution_of(at.row)
        history = self._variables.before_read(op, at, index) if index is not None else None
        if history is None:
            return self._assigned_in_graph(event, op, at, name)
        return self._last_assigned(history, name, event)

    def held_by(self, variable: GraphOp, at: At, taken: TensorEvent | None = None) -> Producer:
        """Return what was last assigned to a variable of TensorFlow 1 that something takes.

        That is of an earlier run, unless a bad value was taken that only this one has assigned: a
        session fetches a variable, or computes with it, before or after what updates it.

        Args:
            variable: The variable.
            at: Where in time.
            taken: What was fetched, or computed from it, where that is known.
        """
        before = self._assigned_in_graph(None, variable, at, f"{variable.name}:0")
        if taken is None or not is_bad(self._run, taken):
            return before
        if before.event is not None and is_bad(self._run, before.event):
            return before
        for ref, _ in self._variables.assigned(variable):
            made = self._timeline.find(variable.graph_id, ref, at)
            if made is None or not is_bad(self._run, made) or self._is_made_of(made, taken):
                continue
            made_by = graph_op_of(self._run, made)
            op_type = made_by.op_type if made_by else None
            return replace(before, name=str(ref), event=made, op_type=op_type)
        return before

    def _is_made_of(self, made: TensorEvent, taken: TensorEvent) -> bool:
        """Whether a tensor of a graph is another one, or may have been computed from it."""
        start, source = graph_op_of(self._run, made), graph_op_of(self._run, taken)
        if start is None or source is None:
            return False
        names = Worklist([start.name])
        for name in names:
            op = self._run.op(start.graph_id, name)
            if op == source:
                return True
            if op is not None:
                names.add(*(ref.op_name for ref in op.inputs))
        return False

    def before(self, handle: int, before: int, name: str) -> Producer:
        """Return what was last assigned to a variable before an execution.

        Args:
            handle: The eager tensor id of its handle.
            before: The execution.
            name: What to call it.
        """
        return self._last_assigned(self._variables.before(handle, before), name, None)

    def _last_assigned(
        self, history: Iterable[Assignment], name: str, reading: TensorEvent | None
    ) -> Producer:
        """Return what was assigned last; of what has updated or kept it, what made it bad."""
        unknown = Producer(0, name, None, False, "variable", "VarHandleOp")
        is_finite = reading is not None and is_bad(self._run, reading) is False
        updated: Producer | None = None
        for assignment in islice(history, _LOOK_BACK):
            found = self._assigned(assignment, unknown)
            if found is None or (found.event is not None and found.event == reading):
                continue
            if found.event is None or self._is_bad(found.event):
                return found
            if assignment.updated_by is None and not assignment.in_part:
                return updated or found
            updated = updated or replace(
                found, updated_by=assignment.updated_by, updated_at=assignment.updated_at
            )
            if is_finite:
                break
        return updated or unknown

    def _is_bad(self, event: TensorEvent) -> bool:
        """Whether a value is bad, or what Python has given to an eager op that sets a variable."""
        if event.kind == "execution":
            execution = self._run.executions[event.index]
            if execution.inputs and not execution.outputs:
                given = execution.inputs[-1]
                return given is not None and given.has_inf_or_nan is True
        return is_bad(self._run, event) is True

    def _assigned(self, assignment: Assignment, unknown: Producer) -> Producer | None:
        """Return the value of an assignment, as far as it is recorded; None if it did not run."""
        if assignment.value is None:
            return replace(unknown, event=assignment.made, inferred=assignment.inferred)
        value = assignment.value
        found = self._resolve(*value, MAX_DEPTH)
        ran_now = self._belongs(found.event, assignment.execution)
        if assignment.conditional and not (ran_now and self._is_of(found.event, value.graph_id)):
            return None if self._timeline.is_traced(value.graph_id, value.ref) else unknown
        if not ran_now:
            return replace(unknown, lost=found.lost)
        inferred = found.inferred or assignment.inferred
        return Producer(0, str(value.ref), found.event, inferred, "variable", found.op_type)

    def _belongs(self, event: TensorEvent | None, execution: int) -> bool:
        """Whether a value may have been assigned in an execution: not one of another call."""
        if event is None or event.kind == "execution":
            return event is not None
        return self._timeline.execution_of(event.index) == execution

    def _is_of(self, event: TensorEvent | None, graph_id: str) -> bool:
        return event is not None and graph_id_of(self._run, event) == graph_id

    def _assigned_in_graph(
        self, event: TensorEvent | None, op: GraphOp, at: At, name: str
    ) -> Producer:
        """Return what was last assigned in the same graph to what is called the same there.

        In a session that is the same variable; in a function it most likely is.
        """
        source = self._run.op(op.graph_id, op.inputs[0].op_name) if op.inputs else None
        inferred = source is not None and source.op_type == "Placeholder"
        unknown = Producer(0, name, None, False, "variable", "VarHandleOp")
        step = self._variables.kept_by(op)
        for ref, earlier in self._variables.assigned(op):
            made = self._assigned_value(op.graph_id, ref, at, earlier=earlier)
            if made is not None and made != event:
                if step is not None and not is_bad(self._run, made):
                    # That is what the step made of the variable, not what it keeps.
                    return replace(unknown, op_type=step, lost=True, updated_by=step)
                made_by = graph_op_of(self._run, made)
                op_type = made_by.op_type if made_by else None
                return Producer(0, str(ref), made, inferred, "variable", op_type)
        return unknown

    def _assigned_value(
        self, graph_id: str, ref: TensorRef, at: At, *, earlier: bool
    ) -> TensorEvent | None:
        """Return the value last assigned: in this call, if that came first, or in one before."""
        if not self._timeline.is_traced(graph_id, ref):
            return self._resolve(graph_id, ref, at, MAX_DEPTH).event if earlier else None
        if not self._timeline.grouped or earlier:
            return self._timeline.find(graph_id, ref, at)
        return self._timeline.before_call(graph_id, ref, at)
