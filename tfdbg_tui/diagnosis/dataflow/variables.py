"""What was assigned to a variable, by ops in functions and by eager ones."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.call_rows import At
from tfdbg_tui.diagnosis.dataflow.captures import Captured, Captures
from tfdbg_tui.diagnosis.dataflow.links import GraphTensor
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir.definitions.graphs import TensorRef, parse_tensor_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import ExecutionKind, GraphOp, Run, Variable
    from tfdbg_tui.logdir.index.columns import Int64Array

_ASSIGNS = re.compile(
    r"^(Assign(Add|Sub)?(VariableOp)?|Resource\w*(Apply|Assign|Update|Add|Sub|Mul|Div|Max|Min)\w*"
    r"|(Sparse)?Apply[A-Z]\w*|Scatter(Nd)?(Add|Div|Max|Min|Mul|Sub|Update)|StridedSliceAssign)$"
)
_UPDATES = re.compile(r"^(Assign(Add|Sub)VariableOp|ResourceScatter(Nd)?(Add|Div|Mul|Sub))$")
_SETS_PARTS = re.compile(r"^(Resource)?(Scatter(Nd)?(Max|Min|Update)|StridedSliceAssign)$")
READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
"""Types of the ops that read a variable, their first input, or some rows of it."""

_REFERENCES = frozenset({"VariableV2", "Variable"})
_LOOK_BACK = 2000  # assignments: how far back one to a certain variable is looked for


def assigns(op_type: str) -> bool:
    """Whether ops of a type change the variable that is their first input."""
    return _ASSIGNS.match(op_type) is not None


def sets(op_type: str) -> bool:
    """Whether a variable, or a part of it, holds after ops of a type what these were given."""
    return op_type == "AssignVariableOp" or _SETS_PARTS.match(op_type) is not None


def computes(op_type: str) -> bool:
    """Whether ops of a type make the step of an optimizer: a value that no other op has made."""
    return op_type.startswith(("Resource", "Apply", "SparseApply")) and "Apply" in op_type


def _update(op_type: str) -> str | None:
    """Return the type of an op if it computes what a variable holds from what it held."""
    return op_type if computes(op_type) or _UPDATES.match(op_type) else None


def _keeps(op: GraphOp, variable: str) -> bool:
    """Whether an op is the step of an optimizer that keeps a moment in a variable."""
    return computes(op.op_type) and op.inputs[0].op_name != variable


def _changes(op_type: str) -> bool:
    return assigns(op_type) and op_type not in ("Assign", "AssignVariableOp")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Something that assigned a variable, or may have, as it is not told which.

    Attributes:
        execution: The execution that it was, or was a part of.
        value: The tensor that was assigned, of a graph; with `made` None where it is not known.
        made: What made the value that an eager op assigned.
        inferred: Whether it is a conclusion that it was this variable.
        conditional: Whether it may not have happened.
        updated_by: Type of the op, if it has computed what the variable holds from what it held and
            from this; None if the variable holds this.
        in_part: Whether only some elements may have been set; the others are as they were.
        updated_at: Stack of the op, where it is of a graph.
    """

    execution: int
    value: GraphTensor | None = None
    made: TensorEvent | None = None
    inferred: bool = False
    conditional: bool = False
    updated_by: str | None = None
    in_part: bool = False
    updated_at: int | None = None


class Variables:
    """The assignments to the variables of a run.

    Args:
        run: The run.
        calls: Which graph calls which.
        timeline: Which record is of which computation.
    """

    def __init__(self, run: Run, calls: Calls, timeline: Timeline) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._assignments: dict[str, dict[str, list[GraphOp]]] = {}
        self._captured_ids = cache(self._find_captured_ids)
        self._captures = Captures(run, calls, timeline, self._in_graph, self.is_resource)

    @cached_property
    def named(self) -> dict[tuple[int, int], Variable]:
        """The variables whose names are on record, by their keys."""
        return {variable.key: variable for variable in self._run.variables}

    @cached_property
    def trained(self) -> bool:
        """Whether the program changes variables by what it has computed."""
        graphs = list(self._run.graphs.values())
        return (
            any(_changes(kind.op_type) for kind in self._run.executions.distinct_kinds)
            or any(_changes(op.op_type) for graph in graphs for op in list(graph.ops.values()))
            or self._sets_what_has_gradient
        )

    @cached_property
    def first_update(self) -> int:
        """The first execution that changes variables by what was computed; 0 if it is not known."""
        graphs = list(self._run.graphs.values())
        changing = {
            self._calls.outermost(graph.graph_id)
            for graph in graphs
            if any(_changes(op.op_type) for op in list(graph.ops.values()))
        }
        executions = self._run.executions
        changes = [
            _changes(kind.op_type) or not changing.isdisjoint(self._calls.executed_graphs(kind))
            for kind in executions.distinct_kinds
        ]
        found = np.flatnonzero(np.array(changes, np.bool_)[executions.kinds[:]])
        return int(found[0]) if found.size else 0

    @property
    def _sets_what_has_gradient(self) -> bool:
        """Whether variables that a tape is asked for are set to values, after their first ones.

        `assign_sub` of a variable of Keras does so.
        """
        asked = {
            (request.file_set, handle)
            for request in self._run.gradient_requests
            for handle in request.asked
        }
        if not asked:
            return False
        graphs = list(self._run.graphs.values())
        in_graph = any(
            graph.file_set == file_set and self.assigned_in(graph.graph_id, handle)
            for graph in graphs
            for file_set, handle in asked
        )
        return in_graph or any(count > 1 for count in self._eager_values(asked).values())

    def _eager_values(self, wanted: set[tuple[int, int]]) -> Counter[tuple[int, int]]:
        """Return how often eager ops have set each of some variables, among the last ones."""
        executions = self._run.executions
        return Counter(
            key
            for n, kind in enumerate(executions.distinct_kinds)
            if kind.op_type == "AssignVariableOp"
            for row in executions.kinds.rows_equal(n)[-_LOOK_BACK:].tolist()
            for handle in self._timeline.input_ids(row)[:1]
            if (key := (kind.file_set, handle)) in wanted
        )

    def handle(self, op: GraphOp) -> int:
        """Return the eager tensor id of the handle that an op of a graph takes first; 0 if unknown.

        Args:
            op: An op that reads or assigns a variable.
        """
        graph_id = self._calls.outermost(op.graph_id)
        reads = self._captures.reads(graph_id, op) if op.inputs else None
        handles = {self._captured_ids(graph_id).get(name, 0) for name, _ in reads or ()}
        return handles.pop() if len(handles) == 1 else 0

    def _find_captured_ids(self, graph_id: str) -> dict[str, int]:
        """Return the eager tensors that a function has captured, by the names of its arguments."""
        return {
            parse_tensor_name(name).op_name: captured
            for signature in self._run.graphs[graph_id].signatures
            for name, captured in zip(
                reversed(signature.input_names),
                reversed(signature.captured_tensor_ids),
                strict=False,
            )
        }

    def assigned_in(self, graph_id: str, handle: int) -> bool:
        """Whether calls of a function may assign a variable that its graph has captured.

        Args:
            graph_id: Its graph.
            handle: The eager tensor id of the variable's handle.
        """
        captured_ids = self._captured_ids(graph_id)
        names = tuple(name for name, captured in captured_ids.items() if captured == handle)
        return bool(names) and bool(self._captures.assignments(graph_id, names))

    def is_resource(self, graph_id: str, op_name: str) -> bool:
        """Whether an argument of a function is a variable, by how ops use it."""
        graph = self._run.graphs[graph_id]
        uses = [graph.ops.get(use.op_name) for use in graph.consumers(op_name)]
        return any(op is not None and (op.op_type in READS or assigns(op.op_type)) for op in uses)

    def reads(self, op: GraphOp) -> bool:
        """Whether an op gives back the value of a variable."""
        if op.op_type == "Identity" and op.inputs:
            source = self._run.op(op.graph_id, op.inputs[0].op_name)
            return source is not None and self.is_reference(source)
        return op.op_type in READS

    def is_reference(self, op: GraphOp) -> bool:
        """Whether an op is a variable of TensorFlow 1 itself, which a session may fetch."""
        return op.op_type in _REFERENCES

    def assigned(self, read: GraphOp) -> Iterator[tuple[TensorRef, bool]]:
        """Yield what ops of the same graph assign to a read variable, the last one first.

        With each comes whether the assignment was built, and so happens, before the reading.
        """
        name = self._name(read)
        for op in reversed(self._in_graph(read.graph_id).get(name, [])):
            # A session runs what of its graph it is asked for: the order says nothing.
            in_order = read.op_type != "Identity" and not self.is_reference(read)
            yield self._value(op), in_order and op.wall_time < read.wall_time

    def kept_by(self, read: GraphOp) -> str | None:
        """Return the type of the op of the same graph that keeps its moments in a read variable.

        It is the step of an optimizer; what it has put there is not on record.
        """
        name = self._name(read)
        found = (
            op.op_type for op in self._in_graph(read.graph_id).get(name, []) if _keeps(op, name)
        )
        return next(found, None)

    def _name(self, read: GraphOp) -> str:
        """Return the name of the variable that an op reads, or is; "" where it is not known."""
        if self.is_reference(read):
            return read.name
        return read.inputs[0].op_name if read.inputs else ""

    def before_read(self, read: GraphOp, at: At, execution: int) -> Iterator[Assignment] | None:
        """Return the assignments to what an op in a function reads, the last one first.

        None where it is not told which variable that is.

        Args:
            read: The op.
            at: Where in time it reads.
            execution: The execution of the function that Python called.
        """
        graph_id = self._function(execution) or self._calls.outermost(read.graph_id)
        reads = self._captures.reads(graph_id, read) if read.inputs else None
        given = dict(self._captures.given(graph_id, execution))
        handles = {given.get(outer) for outer, _ in reads or ()}
        if reads is None or len(handles) > 1 or None in handles:
            return None
        handle = handles.pop()
        assert handle is not None
        inferred = any(captured.inferred for _, captured in reads)
        own = self._in_call(graph_id, execution, handle)
        same = self._before_in_call(own, [captured for _, captured in reads], at, execution)
        found = chain(same, self.before(handle, execution))
        return (replace(made, inferred=made.inferred or inferred) for made in found)

    def before(self, handle: int, execution: int) -> Iterator[Assignment]:
        """Yield the assignments to a variable before an execution, the last one first.

        Args:
            handle: The eager tensor id of its handle.
            execution: The execution.
        """
        end = self._assigning.searchsorted(execution)
        for index in self._assigning[max(0, end - _LOOK_BACK) : end].tolist()[::-1]:
            if handle not in self._timeline.input_ids(index):
                continue
            graph_id = self._function(index)
            if graph_id is None:
                yield from self._by_eager_op(index, handle)
                continue
            at = At(self._timeline.row_after(index), "", index if self._timeline.grouped else None)
            made = self._in_call(graph_id, index, handle)
            yield from (self._assignment(captured, index, at) for captured in reversed(made))

    @cached_property
    def _assigning(self) -> Int64Array:
        """The executions that are assignments, or calls of functions that may assign."""
        return self._run.executions.of_kinds(self.may_assign)

    def may_assign(self, kind: ExecutionKind) -> bool:
        """Whether executions of a kind are assignments, or calls of functions that may assign."""
        graph_id = self._function_of(kind)
        return assigns(kind.op_type) or (graph_id is not None and self._captures.assigns(graph_id))

    def _function(self, execution: int) -> str | None:
        """Return the graph of the function that an execution is a call of."""
        return self._function_of(self._run.executions.kind(execution))

    def _function_of(self, kind: ExecutionKind) -> str | None:
        known = self._calls.executed_graphs(kind)
        graphs = [graph_id for graph_id in known if graph_id in self._run.graphs]
        return graphs[-1] if kind.is_function and graphs else None

    def _by_eager_op(self, index: int, handle: int) -> Iterator[Assignment]:
        """Yield the assignment that an eager op is.

        Its value is the assignment itself where no recorded op has made it: a fused step of an
        optimizer computes it, a NumPy array comes from Python.
        """
        inputs = self._timeline.input_ids(index)
        op_type = self._run.executions.kind(index).op_type
        if inputs[0] != handle:
            if computes(op_type):
                yield Assignment(index)  # a moment that the optimizer keeps
            return
        if len(inputs) < 2:
            return
        itself = TensorEvent("execution", index, 0)
        made = None if computes(op_type) else self._timeline.maker(inputs[-1], index)
        in_part = _SETS_PARTS.match(op_type) is not None
        made = made or itself
        yield Assignment(index, made=made, updated_by=_update(op_type), in_part=in_part)

    def _in_call(self, graph_id: str, execution: int, handle: int) -> list[Captured]:
        """Return the ops that assign, or may assign, a variable in one call, in order."""
        given = self._captures.given(graph_id, execution)
        names = tuple(name for name, tensor_id in given if tensor_id == handle)
        return self._captures.assignments(graph_id, names)

    def _before_in_call(
        self, made: list[Captured], reads: list[Captured], at: At, execution: int
    ) -> Iterator[Assignment]:
        """Yield the assignments of the same call before a reading, the last one first."""
        read = reads[0]
        if len(reads) > 1 and any(captured.op.graph_id != read.op.graph_id for captured in made):
            yield Assignment(execution)  # in which run of its function it is read is not told
            return
        earlier = [captured for captured in made if captured.order < read.order]
        later = [captured for captured in made if captured.order >= read.order]
        if read.repeated and not self._timeline.grouped:
            yield from self._all_at(later, at, execution)
        elif read.repeated and at.iteration:
            yield from self._all_at([c for c in earlier if c.repeated], at, execution)
            before = self._timeline.other_iteration(at, read.op.graph_id, -1)
            if before is not None:
                yield from self._all_at([c for c in later if c.repeated], before, execution)
            earlier = [captured for captured in earlier if not captured.repeated]
        yield from self._all_at(earlier, at, execution)

    def _all_at(self, made: list[Captured], at: At, execution: int) -> Iterator[Assignment]:
        for captured in reversed(made):
            yield self._assignment(captured, execution, at)

    def _assignment(self, captured: Captured, execution: int, at: At) -> Assignment:
        if not captured.told:
            return Assignment(execution)
        op = captured.op
        value = GraphTensor(op.graph_id, self._value(op), at)
        return Assignment(
            execution,
            value,
            inferred=captured.inferred,
            conditional=captured.conditional,
            updated_by=_update(op.op_type),
            in_part=_SETS_PARTS.match(op.op_type) is not None,
            updated_at=op.stack_id,
        )

    def _value(self, op: GraphOp) -> TensorRef:
        """Return the tensor that an op assigns, or the nearest one to it that is recorded."""
        result = [TensorRef(op.name, 0)] if op.num_outputs else []
        refs = [*result, *reversed(op.inputs[1:])]
        traced = (ref for ref in refs if self._timeline.is_traced(op.graph_id, ref))
        return next(traced, op.inputs[-1])

    def _in_graph(self, graph_id: str) -> dict[str, list[GraphOp]]:
        """Return the ops of a graph that assign, by the argument that is the variable."""
        known = self._assignments.get(graph_id)
        if known is None:
            known = {}
            for op in list(self._run.graphs[graph_id].ops.values()):
                if assigns(op.op_type) and op.inputs:
                    # A fused step of an optimizer changes the moments that it is given as well.
                    changed = op.inputs if computes(op.op_type) else op.inputs[:1]
                    for name in dict.fromkeys(ref.op_name for ref in changed):
                        known.setdefault(name, []).append(op)
            self._assignments[graph_id] = known
        return known
