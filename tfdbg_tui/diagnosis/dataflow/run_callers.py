"""Which op has called a run of a graph, of several that call it.

This project's writer has the calls in a graph wait for each other, and records what a graph
computes before a call before what is computed in the call, and what it computes afterwards behind
that: so the tensors of the callers tell which of them has called.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.dataflow.calls import CALLS, CONTROL
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.graph_runs import CallOf, GraphRun, GraphRuns
    from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
    from tfdbg_tui.logdir import GraphOp, Run
    from tfdbg_tui.logdir.definitions.graphs import Consumer

_KEPT = 1 << 14


class RunCaller(NamedTuple):
    """What has called a run of a graph.

    Attributes:
        op: The call, If or While.
        around: The run of the frame of the graph with the op; None for one that runs once.
    """

    op: GraphOp
    around: GraphRun | None


class Marks(NamedTuple):
    """What a graph records around one of its calls of a function.

    Attributes:
        before: The site of the last tensor before the call that is recorded in each run of the
            graph; None if there is none.
        after: The same of the first one after it.
        earlier: How many calls of the function lie between `before` and this one.
        later: How many lie between this one and `after`; None where others do that may call it too.
    """

    before: int | None
    after: int | None
    earlier: int
    later: int | None


class RunCallers:
    """Finds the callers of the runs of graphs.

    Args:
        run: The run of the program.
        calls: Which graph calls which.
        rows: The rows of each tensor.
        runs: The runs of graphs.
        call_of: Returns the execution that a row belongs to, and the iteration of its loop.
    """

    def __init__(
        self, run: Run, calls: Calls, rows: TraceRows, runs: GraphRuns, call_of: CallOf
    ) -> None:
        self._run = run
        self._calls = calls
        self._rows = rows
        self._runs = runs
        self._call_of = call_of
        self._frames: dict[str, str] = {}
        self.caller = lru_cache(_KEPT)(self._find_caller)
        self._marks = cache(self._find_marks)
        self._calling = cache(self._find_calling)

    def frame(self, graph_id: str) -> str:
        """Return the innermost graph around a graph that may run repeatedly, or the outermost one.

        Args:
            graph_id: The graph; it may be that graph itself.
        """
        path: dict[str, None] = {}
        while graph_id not in self._frames:
            path[graph_id] = None
            caller_id = self._only_caller(graph_id)
            if caller_id is None or caller_id in path:
                self._frames[graph_id] = graph_id
            else:
                graph_id = caller_id
        found = self._frames[graph_id]
        self._frames.update(dict.fromkeys(path, found))
        return found

    def _only_caller(self, graph_id: str) -> str | None:
        """Return the graph that calls a graph once; None for any other calls."""
        sites = self._calls.call_sites(graph_id)
        op = sites[0].op if len(sites) == 1 else None
        return op.graph_id if op is not None and op.op_type in CALLS else None

    def _find_caller(self, run: GraphRun) -> RunCaller | None:
        """Return what has called a run; None where that is not told."""
        row = self._runs.start(run)
        op = self._op_that_calls(run, row) if row is not None else None
        if row is None or op is None:
            return None
        frame = self.frame(op.graph_id)
        if not self._calls.call_sites(frame):
            return RunCaller(op, None)
        around = self._runs.of_op(frame, op.graph_id, op.name, row)
        return RunCaller(op, around) if around is not None else None

    def _op_that_calls(self, run: GraphRun, row: int) -> GraphOp | None:
        """Return the op that calls a run; None where that is not told.

        Of several whose graphs have come to them, it is the one whose graph did so last: that graph
        runs inside of what the others wait for.

        Args:
            run: The run.
            row: The row at which it starts.
        """
        ops = self._calling(run.graph_id)
        if len(ops) > 1:
            ops = [op for op in ops if self._may_have_run(op, row)]
        if len(ops) < 2:
            return ops[0] if ops else None
        begun = [(row_before, op) for op in ops if (row_before := self._begun(op, row)) is not None]
        found = [pair for pair in begun if self._is_its_run(*pair, run, row)]
        if found:
            return max(found, key=lambda pair: pair[0])[1]
        if begun:
            return begun[0][1] if len(begun) == 1 else None
        unmarked = [op for op in ops if self._marks(op.graph_id, op.name).before is None]
        return unmarked[0] if len(unmarked) == 1 else None

    def _may_have_run(self, op: GraphOp, row: int) -> bool:
        """Whether an op may have run in the execution of a row.

        A graph that no other one calls runs only where it is executed itself: of the signatures of
        a loaded model, for example, one.
        """
        execution = self._call_of(row)[0]
        if execution is None or self._calls.call_sites(op.graph_id):
            return True
        executed = self._calls.executed_graphs(self._run.executions.kind(execution))
        return not executed or op.graph_id in executed

    def _find_calling(self, graph_id: str) -> list[GraphOp]:
        """Return the ops that call a graph and are run, in order of creation in their graphs."""
        ops = [site.op for site in self._calls.call_sites(graph_id)]
        known = [op for op in ops if op is not None]
        if len(known) < len(ops):
            return []
        return [op for op in known if len(known) == 1 or self._is_run(op)]

    def _is_run(self, op: GraphOp) -> bool:
        """Whether anything that is run takes what an op makes, or it may have effects."""
        outputs = {ref.op_name for ref in self._calls.outputs(op.graph_id)}
        graph = self._run.graphs[op.graph_id]
        names = Worklist([op.name])
        for name in names:
            taker = graph.ops.get(name)
            if name in outputs or taker is None or not taker.num_outputs:
                return True
            if taker.op_type.startswith("Stateful"):
                return True
            uses = [use for use in graph.consumers(name) if self._takes(op.graph_id, use)]
            names.add(*(use.op_name for use in uses))
        return False

    def _takes(self, graph_id: str, use: Consumer) -> bool:
        """Whether an op uses an input, which a function may leave aside."""
        op = self._run.op(graph_id, use.op_name)
        called = self._calls.called_graphs(op) if op is not None and op.op_type in CALLS else ()
        names = self._calls.arguments(called[0]) if called and called[0] in self._run.graphs else ()
        if use.input_slot >= len(names):
            return True
        return self._calls.is_used(called[0], names[use.input_slot])

    def _begun(self, op: GraphOp, row: int) -> int | None:
        """Return the last row before one that an op's graph has made before it came to the op.

        None where the graph has gone on since, or has not begun.
        """
        marks = self._marks(op.graph_id, op.name)
        begun = self._rows.last_before(marks.before, row) if marks.before is not None else None
        if begun is None or self._call_of(begun)[0] != self._call_of(row)[0]:
            return None
        ended = self._rows.last_before(marks.after, row) if marks.after is not None else None
        return begun if ended is None or ended < begun else None

    def _is_its_run(self, begun: int, op: GraphOp, run: GraphRun, row: int) -> bool:
        """Whether a run is that of an op, by counting the runs since its graph came to the op.

        Args:
            begun: The last row that the op's graph has made before it came to the op.
            op: The op.
            run: The run.
            row: The row at which it starts.
        """
        marks = self._marks(op.graph_id, op.name)
        first = self._runs.first_after(run.graph_id, begun)
        ended = self._rows.first_after(marks.after, row) if marks.after is not None else None
        stop = self._runs.first_after(run.graph_id, ended) if ended is not None else None
        if stop is not None and marks.later is not None:
            if stop - first < marks.earlier + 1 + marks.later:
                return False  # some of the calls were left out
            if run.number == stop - 1 - marks.later:
                return True
        return run.number == first + marks.earlier

    def _find_marks(self, graph_id: str, op_name: str) -> Marks:
        ops = list(self._run.graphs[graph_id].ops.values())
        own = self._runs.places(graph_id)[op_name]
        # What calls return is recorded when it is needed.
        sites = {
            place: site_id
            for place, site_id in self._runs.sites_of_each_run(graph_id).items()
            if ops[place].op_type not in CONTROL
        }
        low = max((place for place in sites if place < own), default=-1)
        high = min((place for place in sites if place > own), default=len(ops))
        called = self._calls.called_graphs(ops[own])
        names = {op.name for op in self._calling(called[0]) if op.graph_id == graph_id}
        earlier = sum(op.name in names for op in ops[low + 1 : own])
        calls = [op.name in names for op in ops[own + 1 : high] if op.op_type in CONTROL]
        return Marks(sites.get(low), sites.get(high), earlier, sum(calls) if all(calls) else None)
