"""Links that leave no record: containers, Python, pipelines, loops, lists, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES, LOOPS
from tfdbg_tui.diagnosis.dataflow.containers import may_put, takes
from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    graph_op_of,
    op_type_of,
    stack_id_of,
)
from tfdbg_tui.diagnosis.op_traits import (
    CONVERTS,
    DATASET_ELEMENTS,
    PYTHON_FUNCTIONS,
    SOURCES,
    is_list_op,
    unrecorded,
)
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow
    from tfdbg_tui.diagnosis.dataflow.links import Use


_RUNS_PYTHON = "script_ops.py"
"""TensorFlow's file that calls the Python functions of graphs."""


class UnrecordedLinks:
    """Tells whether a tensor may have become another one."""

    def __init__(self, dataflow: Dataflow) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow

    def goes_on_in(self, event: TensorEvent, other: TensorEvent) -> bool:
        """Whether a tensor may have become an input of another one without a record.

        That is through a queue, a table or Python, out of a pipeline, a loop, a list or an Optional
        (as Keras' `fit` returns metrics), or into a function by a call that TensorFlow's writer
        does not record.
        """
        op, there = graph_op_of(self._run, event), graph_op_of(self._run, other)
        taken_by = op_type_of(self._run, other)
        if takes(taken_by):
            uses = self._dataflow.consumers(event)
            return any(may_put(use.op_type, taken_by) for use in uses)
        if (
            self.is_from_python(other)
            and self._goes_to_python(event)
            and not self._was_given_before(other, event)
        ):
            return True
        if self._comes_out_of_dataset(other) and self._goes_into_dataset(event):
            return True
        if op is None:
            return False
        calls = self._dataflow.calls
        if calls.in_pipeline(op.graph_id):
            is_outside = there is None or not calls.in_pipeline(there.graph_id)
            is_later = graph_id_of(self._run, other) != op.graph_id and self.is_element(other)
            return (is_outside or is_later) and self.leaves_pipeline(event)
        if op_type_of(self._run, other) == "OptionalGetValue":
            return any(
                use.op_type == "OptionalFromValue" for use in self._dataflow.consumers(event)
            )
        into_call = there is not None and self.goes_into_call(event)
        return self._same_function(op.graph_id, other) and (into_call or self._leaves_loop(event))

    def is_element(self, event: TensorEvent) -> bool:
        """Whether a tensor is what a function of a pipeline, or one that reduces it, takes."""
        op = graph_op_of(self._run, event)
        if op is None or op.op_type != "Placeholder":
            return False
        return self._dataflow.calls.takes_elements(op.graph_id)

    def _comes_out_of_dataset(self, event: TensorEvent) -> bool:
        return op_type_of(self._run, event) in DATASET_ELEMENTS or self.is_element(event)

    def _goes_into_dataset(self, event: TensorEvent) -> bool:
        """Whether a dataset is made of a tensor, as by ``from_tensor_slices``."""
        return any("Dataset" in (use.op_type or "") for use in self._dataflow.consumers(event))

    def is_from_python(self, event: TensorEvent) -> bool:
        """Whether a tensor is what Python gave to a function, or what an eager op made of that."""
        op = graph_op_of(self._run, event)
        if op is None:
            return event.kind == "execution"
        return op.op_type == "Placeholder" and self._dataflow.calls.call_site(op.graph_id) is None

    def was_there_before(self, event: TensorEvent, made: TensorEvent) -> bool:
        """Whether what Python gave for a tensor existed before another one did, by their numbers.

        What was given for both may be what is bad.
        """
        timeline, executions = self._dataflow.timeline, self._run.executions
        taken, makes = timeline.execution_at(event), timeline.execution_at(made)
        if taken is None or makes is None:
            return False
        if executions.kind(taken).file_set != executions.kind(makes).file_set:
            return False
        given, results = self._given_to(taken), timeline.execution(makes).output_tensor_ids
        if not given or not results or given & self._given_to(makes):
            return False
        return max(given) < min(results)

    def _given_to(self, index: int) -> set[int]:
        """Return the numbers of the tensors that no op has made which an execution took.

        Of an op whose inputs are described, those are meant that are bad.
        """
        timeline = self._dataflow.timeline
        execution = timeline.execution(index)
        bad = [summary is not None and summary.bad for summary in execution.inputs]
        return {
            tensor_id
            for slot, tensor_id in enumerate(execution.input_tensor_ids)
            if timeline.maker(tensor_id, index) is None and (slot >= len(bad) or bad[slot])
        }

    def is_of_python_function(self, event: TensorEvent, made: TensorEvent) -> bool:
        """Whether a Python function of a graph gave a tensor, and one has made another tensor."""
        if op_type_of(self._run, event) not in PYTHON_FUNCTIONS or made.kind != "execution":
            return False
        return self._is_run_by_graph(made)

    def _goes_to_python(self, event: TensorEvent) -> bool:
        """Whether Python functions take a tensor of a graph: they run before their call has ended.

        So what they compute is on record before it.
        """
        return any(use.op_type in PYTHON_FUNCTIONS for use in self._dataflow.consumers(event))

    def _was_given_before(self, argument: TensorEvent, made: TensorEvent) -> bool:
        """Whether a tensor was given to the call of a function that made another, or before that.

        A call by a Python function of a graph comes after what the graph has given to it.
        """
        at = self._dataflow.timeline.execution_at
        taken, makes = at(argument), at(made)
        if argument.kind == "execution" or taken is None or makes is None:
            return False
        called = TensorEvent("execution", taken, 0)
        return taken == makes or (taken < makes and not self._is_run_by_graph(called))

    def _is_run_by_graph(self, execution: TensorEvent) -> bool:
        """Whether a Python function of a graph has executed an op."""
        stack_id = stack_id_of(self._run, execution)
        frames = self._run.stack(stack_id) if stack_id is not None else ()
        return any((frame.path or "").endswith(_RUNS_PYTHON) for frame in frames)

    def is_inside(self, event: TensorEvent, execution: TensorEvent) -> bool:
        """Whether a tensor was made inside of a function whose execution has bad outputs.

        Which of its tensors a function returns, TensorFlow's writer does not record.
        """
        graph_id = graph_id_of(self._run, event)
        return graph_id is not None and self._same_function(graph_id, execution)

    def goes_into_call(self, event: TensorEvent) -> bool:
        """Whether a tensor that nothing seems to use is data for calls that left no record."""
        op = graph_op_of(self._run, event)
        if op is None or op.op_type not in SOURCES or self._dataflow.consumers(event):
            return False
        timeline = self._dataflow.timeline
        callees = self._dataflow.calls.unrecorded_callees(op.graph_id)
        ran = [graph_id for graph_id in callees if timeline.ran(graph_id)]
        return bool(ran) and all(map(timeline.recorded_whole, ran))

    def goes_out(self, event: TensorEvent, use: Use) -> bool:
        """Whether a use hands a tensor out of the body of a loop, or out of a branch."""
        site = self._dataflow.calls.call_site(graph_id_of(self._run, event) or "")
        if site is None or site.op is None:
            return False
        return use.op_type == "Identity" and site.op.op_type in LOOPS | BRANCHES

    def is_discarded(self, event: TensorEvent, use: Use) -> bool:
        """Whether a use hands a tensor out of a loop or a branch, and nothing takes it there."""
        graph_id = graph_id_of(self._run, event) or ""
        calls = self._dataflow.calls
        site = calls.call_site(graph_id)
        if site is None or site.op is None or not self.goes_out(event, use):
            return False
        outputs = calls.outputs(graph_id)
        slots = [slot for slot, made in enumerate(outputs) if made.op_name == use.name]
        taken = (self._is_taken(site.caller_id, TensorRef(site.op.name, slot)) for slot in slots)
        return bool(slots) and not any(taken)

    def _is_taken(self, graph_id: str, tensor: TensorRef) -> bool:
        """Whether a graph does more with a tensor than to pass it on to nobody."""
        if tensor in self._dataflow.calls.outputs(graph_id):
            return True
        graph = self._run.graphs[graph_id]
        users = [graph.ops.get(use.op_name) for use in graph.consumers(tensor.op_name)]
        return any(
            user is None
            or (
                tensor in user.inputs
                and (
                    user.op_type != "Identity" or self._is_taken(graph_id, TensorRef(user.name, 0))
                )
            )
            for user in users
        )

    def leaves_pipeline(self, event: TensorEvent) -> bool:
        """Whether more becomes of a tensor of a pipeline's function than what is on record."""
        op = graph_op_of(self._run, event)
        if op is None or not self._dataflow.calls.in_pipeline(op.graph_id):
            return False
        uses = self._dataflow.consumers(event)
        return not uses or any(use.event is None and _hands_on(use.op_type) for use in uses)

    def _leaves_loop(self, event: TensorEvent) -> bool:
        """Whether a tensor goes into a list, or into the next iteration of a loop or out of it."""
        return any(
            use.event is None and (is_list_op(use.op_type) or self.goes_out(event, use))
            for use in self._dataflow.consumers(event)
        )

    def _same_function(self, graph_id: str, other: TensorEvent) -> bool:
        """Whether a tensor was made by the same function that Python called, or is its result."""
        calls, timeline = self._dataflow.calls, self._dataflow.timeline
        outermost = calls.outermost(graph_id)
        if other.kind == "execution":
            return timeline.runs(self._run.executions.kind(other.index), outermost)
        there = graph_op_of(self._run, other)
        return there is not None and calls.outermost(there.graph_id) == outermost


def _hands_on(op_type: str | None) -> bool:
    """Whether ops of a type without a record may hand on what they take, not an answer about it."""
    return op_type is None or op_type in CONVERTS or unrecorded(op_type)
