"""What ran, or was defined, and left no record, where only the other records tell so.

This project's writer says what it has left out, and how long its files are.  TensorFlow's says
neither, so that a file of it that ends between two records looks like a whole one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import Calls
from tfdbg_tui.diagnosis.dataflow.trace_rows import TraceRows
from tfdbg_tui.diagnosis.op_traits import COMPLEX, FLOAT_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir import GraphOp, Run, Site

_SWITCH = "Switch"  # of control flow of TensorFlow 1: what hangs on it need not run in each call
_AT_ONCE = 256  # rows whose times are read together


@dataclass(frozen=True, slots=True)
class RareOp:
    """An op that is on record less often than the function around it was called.

    Attributes:
        function: Name of the function.
        calls: How often Python has called it.
        op_name: Name of the op.
        count: How often it is on record, each of its outputs counted.
    """

    function: str
    calls: int
    op_name: str
    count: int


def undefined_op(run: Run) -> Site | None:
    """Return a tensor on record whose op is not: ops are recorded before they run."""
    sites = list(run.site_numbers)
    return next((site for site in sites if run.op(site.graph_id, site.op_name) is None), None)


def ops_without_record(run: Run) -> Iterator[GraphOp]:
    """Yield ops that make floating-point tensors and left no record, although their graph ran."""
    recorded: dict[str, set[str]] = {}
    for site in list(run.site_numbers):
        recorded.setdefault(site.graph_id, set()).add(site.op_name)
    if not recorded:  # As of a file of traces that was emptied.
        recorded = {graph_id: set() for graph_id in _called_graphs(run)}
    for graph_id, names in recorded.items():
        if graph_id in run.graphs:
            ops = list(run.graphs[graph_id].ops.values())
            yield from (op for op in ops if op.op_type in FLOAT_OPS and op.name not in names)


def rare_op(run: Run) -> RareOp | None:
    """Return an op that is on record less often than Python has called its function.

    It may be there more often: calls that failed have no record, and functions call functions.
    """
    counts = _counts(run)
    for graph_id, calls in _calls_from_python(run).items():
        graph = run.graphs.get(graph_id)
        if graph is None or any(op.op_type == _SWITCH for op in list(graph.ops.values())):
            continue
        on_record = counts.get(graph_id, Counter())
        rare = next((name for name, count in on_record.items() if count < calls), None)
        if rare is not None:
            return RareOp(graph.name, calls, rare, on_record[rare])
    return None


def late_tensor(run: Run) -> Site | None:
    """Return a tensor that was computed after the last execution: its call has no record.

    What input pipelines compute, and sessions of TensorFlow 1, is in no call.
    """
    executions, traces = run.executions, run.graph_executions
    if not len(executions) or not len(traces):
        return None
    last = float(executions.wall_times([len(executions) - 1])[0])
    calls = Calls(run)
    for start in range(len(traces) - 1, -1, -_AT_ONCE):
        rows = np.arange(start, max(-1, start - _AT_ONCE), -1)
        late = rows[traces.wall_times(rows) > last].tolist()
        for site in map(traces.site, late):
            graph = run.graphs.get(calls.outermost(site.graph_id))
            if graph is not None and graph.name and not calls.in_pipeline(site.graph_id):
                return site
        if len(late) < len(rows):
            break
    return None


def computes_complex(run: Run) -> bool:
    """Whether complex numbers were computed, as far as the types of ops tell."""
    if any(kind.op_type in COMPLEX for kind in run.executions.distinct_kinds):
        return True
    graphs = list(run.graphs.values())
    return any(op.op_type in COMPLEX for graph in graphs for op in list(graph.ops.values()))


def _counts(run: Run) -> dict[str, Counter[str]]:
    """Return how often ops of each graph are on record, on all devices, all outputs together."""
    rows = TraceRows(run)
    counts: dict[str, Counter[str]] = {}
    for site, number in list(run.site_numbers.items()):
        counts.setdefault(site.graph_id, Counter())[site.op_name] += rows.count(number)
    return counts


def _calls_from_python(run: Run) -> Counter[str]:
    """Return how often Python has called the functions whose graphs are told."""
    calls: Counter[str] = Counter()
    for kind_id, count in Counter(run.executions.kinds[:].tolist()).items():
        calls[run.executions.distinct_kinds[kind_id].graph_id or ""] += count
    del calls[""]
    return calls


def _called_graphs(run: Run) -> Iterator[str]:
    """Yield the graphs of functions that Python has called, as far as told, and those in them."""
    calls = Calls(run)
    called: set[str] = set()
    for kind in run.executions.distinct_kinds:
        graph_ids = calls.executed_graphs(kind) if kind.is_function else ()
        called.update(graph_ids if len(graph_ids) == 1 else ())
    yield from (graph_id for graph_id in list(run.graphs) if calls.outermost(graph_id) in called)
