"""What was assigned to a variable, by ops in functions and by eager ones."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir.definitions.graphs import TensorRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls, CallSite
    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run

_ASSIGNS = re.compile(
    r"^(Assign(Add|Sub)?(VariableOp)?|Resource\w*(Apply|Update|Add|Sub|Mul|Div)\w*"
    r"|(Sparse)?Apply[A-Z]\w*|Scatter(Nd)?(Add|Div|Max|Min|Mul|Sub|Update))$"
)
_REFERENCES = frozenset({"VariableV2", "Variable"})
_DEEPEST = 100  # calls inside of one another: how far a variable is followed out of them
_LOOK_BACK = 2000  # assignments: how far back one to a certain variable is looked for


def assigns(op_type: str) -> bool:
    """Whether ops of a type change the variable that is their first input."""
    return _ASSIGNS.match(op_type) is not None


def computes(op_type: str) -> bool:
    """Whether ops of a type make the step of an optimizer: a value that no other op has made."""
    return op_type.startswith(("Resource", "Apply", "SparseApply")) and "Apply" in op_type


def _changes(op_type: str) -> bool:
    return assigns(op_type) and op_type not in ("Assign", "AssignVariableOp")


class Variables:
    """The assignments to the variables of a run."""

    def __init__(self, run: Run, calls: Calls, timeline: Timeline) -> None:
        self._run = run
        self._calls = calls
        self._timeline = timeline
        self._assignments: dict[str, dict[str, list[GraphOp]]] = {}

    @cached_property
    def trained(self) -> bool:
        """Whether the program changes variables by what it has computed."""
        executions = self._run.executions
        eager = (executions.kind_by_id(i).op_type for i in range(executions.num_kinds))
        graphs = list(self._run.graphs.values())
        return any(map(_changes, eager)) or any(
            _changes(op.op_type) for graph in graphs for op in list(graph.ops.values())
        )

    def is_resource(self, graph_id: str, op_name: str) -> bool:
        """Whether an argument of a function is a variable, by how ops use it."""
        graph = self._run.graphs[graph_id]
        uses = [graph.ops.get(use.op_name) for use in graph.consumers(op_name)]
        return any(
            op is not None and (op.op_type == "ReadVariableOp" or assigns(op.op_type))
            for op in uses
        )

    def handles(self, graph_id: str, execution: int) -> dict[str, tuple[int, bool]]:
        """Return the variables that a function's arguments are, in one execution of it.

        Each is given as the eager tensor id of its handle, with whether that is a conclusion: where
        call ops were not recorded, functions are taken to get their caller's variables in turn.
        """
        callers = self._callers(graph_id)
        outermost = callers[-1].caller_id if callers else graph_id
        found = self._given_by_python(outermost, execution)
        inner = [graph_id, *(site.caller_id for site in callers)]
        for called, site in reversed([*zip(inner, callers, strict=False)]):
            found = self._handed_on(called, site, found)
        return found

    def _callers(self, graph_id: str) -> list[CallSite]:
        """Return where a graph is called, where the graph of that is called, and so on."""
        found: list[CallSite] = []
        while len(found) < _DEEPEST and (site := self._calls.call_site(graph_id)) is not None:
            found.append(site)
            graph_id = site.caller_id
        return found

    def _given_by_python(self, graph_id: str, execution: int) -> dict[str, tuple[int, bool]]:
        inputs = self._timeline.execution(execution).input_tensor_ids
        names = self._calls.arguments(graph_id)
        return {
            name: (tensor_id, False)
            for name, tensor_id in zip(names, inputs, strict=False)
            if self._is_handle(tensor_id, execution)
        }

    def _handed_on(
        self, graph_id: str, site: CallSite, outer: dict[str, tuple[int, bool]]
    ) -> dict[str, tuple[int, bool]]:
        """Return the variables that a function gets from its caller, given the caller's."""
        if site.op is None:
            return self._dealt_out(graph_id, site.caller_id, outer)
        names = self._calls.arguments(graph_id)
        refs = site.op.inputs[1:] if site.op.op_type in BRANCHES else site.op.inputs
        return {
            name: (outer[ref.op_name][0], outer[ref.op_name][1] or site.inferred)
            for name, ref in zip(names, refs, strict=False)
            if ref.op_name in outer
        }

    def _dealt_out(
        self, graph_id: str, caller_id: str, outer: dict[str, tuple[int, bool]]
    ) -> dict[str, tuple[int, bool]]:
        free = [handle for name, handle in outer.items() if not self.is_resource(caller_id, name)]
        wanted = [
            (child, name)
            for child in self._calls.unrecorded_callees(caller_id)
            for name in self._calls.arguments(child)
            if self.is_resource(child, name)
        ]
        if len(wanted) != len(free):
            return {}
        return {
            name: (handle, True)
            for (child, name), (handle, _) in zip(wanted, free, strict=True)
            if child == graph_id
        }

    def _is_handle(self, tensor_id: int, before: int) -> bool:
        maker = self._timeline.maker(tensor_id, before)
        return maker is not None and (
            self._run.executions.kind(maker.index).op_type == "VarHandleOp"
        )

    def reads(self, op: GraphOp) -> bool:
        """Whether an op gives back the value of a variable."""
        if op.op_type == "Identity" and op.inputs:
            source = self._run.op(op.graph_id, op.inputs[0].op_name)
            return source is not None and source.op_type in _REFERENCES
        return op.op_type == "ReadVariableOp"

    def assigned(self, read: GraphOp) -> Iterator[tuple[TensorRef, bool]]:
        """Yield what ops of the same function assign to a read variable, the last one first.

        With each comes whether the assignment was built, and so happens, before the reading.
        """
        if not read.inputs:
            return
        for op in reversed(self._in_graph(read.graph_id).get(read.inputs[0].op_name, [])):
            result = [TensorRef(op.name, 0)] if op.num_outputs else []
            for ref in (*result, *reversed(op.inputs[1:])):
                if self._timeline.is_traced(op.graph_id, ref):
                    # A session runs what of its graph it is asked for: the order says nothing.
                    yield ref, op.wall_time < read.wall_time and read.op_type != "Identity"
                    break

    def last_eager_assignment(self, handle: int, before: int) -> TensorEvent | None:
        """Return what made the value that an eager op last assigned to a variable.

        That is the assignment itself where no recorded op has made it: a fused step of an
        optimizer computes it, a NumPy array comes from Python.
        """
        executions = self._run.executions
        numbers = [
            number
            for number in range(executions.num_kinds)
            if assigns(executions.kind_by_id(number).op_type)
        ]
        rows = [executions.kinds.rows_equal(number, 0, before) for number in numbers]
        ordered = np.sort(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
        for index in ordered[::-1][:_LOOK_BACK].tolist():
            inputs = self._timeline.execution(index).input_tensor_ids
            if len(inputs) > 1 and inputs[0] == handle:
                itself = TensorEvent("execution", index, 0)
                if computes(executions.kind(index).op_type):
                    return itself
                return self._timeline.maker(inputs[1], index) or itself
        return None

    def _in_graph(self, graph_id: str) -> dict[str, list[GraphOp]]:
        """Return the ops of a graph that assign, by the argument that is the variable."""
        known = self._assignments.get(graph_id)
        if known is None:
            known = {}
            for op in list(self._run.graphs[graph_id].ops.values()):
                if assigns(op.op_type) and op.inputs:
                    known.setdefault(op.inputs[0].op_name, []).append(op)
            self._assignments[graph_id] = known
        return known
