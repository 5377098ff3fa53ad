"""From a tensor to the tensors it was computed from, and to those computed from it.

Crosses every boundary that a value crosses: function arguments and outputs, branches and loops,
backward functions and the forward values they keep, eager tensors, and variables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.dataflow.call_rows import At
from tfdbg_tui.diagnosis.dataflow.calls import REDUCES_DATASET, Calls
from tfdbg_tui.diagnosis.dataflow.containers import takes
from tfdbg_tui.diagnosis.dataflow.crossings import Crossings
from tfdbg_tui.diagnosis.dataflow.links import MAX_DEPTH, PASS_THROUGH, Producer, Use
from tfdbg_tui.diagnosis.dataflow.neighbours import Neighbours
from tfdbg_tui.diagnosis.dataflow.resolve import Resolver
from tfdbg_tui.diagnosis.dataflow.states import States
from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
from tfdbg_tui.diagnosis.dataflow.uses import Uses
from tfdbg_tui.diagnosis.dataflow.variables import READS, Variables, assigns
from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_op_of,
    name_of,
    op_type_of,
    summary_of,
)
from tfdbg_tui.diagnosis.values import same_counts
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.logdir import Run, TensorSummary
    from tfdbg_tui.logdir.index.columns import Int64Array

__all__ = ["PASS_THROUGH", "Dataflow", "Producer", "Use"]

_RECENT = 64  # executions whose inputs are kept for their other outputs
_KEPT = 2000  # alerts, or assignments, among which a value that was kept is looked for


class Dataflow:
    """Answers where the tensors of a run come from and go to; keeps what it has found out.

    Attributes:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
        variables: What is assigned to variables, and read of them.
        neighbours: One step, to the next op or boundary.
        kept: What other functions have found out of the run; see `kept.kept`.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.calls = Calls(run)
        self.timeline = Timeline(run, self.calls)
        self.variables = Variables(run, self.calls, self.timeline)
        states = States(run, self.calls, self.timeline)
        self._resolver = Resolver(
            run, self.calls, self.timeline, variables=self.variables, states=states
        )
        crossings = Crossings(run, self.calls, self.timeline)
        self._uses = Uses(run, self.calls, self.timeline, crossings=crossings, states=states)
        self.neighbours = Neighbours(
            run,
            calls=self.calls,
            timeline=self.timeline,
            variables=self.variables,
            resolver=self._resolver,
            crossings=crossings,
            producers=self.producers,
        )
        self.kept: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._producers: dict[TensorEvent, tuple[Producer, ...]] = {}
        self._inputs_of = lru_cache(maxsize=_RECENT)(self._read_inputs)
        self._value_assigned = cache(self._read_value_assigned)

    def producers(self, event: TensorEvent) -> tuple[Producer, ...]:
        """Return the inputs of the op that made a tensor, in order."""
        known = self._producers.get(event)
        if known is None:
            find = self._of_execution if event.kind == "execution" else self._resolver.producers
            known = self._producers[event] = find(event)
        return known

    def consumers(self, event: TensorEvent) -> tuple[Use, ...]:
        """Return the uses of a tensor.

        Uses by Python code and by ops that left no record are not among them.
        """
        if event.kind == "execution":
            return self._uses.of_eager_tensor(event)
        op = graph_op_of(self.run, event)
        if op is None:
            return ()
        at = self.timeline.at(event.index)
        return tuple(
            self._uses.of_tensor(op.graph_id, TensorRef(op.name, event.slot), at, MAX_DEPTH)
        )

    def origin(self, event: TensorEvent) -> TensorEvent:
        """Return the tensor that an argument, a function's output or a copy really is."""
        for _ in range(MAX_DEPTH):
            op_type = op_type_of(self.run, event)
            producers: tuple[Producer, ...] = ()
            if op_type == "Placeholder" or op_type in PASS_THROUGH:
                producers = self.producers(event)
            elif event.kind == "execution" and op_type and op_type.startswith("__"):
                producers = self.producers(event)
                producers = producers if producers and producers[0].via == "output" else ()
            if len(producers) != 1 or producers[0].event is None:
                return event
            event = producers[0].event
        return event

    def _of_execution(self, event: TensorEvent) -> tuple[Producer, ...]:
        kind = self.run.executions.kind(event.index)
        inside = None
        if kind.is_function:
            inside = self._function_output(event) or self._kept_value(event)
        elif kind.op_type == REDUCES_DATASET:
            inside = self._last_state(event, kind.called_graphs)
        if inside is not None:
            return (inside,)
        inputs = self._inputs_of(event.index)
        if takes(kind.op_type):
            return (self._resolver.containers.put(event), *inputs[1:])
        return inputs

    def _read_inputs(self, index: int) -> tuple[Producer, ...]:
        """Return the inputs of an execution, which are those of each of its outputs."""
        execution = self.timeline.execution(index)
        producers = []
        for slot, tensor_id in enumerate(execution.input_tensor_ids):
            given = execution.inputs[slot] if slot < len(execution.inputs) else None
            made = self.timeline.maker(tensor_id, index)
            copy = self._copied(given, tensor_id, index) if made is None and given else None
            made = made or copy
            op_type = self.run.executions.kind(made.index).op_type if made else None
            name = f"{op_type}:{made.slot}" if made else f"tensor {tensor_id}"
            is_number = given is not None or slot >= len(execution.inputs)
            producer = Producer(
                slot, name, made, copy is not None, "eager", op_type, False, given, is_number
            )
            read = self._read_of(producer, index) if made is None and given else None
            producers.append(read or producer)
        if execution.op_type in READS and execution.input_tensor_ids:
            handle, name = execution.input_tensor_ids[0], producers[0].name
            found = self._resolver.assigned.before(handle, index, name)
            made_by = op_type_of(self.run, found.event) if found.event else None
            held = replace(found, op_type=made_by) if assigns(made_by or "") else found
            return (held, *producers[1:])
        return tuple(producers)

    def _copied(self, given: TensorSummary, tensor_id: int, before: int) -> TensorEvent | None:
        """Return the bad tensor that one which no op has made most likely is a copy of.

        Keras copies gradients, and NumPy arrays come back: it is the last one with the same counts.
        """
        if not given.has_inf_or_nan or (given.size or 0) < 2:
            return None  # one NaN is like another
        rows = self.run.executions.alert_rows
        end = int(rows.searchsorted(before))
        for index in rows[max(0, end - _KEPT) : end].tolist()[::-1]:
            execution = self.timeline.execution(index)
            made = zip(execution.output_tensor_ids, execution.outputs, strict=False)
            for slot, (earlier_id, summary) in enumerate(made):
                if earlier_id < tensor_id and summary is not None and same_counts(summary, given):
                    return TensorEvent("execution", index, slot)
        return None

    def _read_of(self, taken: Producer, before: int) -> Producer | None:
        """Return what was assigned to the variable that a bad tensor most likely is the value of.

        TensorFlow reads a variable without an op where an eager one takes it.  That is the last
        value of a variable with the same counts.
        """
        given = taken.given
        if given is None or not given.has_inf_or_nan:
            return None
        earlier = self._assignments[: self._assignments.searchsorted(before)]
        for index in earlier[-_KEPT:].tolist()[::-1]:
            value = self._value_assigned(index)
            if value is None or not same_counts(value, given):
                continue
            execution = self.timeline.execution(index)
            last = next(self.variables.before(execution.input_tensor_ids[0], before), None)
            if last is not None and last.execution == index:
                made = TensorEvent("execution", index, 0)
                op_type = execution.op_type
                return replace(taken, event=made, inferred=True, via="variable", op_type=op_type)
        return None

    @cached_property
    def _assignments(self) -> Int64Array:
        """The executions that assign to variables, ascending."""
        return self.run.executions.of_kinds(lambda kind: kind.op_type == "AssignVariableOp")

    def _read_value_assigned(self, index: int) -> TensorSummary | None:
        """Return what an execution assigns to a variable; None where that is not described."""
        inputs = self.timeline.execution(index).inputs
        return inputs[1] if len(inputs) > 1 else None

    def _function_output(self, event: TensorEvent) -> Producer | None:
        """Return the tensor inside a function that an output of its execution is."""
        kind = self.run.executions.kind(event.index)
        for graph_id in reversed(self.calls.executed_graphs(kind)):
            if graph_id not in self.run.graphs:
                continue
            outputs = self.calls.outputs(graph_id, kind.op_type)
            found = None
            if event.slot < len(outputs):
                found = self._inside_execution(event, graph_id, outputs[event.slot])
            if found is not None:
                return replace(found, via="output")
        return None

    def _last_state(self, event: TensorEvent, called: Sequence[str]) -> Producer | None:
        """Return what the function that reduces a dataset made last, which is the result."""
        at = At(self.timeline.row_after(event.index), "", None)
        for graph_id in called:
            outputs = self.calls.outputs(graph_id)
            if event.slot < len(outputs):
                found = self._resolver.resolve(graph_id, outputs[event.slot], at, MAX_DEPTH)
                given = summary_of(self.run, event)
                made = summary_of(self.run, found.event) if found.event is not None else None
                if given and made and same_counts(given, made):
                    return replace(found, via="output")
        return None

    def _inside_execution(
        self, event: TensorEvent, graph_id: str, ref: TensorRef
    ) -> Producer | None:
        """Return what made a tensor of a function that an output of its execution is."""
        grouped = self.timeline.grouped
        at = At(self.timeline.row_after(event.index), "", event.index if grouped else None)
        op = self.run.op(graph_id, ref.op_name)
        if op is not None and self.variables.is_reference(op):
            found = self._resolver.assigned.held_by(op, at, event)
            if found.updated_by is not None:
                return found
        else:
            found = self._resolver.resolve(graph_id, ref, at, MAX_DEPTH)
        if found.event is not None and found.event.kind == "graph_execution":
            if self.timeline.execution_of(found.event.index) == event.index:
                return found
            if found.via == "variable":
                return found
        elif grouped:
            # Of calls that ran side by side the writer cannot say which one made what.
            given = summary_of(self.run, event)
            anywhere = replace(at, execution=None)
            for found in self._resolver.outcomes(graph_id, ref, anywhere, MAX_DEPTH):
                near = (found.event, *self.timeline.of_no_call(found.event)) if found.event else ()
                for made in near:
                    summary = summary_of(self.run, made)
                    if given and summary and same_counts(summary, given):
                        return replace(found, event=made, inferred=True)
        return None

    def _kept_value(self, event: TensorEvent) -> Producer | None:
        """Return the bad tensor inside a function that it most likely gives back for its gradient.

        TensorFlow does not record which tensors those are: it is one with the same counts.
        """
        summary = summary_of(self.run, event)
        kind = self.run.executions.kind(event.index)
        if summary is None or not summary.has_inf_or_nan or "__forward_" not in kind.op_type:
            return None
        traces = self.run.graph_executions
        graphs = set(self.calls.executed_graphs(kind))
        end = int(traces.alert_rows.searchsorted(self.timeline.row_after(event.index)))
        found = None
        for row in traces.alert_rows[max(0, end - _KEPT) : end].tolist()[::-1]:
            if traces.site(row).graph_id not in graphs:
                continue
            if self.timeline.execution_of(row) != event.index:
                break
            trace = traces[row]
            if trace.summary is not None and same_counts(trace.summary, summary):
                found = trace
        if found is None:
            return None
        inside = TensorEvent("graph_execution", found.index, found.output_slot)
        return Producer(0, name_of(self.run, inside), inside, True, "output", found.op_type)
