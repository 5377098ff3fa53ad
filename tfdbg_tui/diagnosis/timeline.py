"""Looking up events: by tensor id, by graph tensor, by the execution that caused them.

Nothing here walks over all events: executions are found by bisection, as tensor ids and times grow
from one to the next, and graph executions by their site.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.calls import CALLS
from tfdbg_tui.diagnosis.events import TensorEvent, read_execution, read_graph_execution
from tfdbg_tui.diagnosis.graph_runs import CallOrder, RunNumber, sites_of_block
from tfdbg_tui.diagnosis.optypes import FLOAT_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.calls import Calls
    from tfdbg_tui.logdir import Execution, GraphOp, Run, Site, TensorRef
    from tfdbg_tui.logdir.columns import ColumnView, Int64Array

_NEAR = 64  # executions: how far ids may be out of order where threads mix
_AHEAD = 1024  # executions: how far ahead uses of an eager tensor are looked for
_WINDOW = 4096
_GROUP_ROWS = 1 << 15  # rows: how far apart tensors of one call may be recorded


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


class Timeline:
    """The events of a run by what they are about."""

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self._sites: dict[tuple[str, str], list[tuple[Site, int]]] = {}
        self._alike: dict[int, list[int]] = {}
        by_tensor: dict[Site, list[int]] = {}
        for site, site_id in list(run.site_numbers.items()):
            # In ADAPTIVE a tensor has two sites: bad ones are recorded in another mode.
            alike = by_tensor.setdefault(replace(site, mode=0), [])
            if not alike:
                self._sites.setdefault((site.graph_id, site.op_name), []).append((site, site_id))
            alike.append(site_id)
            self._alike[site_id] = alike
        self._whole: dict[str, bool] = {}
        self._callers: dict[str, Int64Array] = {}
        self.execution = lru_cache(maxsize=8192)(self._read_execution)
        # This project's writer records a call's tensors in groups, not in order of time, and says
        # which call and iteration each belongs to; TensorFlow's keeps their order instead.
        self.grouped = any(graph.signatures for graph in list(run.graphs.values()))
        self._call_of = lru_cache(maxsize=1 << 16)(self._read_call)
        self._order = CallOrder(run, calls)
        self._repeats = self.grouped and any(map(self._order.is_repeated, list(run.graphs)))
        self._number_of = lru_cache(maxsize=1 << 14)(self._find_number)

    def rows_of(self, row: int, start: int = 0, stop: int | None = None) -> Int64Array:
        """Return the computations of the same tensor as a row, in whatever mode, ascending."""
        return self._rows_of(self._run.graph_executions.site_ids[row], start, stop)

    def _rows_of(self, site_id: int, start: int = 0, stop: int | None = None) -> Int64Array:
        column = self._run.graph_executions.site_ids
        rows = [column.rows_equal(alike, start, stop) for alike in self._alike[site_id]]
        return rows[0] if len(rows) == 1 else np.sort(np.concatenate(rows))

    def _last_before(self, site_id: int, row: int) -> int | None:
        traces = self._run.graph_executions
        rows = [traces.last_before(alike, row) for alike in self._alike[site_id]]
        return max((r for r in rows if r is not None), default=None)

    def sites(self, graph_id: str, op_name: str) -> list[tuple[Site, int]]:
        """Return the sites (slots, devices) of an op, with their numbers."""
        return self._sites.get((graph_id, op_name), [])

    def is_traced(self, graph_id: str, ref: TensorRef) -> bool:
        """Whether any computation of a graph's tensor was recorded."""
        return any(site.output_slot == ref.slot for site, _ in self.sites(graph_id, ref.op_name))

    def ran(self, graph_id: str) -> bool:
        """Whether anything that a graph has computed was recorded."""
        graph = self._run.graphs.get(graph_id)
        return graph is not None and any(self.sites(graph_id, name) for name in list(graph.ops))

    def recorded_whole(self, graph_id: str) -> bool:
        """Whether all floating-point tensors of a graph are, as far as can be told, recorded.

        They are not where the dump was filtered (``op_regex``, ``tensor_dtypes``) or a ring buffer
        has dropped some: ops that can only make floating-point tensors have no record then.
        """
        known = self._whole.get(graph_id)
        if known is None:
            graph = self._run.graphs.get(graph_id)
            known = graph is not None and all(
                self.sites(graph_id, op.name)
                for op in list(graph.ops.values())
                if op.op_type in FLOAT_OPS
            )
            self._whole[graph_id] = known
        return known

    def at(self, row: int) -> At:
        """Return the place in time of a row."""
        device = self._run.graph_executions.site(row).device
        if not self.grouped:
            return At(row, device)
        number = self._number_of(row) if self._repeats else None
        return At(row, device, *self._call_of(row), number)

    def enter(self, at: At, op: GraphOp, graph_id: str) -> At:
        """Return the place in time of a graph that an op calls."""
        called = at.number is not None and op.op_type in CALLS
        number = self._order.entered(at.number, op, graph_id) if called and at.number else None
        return replace(at, number=number)

    def leave(self, at: At, graph_id: str) -> tuple[GraphOp, At] | None:
        """Return the op that calls a graph, of several, and the place in time of its graph."""
        left = self._order.left(at.number, graph_id) if at.number is not None else None
        return (left[0], replace(at, number=left[1])) if left is not None else None

    def find(self, graph_id: str, ref: TensorRef, at: At) -> TensorEvent | None:
        """Return the computation of a graph's tensor that belongs to a row, or the last one."""
        rows: list[tuple[bool, int]] = []
        for site, site_id in self.sites(graph_id, ref.op_name):
            if site.output_slot == ref.slot:
                row = (
                    self._row_in_call(site_id, at)
                    if self.grouped
                    else self._last_before(site_id, at.row)
                )
                if row is not None:
                    rows.append((site.device == at.device, row))
        return TensorEvent("graph_execution", max(rows)[1], ref.slot) if rows else None

    def before_call(self, graph_id: str, ref: TensorRef, at: At) -> TensorEvent | None:
        """Return a graph tensor's last computation before the call that a row belongs to."""
        for site, site_id in self.sites(graph_id, ref.op_name):
            if site.output_slot != ref.slot:
                continue
            row = self._last_before(site_id, at.row)
            for _ in range(_NEAR):
                if row is None or self._call_of(row)[0] != at.execution:
                    break
                row = self._last_before(site_id, row)
            if row is not None:
                return TensorEvent("graph_execution", row, ref.slot)
        return None

    def _row_in_call(self, site_id: int, at: At) -> int | None:
        """Return a site's row of the same call, and of the same iteration of a loop."""
        nearest = self._nearest(site_id, at.row)
        if not nearest:
            return None
        if at.execution is None:
            when = self.time(at.row)
            return int(min(nearest, key=lambda row: abs(self.time(row) - when)))
        mine = self._of_execution(nearest, at.execution)
        if at.iteration is None:
            return self._of_same_run(mine, at)
        same = [row for row in mine if self._call_of(row)[1] == at.iteration]
        outside = [row for row in mine if self._call_of(row)[1] is None]
        return self._of_same_run(same or outside, at)

    def _of_execution(self, rows: list[int], execution: int) -> list[int]:
        return sorted(row for row in rows if self._call_of(row)[0] == execution)

    def _find_number(self, row: int) -> RunNumber | None:
        """Return which run of its graph a row belongs to, by those recorded together with it."""
        execution, iteration = self._call_of(row)
        frame = self._order.frame(self._run.graph_executions.site(row).graph_id)
        if execution is None or frame is None:
            return None
        once = self._calls.call_site(frame.graph_id) is None
        if once and len(frame.paths) == 1:
            return RunNumber(0, 1)
        found = []
        for site_id, other in sites_of_block(self._run, row):
            near = self._of_execution(self._nearest(site_id, other), execution)
            rows = [r for r in near if self._call_of(r)[1] == iteration]
            if len(rows) % len(frame.paths) == 0 and len(rows) < _NEAR:
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

    def _of_same_run(self, rows: list[int], at: At) -> int | None:
        """Return which of a site's rows in one execution belongs to the same run of its function.

        A function that is called in a loop runs many times in an execution: if the other tensor was
        computed as often as this one, then in step with it, else the nearest one is meant.
        """
        if at.number is not None:
            rows = self._of_number(rows, at.number)
        if len(rows) < 2:
            return rows[0] if rows else None
        own = self._rows_like(at)
        if len(own) == len(rows) < _NEAR:
            return rows[own.index(at.row)]
        return min(rows, key=lambda row: abs(row - at.row))

    def _rows_like(self, at: At) -> list[int]:
        """Return the rows of the same tensor as a row in the same execution and iteration."""
        if at.row >= len(self._run.graph_executions):
            return []
        execution, iteration = self._call_of(at.row)
        if execution is None or execution != at.execution:
            return []
        near = self._nearest(self._run.graph_executions.site_ids[at.row], at.row)
        rows = self._of_execution(near, execution)
        return [row for row in rows if self._call_of(row)[1] == iteration]

    def _nearest(self, site_id: int, row: int) -> list[int]:
        """Return the rows of a site that are nearest to a row, the nearest first."""
        start = max(0, row - _GROUP_ROWS)
        rows = self._rows_of(site_id, start, row + _GROUP_ROWS)
        ordered: list[int] = rows[np.argsort(np.abs(rows - row), kind="stable")][:_NEAR].tolist()
        return ordered

    def same_counts(self, row: int, other: int) -> bool:
        """Whether two graph executions may have recorded one and the same tensor."""
        one, two = (read_graph_execution(self._run, index) for index in (row, other))
        return one is not None and two is not None and one.summary == two.summary

    def overtaken(self, event: TensorEvent, source: TensorEvent | None) -> bool:
        """Whether runs of a function may have overtaken one another between two of its tensors.

        Where each follows the last one, every op of the function is computed once between two
        computations of another one.  Threads, and iterations of a loop, may run side by side.
        """
        if source is None or "execution" in (event.kind, source.kind):
            return False
        if self.grouped:
            return self._may_be_another_run(event.index, source.index)
        traces = self._run.graph_executions
        if traces.site(event.index).graph_id != traces.site(source.index).graph_id:
            return False
        before = traces.last_before(traces.site_ids[event.index], event.index)
        start = 0 if before is None else before + 1
        runs = traces.site_ids.rows_equal(traces.site_ids[source.index], start, event.index)
        return int(runs.size) != 1

    def between(self, event: TensorEvent, source: TensorEvent) -> list[TensorEvent]:
        """Return the computations of a tensor since the last time when another one was made."""
        if "execution" in (event.kind, source.kind):
            return []
        before = self._last_before(self._run.graph_executions.site_ids[event.index], event.index)
        rows = self.rows_of(source.index, 0 if before is None else before + 1, event.index)
        return [replace(source, index=row) for row in rows[:_NEAR].tolist()]

    def alternatives(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the other computations of a tensor in the same execution and iteration."""
        execution, iteration = self._call_of(event.index)
        if event.kind != "graph_execution" or execution is None:
            return []
        near = self._nearest(self._run.graph_executions.site_ids[event.index], event.index)
        rows = self._of_execution(near, execution)
        same = [row for row in rows if self._call_of(row)[1] == iteration and row != event.index]
        return [replace(event, index=row) for row in same]

    def _may_be_another_run(self, row: int, source: int) -> bool:
        """Whether a function ran several times in a call, and not as often as another one."""
        at = self.at(row)
        if at.execution is None or (at.number is not None and self._number_of(source) is not None):
            return False
        near = self._nearest(self._run.graph_executions.site_ids[source], row)
        rows = self._of_execution(near, at.execution)
        same = [other for other in rows if self._call_of(other)[1] == at.iteration]
        return len(same) > 1 and len(self._rows_like(at)) != len(same)

    def time(self, row: int) -> float:
        """Return when a graph execution was recorded."""
        return float(self._run.graph_executions.wall_times([row])[0])

    def _read_call(self, row: int) -> tuple[int | None, int | None]:
        trace = read_graph_execution(self._run, row)
        return (trace.execution_index, trace.iteration) if trace else (None, None)

    def next(self, graph_id: str, op_name: str, at: At) -> TensorEvent | None:
        """Return the first tensor that an op makes after a row, on the same device first."""
        rows: list[tuple[bool, int, int]] = []
        for site, site_id in self.sites(graph_id, op_name):
            row = (
                self._row_in_call(site_id, at)
                if self.grouped
                else first_after(self._run.graph_executions.site_ids, site_id, at.row)
            )
            if row is not None:
                rows.append((site.device != at.device, row, site.output_slot))
        if not rows:
            return None
        _, row, slot = min(rows)
        return TensorEvent("graph_execution", row, slot)

    def execution_of(self, row: int) -> int | None:
        """Return the execution that caused a graph execution, or None.

        TensorFlow does not record it: it is the first one of the outermost function around the op
        that had not finished yet.
        """
        if self.grouped and (index := self._call_of(row)[0]) is not None:
            return index
        graph_id = self._run.graph_executions.site(row).graph_id
        callers = self.executions_of(self._calls.outermost(graph_id))
        recorded = self.time(row)
        low, high = 0, len(callers)
        while low < high:
            middle = (low + high) // 2
            if float(self._run.executions.wall_times([callers[middle]])[0]) < recorded:
                low = middle + 1
            else:
                high = middle
        return int(callers[low]) if low < len(callers) else None

    def executions_of(self, graph_id: str) -> Int64Array:
        """Return the executions of a graph's function, ascending."""
        known = self._callers.get(graph_id)
        if known is None:
            executions = self._run.executions
            numbers = [
                number for number in range(executions.num_kinds) if self.runs(number, graph_id)
            ]
            rows = [executions.kinds.rows_equal(number) for number in numbers]
            known = np.sort(np.concatenate(rows)) if rows else np.zeros(0, np.int64)
            self._callers[graph_id] = known
        return known

    def alike(self, index: int) -> Int64Array:
        """Return the executions of the same op type by the same stack, ascending.

        Their kinds may differ: in ADAPTIVE those that made a bad tensor are recorded in another
        mode.
        """
        executions = self._run.executions
        op_type = executions.kind(index).op_type
        numbers = range(executions.num_kinds)
        same = [i for i in numbers if executions.kind_by_id(i).op_type == op_type]
        rows = np.sort(np.concatenate([executions.kinds.rows_equal(i) for i in same]))
        same_line: Int64Array = rows[executions.stack_ids.take(rows) == executions.stack_ids[index]]
        return same_line

    def runs(self, kind_number: int, graph_id: str) -> bool:
        """Whether executions of a kind are, as far as can be told, calls of a graph's function."""
        kind = self._run.executions.kind_by_id(kind_number)
        if kind.graph_id is not None:
            return kind.graph_id == graph_id
        return kind.is_function and graph_id in self._calls.function_graphs(kind.op_type)

    def maker(self, tensor_id: int, before: int) -> TensorEvent | None:
        """Return the execution before another one that made an eager tensor, or None."""
        low, high = 0, before
        while low < high:
            middle = (low + high) // 2
            probe, last = self._last_output(middle, low)
            if last is None or last < tensor_id:
                low = middle + 1
            else:
                high = probe
        for index in self._around(low, before):
            outputs = self.execution(index).output_tensor_ids
            if tensor_id in outputs:
                return TensorEvent("execution", index, outputs.index(tensor_id))
        return None

    def users(self, tensor_id: int, after: int) -> Iterator[tuple[int, int]]:
        """Yield (execution, input slot) of the uses of an eager tensor soon after an execution."""
        for index in range(after + 1, min(len(self._run.executions), after + 1 + _AHEAD)):
            inputs = self.execution(index).input_tensor_ids
            for slot, used in enumerate(inputs):
                if used == tensor_id:
                    yield index, slot

    def _read_execution(self, index: int) -> Execution:
        return read_execution(self._run, index)

    def _last_output(self, index: int, low: int) -> tuple[int, int | None]:
        """Return the nearest execution at or before `index` that made a tensor, and its last id."""
        for probe in range(index, max(low, index - _NEAR) - 1, -1):
            outputs = self.execution(probe).output_tensor_ids
            if outputs:
                return probe, outputs[-1]
        return index, None

    def _around(self, index: int, stop: int) -> Iterator[int]:
        yield from range(index, min(stop, index + _NEAR))
        yield from range(min(index, stop) - 1, max(0, index - _NEAR) - 1, -1)


def first_after(column: ColumnView, value: int, index: int) -> int | None:
    """Return the first row after `index` that holds `value`, or None."""
    start, window = index + 1, _WINDOW
    while start < len(column):
        rows = column.rows_equal(value, start, start + window)
        if rows.size:
            return int(rows[0])
        start, window = start + window, window * 8
    return None
