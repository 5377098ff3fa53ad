"""Which computations of graph tensors belong to the same call, iteration and run of a function.

This project's writer says so, and records the tensors of a call in groups, not in order of time;
TensorFlow's keeps their order instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES, CALLS
from tfdbg_tui.diagnosis.dataflow.graph_runs import GraphRun, GraphRuns
from tfdbg_tui.diagnosis.dataflow.run_callers import RunCaller, RunCallers
from tfdbg_tui.diagnosis.dataflow.trace_rows import NEAR

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import GraphOp, Run


_OTHERS = 12  # rows of other executions after which no more are expected of the one looked for


@dataclass(frozen=True, slots=True)
class At:
    """Where in time and place a graph's tensor is looked for.

    Attributes:
        row: The graph execution that wants to know.
        device: Its device.
        execution: The execution that caused it, where recorded.
        iteration: Its loop iteration, where recorded.
        run: The run of the innermost graph around it that may run repeatedly, where that is told.
    """

    row: int
    device: str
    execution: int | None = None
    iteration: int | None = None
    run: GraphRun | None = None


class CallRows:
    """Finds rows of the graph executions by call.

    Attributes:
        recorded: Whether the writer has said to which call each belongs.

    Args:
        run: The run.
        calls: Which graph calls which.
        rows: The rows of each tensor.
    """

    def __init__(self, run: Run, calls: Calls, rows: TraceRows) -> None:
        self._run = run
        self._calls = calls
        self._rows = rows
        self.recorded = any(graph.signatures for graph in list(run.graphs.values()))
        self.call_of = lru_cache(maxsize=1 << 16)(self._read_call)
        self._runs = GraphRuns(run, calls, rows, self.call_of)
        self._callers = RunCallers(run, calls, rows, self._runs, self.call_of)

    def at(self, row: int) -> At:
        """Return the place in time of a row."""
        if row >= len(self._run.graph_executions):
            return At(row, "")
        device = self._run.graph_executions.site(row).device
        if not self.recorded:
            return At(row, device)
        graph_id = self._run.graph_executions.site(row).graph_id
        return At(row, device, *self.call_of(row), self._run_around(graph_id, row))

    def enter(self, at: At, op: GraphOp, graph_id: str, *, first: bool) -> At:
        """Return the place in time of a graph that an op calls.

        Args:
            at: Where in time, in the graph with the op.
            op: The call, If or While.
            graph_id: The graph that it calls.
            first: Of several runs of a loop, whether the first one is meant, rather than the last.
        """
        if op.op_type in CALLS:
            several = len(self._calls.call_sites(graph_id)) > 1
            return self._enter_function(at, op, graph_id) if several else at
        run = None
        if at.run is not None:
            run = self._runs.inside(at.run, graph_id, at.row, first=first)
        elif self._is_outermost(op.graph_id) and self._is_in_order(op.graph_id):
            run = self._runs.inside_execution(at.execution, graph_id, at.row, first=first)
        return self._in_run(at, run) if run is not None else self._untold(at, op)

    def _enter_function(self, at: At, op: GraphOp, graph_id: str) -> At:
        """Return the place in time of a function with several calls, in one of them."""
        if not self._is_in_order(graph_id):
            return self._untold(at, op)
        caller = RunCaller(op, at.run)
        runs = self._runs.near(graph_id, at.execution, at.row)
        found = (run for run in runs if self._callers.caller(run) == caller)
        return self._in_run(at, next(found, GraphRun(graph_id, None)))

    def _untold(self, at: At, op: GraphOp) -> At:
        """Return the place in time inside of an op, as far as it is known without its run."""
        iteration = at.iteration if op.op_type in BRANCHES else None
        return replace(at, iteration=iteration)

    def leave(self, at: At, graph_id: str) -> tuple[GraphOp, At] | None:
        """Return the op that calls a graph, and the place in time there; None if not told."""
        sites = self._calls.call_sites(graph_id)
        if at.run is not None and at.run.graph_id == graph_id and at.run.number is not None:
            caller = self._callers.caller(at.run)
            if caller is not None:
                return caller.op, self._around(at, caller.around)
        if not sites or sites[0].op is None or (self.recorded and len(sites) > 1):
            return None
        return sites[0].op, at

    def _around(self, at: At, run: GraphRun | None) -> At:
        return self._in_run(at, run) if run is not None else replace(at, iteration=None, run=None)

    def other_iteration(self, at: At, body: str, step: int) -> At | None:
        """Return the place in time of a loop's body in another iteration; None if there is none.

        Args:
            at: Where in time, in the loop's body or condition.
            body: The body.
            step: -1 for the iteration before, 1 for the one after.
        """
        number = None if at.iteration is None else at.iteration + step
        if at.run is None or at.run.number is None:
            return replace(at, iteration=number) if number is None or number >= 0 else None
        run = self._runs.beside(at.run, body, step)
        if run is not None and self._callers.caller(run) != self._callers.caller(at.run):
            run = None  # of another run of the loop
        if run is not None and self._iteration_of(run) == number:
            return self._in_run(at, run)
        was_before = step < 0 and number is not None and number >= 0
        lost = run is not None or was_before
        return replace(at, iteration=number, run=GraphRun(body, None)) if lost else None

    def _in_run(self, at: At, run: GraphRun) -> At:
        return replace(at, iteration=self._iteration_of(run), run=run)

    def _iteration_of(self, run: GraphRun) -> int | None:
        start = self._runs.start(run)
        return self.call_of(start)[1] if start is not None else None

    def _is_outermost(self, graph_id: str) -> bool:
        """Whether a graph runs once in an execution, however many graphs are around it."""
        return not self._calls.call_sites(self._callers.frame(graph_id))

    def _is_in_order(self, graph_id: str) -> bool:
        """Whether a graph is part of a function: what a session runs is recorded in any order."""
        return bool(self._run.graphs[self._calls.outermost(graph_id)].name)

    def _run_around(self, graph_id: str, row: int) -> GraphRun | None:
        """Return the run in which a row of a graph was made, of the frame of the graph."""
        if self._is_outermost(graph_id) or not self._is_in_order(graph_id):
            return None
        return self._runs.of_row(self._callers.frame(graph_id), row)

    def row_in_call(self, site_id: int, at: At, *, after: bool = False) -> int | None:
        """Return a site's row of the same call, and of the same iteration of a loop.

        Args:
            site_id: The number of the site.
            at: Where in time.
            after: Whether a row after it is wanted, of several: a use and not an input.
        """
        inside = self._runs.rows(at.run, site_id) if at.run is not None else None
        if inside is not None:
            mine = self._of_execution(inside.tolist(), at.execution)
            return self._of_same_run(mine, at, after=after)
        mine = self._of_execution(self._rows.nearest(site_id, at.row), at.execution)
        if at.iteration is None:
            return self._of_same_run(mine, at, after=after)
        same = [row for row in mine if self.call_of(row)[1] == at.iteration]
        outside = [row for row in mine if self.call_of(row)[1] is None]
        return self._of_same_run(same or outside, at, after=after)

    def alternatives(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the other computations of a tensor in the same execution and iteration."""
        if event.kind != "graph_execution":
            return []
        execution, iteration = self.call_of(event.index)
        if execution is None:
            near = self.of_no_call(event) if self.mixes_calls(event.index) else []
            return [e for e in near if e != event and self.call_of(e.index)[1] == iteration]
        same = self._of_call(self._rows.site_id(event.index), event.index, execution, iteration)
        return [replace(event, index=row) for row in same if row != event.index]

    def of_no_call(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the computations of a tensor, the nearest first, of which no call is told."""
        if event.kind != "graph_execution":
            return []
        near = self._rows.nearest(self._rows.site_id(event.index), event.index)
        return [replace(event, index=row) for row in near if self.call_of(row)[0] is None]

    def mixes_calls(self, row: int) -> bool:
        """Whether a row is of one of several calls side by side, of which it is not told which."""
        graph_id = self._run.graph_executions.site(row).graph_id
        return self.call_of(row)[0] is None and not self._calls.in_pipeline(graph_id)

    def may_be_another_run(self, row: int, source: int) -> bool:
        """Whether a function ran several times in a call, and not as often as another one."""
        at = self.at(row)
        if at.execution is None or (self._is_told(row) and self._is_told(source)):
            return False
        same = self._of_call(self._rows.site_id(source), row, at.execution, at.iteration)
        return len(same) > 1 and len(self._rows_like(at)) != len(same)

    def _is_told(self, row: int) -> bool:
        """Whether it is known which run of its graph a row belongs to."""
        graph_id = self._run.graph_executions.site(row).graph_id
        return self._is_outermost(graph_id) or self._run_around(graph_id, row) is not None

    def _of_same_run(self, rows: list[int], at: At, *, after: bool) -> int | None:
        """Return which of a site's rows in one execution belongs to the same run of its function.

        A function that is called in a loop runs many times in an execution: if the other tensor was
        computed as often as this one, then in step with it, else the nearest one is meant, before
        or after.  Only of what XLA has compiled are inputs recorded after their uses.
        """
        if len(rows) < 2:
            return rows[0] if rows else None
        own = self._rows_like(at)
        if len(own) == len(rows) < NEAR:
            return rows[own.index(at.row)]
        there = [row for row in rows if (row > at.row) == after]
        if not there:
            return rows[0] if after else rows[-1]
        return there[0] if after else there[-1]

    def _rows_like(self, at: At) -> list[int]:
        """Return the rows of the same tensor as a row in the same execution and iteration."""
        if at.row >= len(self._run.graph_executions):
            return []
        execution, iteration = self.call_of(at.row)
        if execution is None or execution != at.execution:
            return []
        return self._of_call(self._rows.site_id(at.row), at.row, execution, iteration)

    def _of_call(self, site_id: int, row: int, execution: int, iteration: int | None) -> list[int]:
        """Return the rows of a site near to a row that are of one execution and iteration."""
        run = self._run_around(self._run.graph_executions.site(row).graph_id, row)
        inside = self._runs.rows(run, site_id) if run is not None else None
        if inside is not None:
            return self._of_execution(inside.tolist(), execution)
        rows = self._of_execution(self._rows.nearest(site_id, row), execution)
        return [other for other in rows if self.call_of(other)[1] == iteration]

    def _of_execution(self, rows: list[int], execution: int | None) -> list[int]:
        """Return those of some rows, given the nearest first, that belong to an execution."""
        found: list[int] = []
        others = 0
        for row in rows:
            if self.call_of(row)[0] == execution:
                found.append(row)
                others = 0
            elif found and (others := others + 1) == _OTHERS:
                break  # each row is a record to be read
        return sorted(found)

    def time(self, row: int) -> float:
        """Return when a graph execution was recorded."""
        return float(self._run.graph_executions.wall_times([row])[0])

    def _read_call(self, row: int) -> tuple[int | None, int | None]:
        trace = self._run.graph_executions[row]
        return trace.execution_index, trace.iteration
