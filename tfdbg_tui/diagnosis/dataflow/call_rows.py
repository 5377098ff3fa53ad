"""Which computations of graph tensors belong to the same call, iteration and run of a function.

This project's writer says so, and records the tensors of a call in groups, not in order of time;
TensorFlow's keeps their order instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import CALLS
from tfdbg_tui.diagnosis.dataflow.graph_runs import CallOrder, RunNumber, sites_of_block
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
        number: Which run of the graph in that execution, where it runs repeatedly.
    """

    row: int
    device: str
    execution: int | None = None
    iteration: int | None = None
    number: RunNumber | None = None


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
        self._order = CallOrder(run, calls)
        self._repeats = self.recorded and any(map(self._order.is_repeated, list(run.graphs)))
        self._number_of = lru_cache(maxsize=1 << 14)(self._find_number)

    def at(self, row: int) -> At:
        """Return the place in time of a row."""
        if row >= len(self._run.graph_executions):
            return At(row, "")
        device = self._run.graph_executions.site(row).device
        if not self.recorded:
            return At(row, device)
        number = self._number_of(row) if self._repeats else None
        return At(row, device, *self.call_of(row), number)

    def enter(self, at: At, op: GraphOp, graph_id: str) -> At:
        """Return the place in time of a graph that an op calls.

        Args:
            at: Where in time, in the graph with the op.
            op: The call, If or While.
            graph_id: The graph that it calls.
        """
        called = at.number is not None and op.op_type in CALLS
        number = self._order.entered(at.number, op, graph_id) if called and at.number else None
        return replace(at, number=number)

    def leave(self, at: At, graph_id: str) -> tuple[GraphOp, At] | None:
        """Return the op that calls a graph, of several, and the place in time of its graph."""
        left = self._order.left(at.number, graph_id) if at.number is not None else None
        return (left[0], replace(at, number=left[1])) if left is not None else None

    def row_in_call(self, site_id: int, at: At, *, after: bool = False) -> int | None:
        """Return a site's row of the same call, and of the same iteration of a loop.

        Args:
            site_id: The number of the site.
            at: Where in time.
            after: Whether a row after it is wanted, of several: a use and not an input.
        """
        nearest = self._rows.nearest(site_id, at.row)
        if not nearest:
            return None
        if at.execution is None:
            when = self.time(at.row)
            return int(min(nearest, key=lambda row: abs(self.time(row) - when)))
        mine = self._of_execution(nearest, at.execution)
        if at.iteration is None:
            return self._of_same_run(mine, at, after=after)
        same = [row for row in mine if self.call_of(row)[1] == at.iteration]
        outside = [row for row in mine if self.call_of(row)[1] is None]
        return self._of_same_run(same or outside, at, after=after)

    def alternatives(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the other computations of a tensor in the same execution and iteration."""
        execution, iteration = self.call_of(event.index)
        if event.kind != "graph_execution" or execution is None:
            return []
        same = self._of_call(self._rows.site_id(event.index), event.index, execution, iteration)
        return [replace(event, index=row) for row in same if row != event.index]

    def may_be_another_run(self, row: int, source: int) -> bool:
        """Whether a function ran several times in a call, and not as often as another one."""
        at = self.at(row)
        if at.execution is None or (at.number is not None and self._number_of(source) is not None):
            return False
        same = self._of_call(self._rows.site_id(source), row, at.execution, at.iteration)
        return len(same) > 1 and len(self._rows_like(at)) != len(same)

    def _find_number(self, row: int) -> RunNumber | None:
        """Return which run of its graph a row belongs to, by those recorded together with it."""
        execution, iteration = self.call_of(row)
        frame = self._order.frame(self._run.graph_executions.site(row).graph_id)
        if execution is None or frame is None:
            return None
        once = self._calls.call_site(frame.graph_id) is None
        if once and len(frame.paths) == 1:
            return RunNumber(0, 1)
        found = []
        for site_id, other in sites_of_block(self._run, row):
            rows = self._of_call(site_id, other, execution, iteration)
            if len(rows) % len(frame.paths) == 0 and len(rows) < NEAR:
                found.append(RunNumber(rows.index(other), len(rows)))
        if iteration is not None:
            return RunNumber(iteration, None) if RunNumber(0, 1) in found else None
        if once:
            found = [number for number in found if number.total == len(frame.paths)]
        # ADAPTIVE records some tensors of a run twice, as inputs of others, and some not at all.
        return max(found, key=found.count, default=None)

    def _of_number(self, rows: list[int], number: RunNumber) -> list[int]:
        """Return the row of a site that belongs to a run of its graph; none if it left no record.

        All rows where that cannot be told.
        """
        if number.total in (None, len(rows)):
            return rows[number.place : number.place + 1]
        numbers = [self._number_of(row) for row in rows]
        if any(other is None or other.total != number.total for other in numbers):
            return rows
        return [row for row, other in zip(rows, numbers, strict=True) if other == number]

    def _of_same_run(self, rows: list[int], at: At, *, after: bool) -> int | None:
        """Return which of a site's rows in one execution belongs to the same run of its function.

        A function that is called in a loop runs many times in an execution: if the other tensor was
        computed as often as this one, then in step with it, else the nearest one is meant, before
        or after.  Only of what XLA has compiled are inputs recorded after their uses.
        """
        if at.number is not None:
            rows = self._of_number(rows, at.number)
        if len(rows) < 2:
            return rows[0] if rows else None
        own = self._rows_like(at)
        if len(own) == len(rows) < NEAR:
            return rows[own.index(at.row)]
        there = [row for row in rows if (row > at.row) == after]
        return min(there or rows, key=lambda row: abs(row - at.row))

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
        rows = self._of_execution(self._rows.nearest(site_id, row), execution)
        return [other for other in rows if self.call_of(other)[1] == iteration]

    def _of_execution(self, rows: list[int], execution: int) -> list[int]:
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
