"""A run as far as it has been read, and what diagnosis says of it, for the panes to show.

Immutable for whoever looks; it only remembers what it has read from the files before.  Records
that cannot be read any more become None here, so that no pane has to expect exceptions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.alerts import find_alerts
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.tui.neighbours import Neighbour, neighbours

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.alerts import AlertCounts
    from tfdbg_tui.diagnosis.dataflow import Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Execution, GraphExecution, Run, Site, SourceFile, StackFrame
    from tfdbg_tui.logdir.columns import ColumnView
    from tfdbg_tui.tui.focus import Focus, OpName

_RECORDS = 4096
_COUNTED_ALERTS = 20_000
_WINDOW = 4096


class Snapshot:
    """A run and its alerts and dataflow.

    Made in the thread that loads: finding alerts and sorting them takes time.

    Attributes:
        run: The run.
        alerts: Its tensors with NaN or ∞, in order of time.
        alert_counts: How many alerts hold NaN, -∞, +∞; over the first `counted_alerts`.
        counted_alerts: How many alerts `alert_counts` covers.
        alerts_by_op_type: Number of alerts of each op type, most first.
        dataflow: Where its tensors come from and go to.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.alerts = find_alerts(run)
        self.counted_alerts = min(len(self.alerts), _COUNTED_ALERTS)
        self.alert_counts: AlertCounts = self.alerts.count_kinds(self.counted_alerts)
        self.alerts_by_op_type = self.alerts.by_op_type
        self.dataflow = Dataflow(run)
        self._sites = _sites_of_ops(run)
        self.graph_execution = lru_cache(_RECORDS)(self._graph_execution)
        self.execution = lru_cache(_RECORDS)(self._execution)
        self.producers = lru_cache(64)(self._producers)
        self.neighbours = lru_cache(16)(self._neighbours)
        self.computation = lru_cache(_RECORDS)(self._computation)
        self.next_computation = lru_cache(_RECORDS)(self._next_computation)
        self._stack = lru_cache(256)(run.stack)
        self.source = lru_cache(16)(self._source)

    def frames(self, focus: Focus) -> tuple[StackFrame, ...]:
        """Return the stack trace of what was focused last, outermost frame first."""
        stack_id = None
        if focus.subject == "execution" and focus.execution is not None:
            stack_id = self.run.executions.stack_ids[focus.execution]
        elif focus.subject == "op" and focus.op is not None:
            op = self.run.op(focus.op.graph_id, focus.op.name)
            stack_id = op.stack_id if op else None
        return () if stack_id is None else self._stack(stack_id)

    def graph_name(self, graph_id: str | None) -> str:
        """Return a graph's name, or words for it."""
        graph = self.run.graphs.get(graph_id) if graph_id else None
        if graph is None:
            return "unknown graph"
        return graph.name or "main graph"

    def is_bad(self, event: TensorEvent) -> bool:
        """Whether a tensor holds a NaN or an infinity."""
        return self.alerts.position(event) is not None

    def _graph_execution(self, index: int) -> GraphExecution | None:
        try:
            return self.run.graph_executions[index]
        except (OSError, ValueError):
            return None

    def _execution(self, index: int) -> Execution | None:
        try:
            return self.run.executions[index]
        except (OSError, ValueError):
            return None

    def _producers(self, event: TensorEvent) -> tuple[Producer, ...]:
        try:
            return tuple(self.dataflow.producers(event))
        except (OSError, ValueError):
            return ()

    def _neighbours(self, op: OpName) -> tuple[Neighbour, ...]:
        return neighbours(self.run, op.graph_id, op.name)

    def _computation(self, op: OpName, slot: int | None, at: int) -> int | None:
        """Return the last row up to `at` that computed an output (any, for None) of an op."""
        rows = [
            self.run.graph_executions.last_before(site_id, at + 1)
            for site, site_id in self._sites.get((op.graph_id, op.name), ())
            if slot is None or site.output_slot == slot
        ]
        return max((row for row in rows if row is not None), default=None)

    def _next_computation(self, op: OpName, after: int) -> int | None:
        """Return the first row behind `after` that computed an output of an op."""
        sites = self._sites.get((op.graph_id, op.name), ())
        rows = [_first_after(self.run.graph_executions.site_ids, i, after) for _, i in sites]
        return min((row for row in rows if row is not None), default=None)

    def _source(self, host: str, path: str) -> SourceFile | None:
        try:
            return self.run.source(host, path)
        except (OSError, ValueError):
            return None


def _first_after(site_ids: ColumnView, site_id: int, row: int) -> int | None:
    start, window = row + 1, _WINDOW  # what takes a tensor is nearly always computed soon
    while start < len(site_ids):
        rows = site_ids.rows_equal(site_id, start, start + window)
        if rows.size:
            return int(rows[0])
        start, window = start + window, window * 8
    return None


def _sites_of_ops(run: Run) -> dict[tuple[str, str], list[tuple[Site, int]]]:
    sites: dict[tuple[str, str], list[tuple[Site, int]]] = {}
    for site, site_id in list(run.site_numbers.items()):
        sites.setdefault((site.graph_id, site.op_name), []).append((site, site_id))
    return sites
