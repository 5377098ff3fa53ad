"""Which run of a graph a row belongs to, of a graph that may run repeatedly in an execution.

Such are the bodies and conditions of loops, branches, and functions with several calls.

This project's writer records what an execution computes in the order of the program: what a graph
computes before it calls another one stands before what that computes, and what it computes
afterwards stands behind that.  So the rows of one tensor of a graph tell its runs apart, however
loops and branches are nested in each other: whatever else is computed in a run, also by graphs that
are called in it, lies between two of them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfdbg_tui.diagnosis.dataflow.calls import Calls
    from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array

    CallOf = Callable[[int], tuple[int | None, int | None]]

_TRIED = 64  # runs: how far from a row one of the same execution is looked for


class GraphRun(NamedTuple):
    """A run of a loop's body or condition, of a branch, or of a function with several calls.

    Attributes:
        graph_id: Its graph.
        number: Which of all the runs of the graph on record; None for one that is not on record: a
            branch that was not taken, for example.
    """

    graph_id: str
    number: int | None


class Starts(NamedTuple):
    """The tensor that tells the runs of a graph apart.

    Attributes:
        site_id: The number of its site.
        place: Which op of the graph makes it, in order of creation.
        rows: One row for each run.
    """

    site_id: int
    place: int
    rows: Int64Array


class GraphRuns:
    """Finds the runs of graphs.

    Args:
        run: The run of the program.
        calls: Which graph calls which.
        rows: The rows of each tensor.
        call_of: Returns the execution that a row belongs to, and the iteration of its loop.
    """

    def __init__(self, run: Run, calls: Calls, rows: TraceRows, call_of: CallOf) -> None:
        self._run = run
        self._calls = calls
        self._rows = rows
        self._call_of = call_of
        self.starts = cache(self._find_starts)
        self.places = cache(self._find_places)
        self.sites_of_each_run = cache(self._find_sites_of_each_run)
        self._place = cache(self._find_place)

    def of_row(self, graph_id: str, row: int) -> GraphRun | None:
        """Return the run of a graph in which a row was computed; None where that is not told.

        Args:
            graph_id: The graph.
            row: A row of the graph itself, or of one that it calls by a single op.
        """
        site = self._run.graph_executions.site(row)
        return self.of_op(graph_id, site.graph_id, site.op_name, row)

    def of_op(self, graph_id: str, inner_id: str, op_name: str, row: int) -> GraphRun | None:
        """Return the run of a graph in which an op was run; None where that is not told.

        Args:
            graph_id: The graph.
            inner_id: The graph with the op: the same one, or one that it calls by a single op.
            op_name: The op.
            row: A row that the op has computed, or that was computed in what it calls.
        """
        starts = self.starts(graph_id)
        place = self._place(graph_id, inner_id, op_name)
        if starts is None or place is None:
            return None
        number = int(np.searchsorted(starts.rows, row, "right"))
        own = self._run.graph_executions.site(row).graph_id == graph_id
        if place >= starts.place or (own and self._is_recorded_again(row, starts, number)):
            number -= 1
        if not 0 <= number < len(starts.rows):
            return None
        execution, iteration = self._call_of(int(starts.rows[number]))
        own_execution, own_iteration = self._call_of(row)
        if execution != own_execution:
            return None
        if own and iteration != own_iteration:
            return None  # rows are lost, or in another order, as of what XLA has compiled
        return GraphRun(graph_id, number)

    def _is_recorded_again(self, row: int, starts: Starts, number: int) -> bool:
        """Whether a row, though its op comes before the start of a run, is not of that run.

        Args:
            row: The row.
            starts: The starts of the runs of its graph.
            number: The first run that starts after it.
        """
        return number < len(starts.rows) and bool(
            len(self._rows.rows_of(row, row + 1, int(starts.rows[number])))
        )

    def rows(self, run: GraphRun, site_id: int) -> Int64Array | None:
        """Return the computations of a tensor in a run; None where that is not told.

        Args:
            run: The run.
            site_id: The number of the tensor's site: of the run's graph, or of one that it calls.
        """
        starts = self.starts(run.graph_id)
        site = self._run.graph_executions.site_by_id(site_id)
        place = self._place(run.graph_id, site.graph_id, site.op_name)
        if starts is None or place is None:
            return None
        if run.number is None:
            return np.zeros(0, np.int64)
        first = run.number if place >= starts.place else run.number - 1
        begin = int(starts.rows[first]) if first >= 0 else 0
        more = first + 1 < len(starts.rows)
        return self._rows.of_site(site_id, begin, int(starts.rows[first + 1]) if more else None)

    def start(self, run: GraphRun) -> int | None:
        """Return the row that stands for a run; None for one that is not on record."""
        starts = self.starts(run.graph_id)
        return None if starts is None or run.number is None else int(starts.rows[run.number])

    def inside(self, around: GraphRun, graph_id: str, row: int, *, first: bool) -> GraphRun | None:
        """Return the run of a graph inside of another run; None where that is not told.

        Args:
            around: The other run.
            graph_id: The graph.
            row: Where in time: of several the last one before it is meant, or the first one after.
            first: Whether it is the first one after it.
        """
        starts = self.starts(graph_id)
        rows = self.rows(around, starts.site_id) if starts is not None else None
        if starts is None or rows is None:
            return None
        if not len(rows):
            return GraphRun(graph_id, None)
        place = int(np.searchsorted(rows, row)) - (not first)
        chosen = rows[min(max(place, 0), len(rows) - 1)]
        return GraphRun(graph_id, int(np.searchsorted(starts.rows, chosen)))

    def inside_execution(
        self, execution: int | None, graph_id: str, row: int, *, first: bool
    ) -> GraphRun | None:
        """Return the run of a graph inside of an execution, as `inside` does.

        Args:
            execution: The execution.
            graph_id: The graph.
            row: Where in time.
            first: As above.
        """
        if self.starts(graph_id) is None:
            return None
        nearest = self._near(graph_id, row, 1 if first else -1)
        found = next(self._of_execution(nearest, execution), None)
        if found is None:
            # What XLA has compiled is recorded when its call has ended.
            farther = self._near(graph_id, row, -1 if first else 1)
            found = next(reversed(list(self._of_execution(farther, execution))), None)
        return found or GraphRun(graph_id, None)

    def near(self, graph_id: str, execution: int | None, row: int) -> list[GraphRun]:
        """Return the runs of a graph in an execution that are near to a row, in order.

        Args:
            graph_id: The graph.
            execution: The execution.
            row: The row.
        """
        before = self._of_execution(self._near(graph_id, row, -1), execution)
        after = self._of_execution(self._near(graph_id, row, 1), execution)
        return [*reversed(list(before)), *after]

    def first_after(self, graph_id: str, row: int) -> int:
        """Return the number of the first run of a graph that starts after a row."""
        starts = self.starts(graph_id)
        return int(np.searchsorted(starts.rows, row, "right")) if starts is not None else 0

    def beside(self, run: GraphRun, graph_id: str, step: int) -> GraphRun | None:
        """Return the last run of a graph before the start of a run, or the first one after it.

        Args:
            run: The run.
            graph_id: The graph.
            step: -1 for before, 1 for after.
        """
        start = self.start(run)
        if start is None:
            return None
        nearest = self._near(graph_id, start + (step > 0), step)
        return next(self._of_execution(nearest, self._call_of(start)[0]), None)

    def _near(self, graph_id: str, row: int, step: int) -> Iterator[GraphRun]:
        """Yield the runs of a graph that start before a row (-1), or at it and after it (1)."""
        starts = self.starts(graph_id)
        if starts is None:
            return
        middle = int(np.searchsorted(starts.rows, row))
        end = min(len(starts.rows), middle + _TRIED)
        numbers = range(middle, end) if step > 0 else range(middle)[::-1][:_TRIED]
        yield from (GraphRun(graph_id, number) for number in numbers)

    def _of_execution(self, runs: Iterable[GraphRun], execution: int | None) -> Iterator[GraphRun]:
        for run in runs:
            start = self.start(run)
            if start is not None and self._call_of(start)[0] == execution:
                yield run

    def _find_starts(self, graph_id: str) -> Starts | None:
        """Return the first tensor of a graph of those that are recorded once in each run."""
        sites = self.sites_of_each_run(graph_id)
        if not sites:
            return None
        place, site_id = next(iter(sites.items()))
        return Starts(site_id, place, self._rows.of_site(site_id))

    def _find_sites_of_each_run(self, graph_id: str) -> dict[int, int]:
        """Return the sites of a graph that are recorded once in each run, by place of their op.

        Most of them are, so that is how often most are recorded: ADAPTIVE records some a second
        time, as inputs of bad ones, and those without a type of floating point only then.
        """
        sites = {
            place: site_id
            for name, place in self.places(graph_id).items()
            for _, site_id in self._rows.sites(graph_id, name)[:1]
        }
        counts = Counter(map(self._rows.count, sites.values()))
        usual = max(counts, key=lambda count: (counts[count], count), default=0)
        return {place: site for place, site in sites.items() if self._rows.count(site) == usual}

    def _find_place(self, graph_id: str, inner_id: str, op_name: str) -> int | None:
        """Return by which of its ops a graph makes a tensor, itself or by what it calls.

        None where it does not, or where what it calls is compiled, and so not recorded in order.
        """
        seen: set[str] = set()
        while inner_id != graph_id:
            site = self._calls.call_site(inner_id)
            if site is None or site.op is None or inner_id in seen:
                return None
            if self._run.graphs[inner_id].compiled:
                return None
            seen.add(inner_id)
            inner_id, op_name = site.caller_id, site.op.name
        return self.places(graph_id).get(op_name)

    def _find_places(self, graph_id: str) -> dict[str, int]:
        """Return the place of each op among those of its graph, in order of creation."""
        graph = self._run.graphs.get(graph_id)
        return {name: place for place, name in enumerate(graph.ops)} if graph is not None else {}
