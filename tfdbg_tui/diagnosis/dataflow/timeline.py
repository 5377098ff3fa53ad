"""Looking up events: by tensor id, by graph tensor, by the execution that caused them.

Nothing here walks over all events: executions are found by bisection, as tensor ids (see
`eager_tensors`) and times grow from one to the next, and graph executions by their site.
"""

from __future__ import annotations

import bisect
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.call_rows import At, CallRows
from tfdbg_tui.diagnosis.dataflow.eager_tensors import EagerTensors
from tfdbg_tui.diagnosis.dataflow.links import copied_input
from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.locations import frames_of_user
from tfdbg_tui.diagnosis.op_traits import FLOAT_OPS
from tfdbg_tui.diagnosis.values import same_counts
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.logdir import ExecutionKind, GraphOp, Run, Site, TensorRef
    from tfdbg_tui.logdir.index.columns import Int64Array

_NEAR = 64  # computations of a tensor that are looked at before a row, or between two
_FOLLOWED = 100  # copies, and outputs of functions, that are followed to what is recorded


class Timeline:
    """The events of a run by what they are about.

    Attributes:
        execution: Returns an execution by its index.
        execution_of: Returns the execution that caused a row of the graph executions, or None.
        row_after: Returns the first row recorded after an execution had finished.
        input_ids: See `EagerTensors`.
        output_ids: See `EagerTensors`.
        maker: See `EagerTensors`.
        maker_in: See `EagerTensors`.
        users: See `EagerTensors`.
        grouped: Whether the writer records which execution each graph execution belongs to, and
            the tensors of one in groups.

    Args:
        run: The run.
        calls: The calls between its graphs.
    """

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self._rows = TraceRows(run)
        self._calls_of = CallRows(run, calls, self._rows)
        self._whole: dict[str, bool] = {}
        self._callers: dict[str, Int64Array] = {}
        self.execution = lru_cache(maxsize=8192)(run.executions.__getitem__)
        self.execution_of = lru_cache(maxsize=8192)(self._find_execution)
        self.row_after = lru_cache(maxsize=1024)(self._find_row_after)
        self._ended = lru_cache(maxsize=8192)(self._read_end)
        eager = EagerTensors(run)
        self.input_ids, self.output_ids = eager.input_ids, eager.output_ids
        self.maker, self.maker_in, self.users = eager.maker, eager.maker_in, eager.users
        self.grouped = self._calls_of.recorded

    def sites(self, graph_id: str, op_name: str) -> list[tuple[Site, int]]:
        """Return the sites (slots, devices) of an op, with their numbers."""
        return self._rows.sites(graph_id, op_name)

    def rows_of(self, row: int) -> Int64Array:
        """Return the computations of the same tensor as a row, in whatever mode, ascending."""
        return self._rows.rows_of(row)

    def again(self, event: TensorEvent, step: int) -> TensorEvent | None:
        """Return the next computation of a tensor, in whatever mode, or None.

        Args:
            event: A computation of the tensor.
            step: 1; -1 for the previous one.
        """
        index = event.index
        if event.kind == "graph_execution":
            find = self._rows.first_after if step > 0 else self._rows.last_before
            row = find(self._rows.site_id(index), index)
        else:
            alike = self.alike(index)
            some = alike[alike > index][:1] if step > 0 else alike[alike < index][-1:]
            row = int(some[0]) if some.size else None
        return None if row is None else replace(event, index=row)

    def at(self, row: int) -> At:
        """Return the place in time of a row."""
        return self._calls_of.at(row)

    def enter(self, at: At, op: GraphOp, graph_id: str, *, first: bool = False) -> At:
        """Return the place in time of a graph that an op calls.

        Args:
            at: Where in time, in the graph with the op.
            op: The call, If or While.
            graph_id: The graph that it calls.
            first: Of several runs of a loop, whether the first one is meant, rather than the last.
        """
        return self._calls_of.enter(at, op, graph_id, first=first)

    def leave(self, at: At, graph_id: str) -> tuple[GraphOp, At] | None:
        """Return the op that calls a graph, and the place in time there; None if not told."""
        return self._calls_of.leave(at, graph_id)

    def other_iteration(self, at: At, body: str, step: int) -> At | None:
        """Return the place in time of a loop's body in another iteration; None if there is none.

        Args:
            at: Where in time, in the loop's body or condition.
            body: The body.
            step: -1 for the iteration before, 1 for the one after.
        """
        return self._calls_of.other_iteration(at, body, step)

    def time(self, row: int) -> float:
        """Return when a graph execution was recorded."""
        return self._calls_of.time(row)

    def execution_at(self, event: TensorEvent) -> int | None:
        """Return the execution that an event is, or is in; None where it is not known."""
        return event.index if event.kind == "execution" else self.execution_of(event.index)

    def alternatives(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the other computations of a tensor in the same execution and iteration."""
        return self._calls_of.alternatives(event)

    def of_no_call(self, event: TensorEvent) -> list[TensorEvent]:
        """Return the computations of a tensor, the nearest first, of which no call is told."""
        return self._calls_of.of_no_call(event)

    def is_traced(self, graph_id: str, ref: TensorRef) -> bool:
        """Whether any computation of a graph's tensor was recorded."""
        return any(site.output_slot == ref.slot for site, _ in self.sites(graph_id, ref.op_name))

    def recorded(self, graph_id: str, ref: TensorRef) -> Iterator[tuple[str, TensorRef]]:
        """Yield a tensor, or what it is a copy or an output of where it is not recorded itself.

        Args:
            graph_id: The graph.
            ref: The tensor.
        """
        tensors = Worklist([(graph_id, ref)], most=_FOLLOWED)
        for graph_id, ref in tensors:
            op = self._run.op(graph_id, ref.op_name)
            if op is None or self.is_traced(graph_id, ref):
                yield graph_id, ref
                continue
            source = copied_input(op, ref.slot)
            if source is not None:
                tensors.add((graph_id, source))
            for called in self._calls.called_graphs(op):
                tensors.add(*((called, out) for out in self._calls.outputs(called)[ref.slot :][:1]))

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

    def find(self, graph_id: str, ref: TensorRef, at: At) -> TensorEvent | None:
        """Return the computation of a graph's tensor that belongs to a row, or the last one.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
        """
        rows: list[tuple[bool, int]] = []
        for site, site_id in self.sites(graph_id, ref.op_name):
            if site.output_slot == ref.slot:
                row = (
                    self._calls_of.row_in_call(site_id, at)
                    if self.grouped
                    else self._rows.last_before(site_id, at.row)
                )
                if row is not None:
                    rows.append((site.device == at.device, row))
        return TensorEvent("graph_execution", max(rows)[1], ref.slot) if rows else None

    def before(self, event: TensorEvent, at: At) -> TensorEvent | None:
        """Return the last computation of a tensor in an execution before a row.

        Args:
            event: A computation of the tensor, in a graph.
            at: Where in time.
        """
        row = self._rows.last_before(self._rows.site_id(event.index), at.row)
        for _ in range(_NEAR):
            if row is None or self._calls_of.call_of(row)[0] == at.execution:
                break
            row = self._rows.last_before(self._rows.site_id(event.index), row)
        is_found = row is not None and self._calls_of.call_of(row)[0] == at.execution
        return replace(event, index=row) if row is not None and is_found else None

    def last_before(self, graph_id: str, ref: TensorRef, row: int) -> TensorEvent | None:
        """Return the last computation of a graph's tensor before a row, in whatever execution.

        Args:
            graph_id: The graph.
            ref: The tensor.
            row: The row.
        """
        sites = self.sites(graph_id, ref.op_name)
        rows = [
            self._rows.last_before(number, row) for s, number in sites if s.output_slot == ref.slot
        ]
        last = max((row for row in rows if row is not None), default=None)
        return None if last is None else TensorEvent("graph_execution", last, ref.slot)

    def before_call(self, graph_id: str, ref: TensorRef, at: At) -> TensorEvent | None:
        """Return a graph tensor's last computation before the call that a row belongs to.

        Args:
            graph_id: The graph.
            ref: The tensor.
            at: Where in time.
        """
        for site, site_id in self.sites(graph_id, ref.op_name):
            if site.output_slot != ref.slot:
                continue
            row = self._rows.last_before(site_id, at.row)
            for _ in range(_NEAR):
                if row is None or self._calls_of.call_of(row)[0] != at.execution:
                    break
                row = self._rows.last_before(site_id, row)
            if row is not None:
                return TensorEvent("graph_execution", row, ref.slot)
        return None

    def same_counts(self, row: int, other: int) -> bool:
        """Whether two graph executions may have recorded one and the same tensor."""
        one, two = (self._run.graph_executions[index] for index in (row, other))
        if one.unreadable or two.unreadable or one.summary is None or two.summary is None:
            return False
        return same_counts(one.summary, two.summary)

    def overtaken(self, event: TensorEvent, source: TensorEvent | None) -> bool:
        """Whether runs of a function may have overtaken one another between two of its tensors.

        Where each follows the last one, every op of the function is computed once between two
        computations of another one.  Threads, and iterations of a loop, may run side by side.
        """
        if source is None or "execution" in (event.kind, source.kind):
            return False
        if self.grouped and not self._calls_of.mixes_calls(event.index):
            return self._calls_of.may_be_another_run(event.index, source.index)
        traces = self._run.graph_executions
        if traces.site(event.index).graph_id != traces.site(source.index).graph_id:
            return False
        return len(self.between(event, source)) != 1

    def between(self, event: TensorEvent, source: TensorEvent) -> list[TensorEvent]:
        """Return the computations of a tensor since the last time when another one was made."""
        if "execution" in (event.kind, source.kind):
            return []
        before = self._rows.last_before(self._rows.site_id(event.index), event.index)
        rows = self._rows.rows_of(source.index, 0 if before is None else before + 1, event.index)
        return [replace(source, index=row) for row in rows[:_NEAR].tolist()]

    def next(self, graph_id: str, op_name: str, at: At) -> TensorEvent | None:
        """Return the first tensor that an op makes after a row, on the same device first.

        Args:
            graph_id: The graph.
            op_name: The op.
            at: Where in time.
        """
        sites = self.sites(graph_id, op_name)
        # An op may have hundreds of outputs, which are on record one after the other.
        for site, site_id in sorted(
            sites, key=lambda s: (s[0].device != at.device, s[0].output_slot)
        ):
            row = (
                self._calls_of.row_in_call(site_id, at, after=True)
                if self.grouped
                else self._rows.first_after(site_id, at.row)
            )
            if row is not None:
                return TensorEvent("graph_execution", row, site.output_slot)
        return None

    def after(self, graph_id: str, ref: TensorRef, row: int, number: int) -> list[TensorEvent]:
        """Return the first computations of a graph's tensor after a row, of whatever call.

        Args:
            graph_id: The graph.
            ref: The tensor.
            row: The row after which they are looked for.
            number: How many at most.
        """
        found: list[TensorEvent] = []
        sites = self.sites(graph_id, ref.op_name)
        for site_id in [number for site, number in sites if site.output_slot == ref.slot][:1]:
            later = self._rows.first_after(site_id, row)
            while later is not None and len(found) < number:
                found.append(TensorEvent("graph_execution", later, ref.slot))
                later = self._rows.first_after(site_id, later)
        return found

    def _find_execution(self, row: int) -> int | None:
        """Return the execution that caused a graph execution, or None.

        TensorFlow does not record it: it is the first one of the outermost function around the op
        that had not finished yet.
        """
        if row >= len(self._run.graph_executions):
            return None  # what was computed after all that is on record
        if self.grouped and (index := self._calls_of.call_of(row)[0]) is not None:
            return index
        graph_id = self._run.graph_executions.site(row).graph_id
        callers = self.executions_of(self._calls.outermost(graph_id))
        recorded = self.time(row)
        found = bisect.bisect_left(callers, recorded, key=self._ended)
        return int(callers[found]) if found < len(callers) else None

    def _find_row_after(self, index: int) -> int:
        """Return the first row recorded after an execution had finished."""
        rows = range(len(self._run.graph_executions))
        return bisect.bisect_right(rows, self._ended(index), key=self.time)

    def _read_end(self, index: int) -> float:
        return float(self._run.executions.wall_times([index])[0])

    def executions_of(self, graph_id: str) -> Int64Array:
        """Return the executions of a graph's function, ascending."""
        known = self._callers.get(graph_id)
        if known is None:
            known = self._run.executions.of_kinds(lambda kind: self.runs(kind, graph_id))
            self._callers[graph_id] = known
        return known

    def first_execution(self, event: TensorEvent) -> int:
        """Return the execution that computed a tensor first; -1 where that is not known."""
        if event.kind == "execution":
            return int(self.alike(event.index)[0])
        first = self.execution_of(int(self.rows_of(event.index)[0]))
        return -1 if first is None else first

    def alike(self, index: int) -> Int64Array:
        """Return the executions of the same op type by the same stack and layer, ascending.

        Their kinds may differ: in ADAPTIVE those that made a bad tensor are recorded in another
        mode.  TensorFlow's way to a function differs in the call that traces it: of functions the
        frames of the user have to be the same.
        """
        executions = self._run.executions
        mine = executions.kind(index)
        rows = executions.of_kinds(
            lambda kind: (kind.op_type, kind.layer) == (mine.op_type, mine.layer)
        )
        stack, stacks = executions.stack_ids[index], executions.stack_ids.take(rows)
        alike = [stack]
        if mine.is_function:
            frames = frames_of_user(self._run.stack(stack))
            others = np.unique(stacks).tolist() if frames else ()
            alike += [o for o in others if frames_of_user(self._run.stack(o)) == frames]
        same_lines: Int64Array = rows[np.isin(stacks, alike)]
        return same_lines

    def runs(self, kind: ExecutionKind, graph_id: str) -> bool:
        """Whether executions of a kind are, as far as can be told, calls of a graph's function."""
        return kind.is_function and graph_id in self._calls.executed_graphs(kind)
