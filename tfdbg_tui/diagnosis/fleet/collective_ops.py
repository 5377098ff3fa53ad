"""Finds the collective ops of a run, and what came out of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.collectives import common_name, family_of
from tfdbg_tui.diagnosis.fleet.bad_runs import BadRuns
from tfdbg_tui.diagnosis.fleet.summary import Crossing
from tfdbg_tui.diagnosis.locations import location_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array

_TIMED = 32  # runs of an op whose times are kept, at most


@dataclass(frozen=True, slots=True)
class _Op:
    """A collective op and the rows of the events that it left."""

    key: str
    op_type: str
    place: str
    kind: Kind
    rows: Int64Array
    instance: tuple[int, ...] = ()


def find_crossings(run: Run, diagnosis: Diagnosis, roots: Sequence[Root]) -> list[Crossing]:
    """Return the collective ops of a run.

    Args:
        run: The run.
        diagnosis: What is known of it.
        roots: Its roots, in the order of `WorkerSummary.roots`.
    """
    bad_runs = BadRuns(run, diagnosis, roots)
    return [
        replace(_healthy_crossing(run, op), bad=bad_runs.of(op.op_type, op.kind, op.rows))
        for op in (*_in_graphs(run), *_outside(run))
    ]


def runs_before(crossings: Sequence[Crossing], wall_time: float) -> int:
    """Return how many of the timed runs of collectives were recorded before a moment."""
    return sum(time < wall_time for crossing in crossings for _, time in crossing.times)


def _in_graphs(run: Run) -> Iterator[_Op]:
    """Yield the collective ops of graphs.

    A function that was traced again has its op once, with the runs of all traces: a member may
    run one trace where another member, whose batch has another shape, runs another one.
    """
    ops: dict[tuple[object, ...], list[_Op]] = {}
    in_graph: Counter[tuple[str, str]] = Counter()
    for (graph_id, op_name), rows in sorted(_rows_in_graphs(run).items()):
        definition = run.op(graph_id, op_name)
        assert definition is not None
        key = f"{run.graphs[graph_id].name}/{common_name(op_name)}"
        in_graph[graph_id, key] += 1  # two replicas of one process
        place, instance = _place(run, definition.stack_id), definition.collective_keys
        trace = _Op(key, definition.op_type, place, "graph_execution", rows, instance)
        ops.setdefault((key, in_graph[graph_id, key], place, instance), []).append(trace)
    numbers: Counter[str] = Counter()
    for op in sorted(map(_joined, ops.values()), key=lambda op: int(op.rows[0])):
        numbers[op.key] += 1
        yield replace(op, key=f"{op.key} #{numbers[op.key]}")


def _rows_in_graphs(run: Run) -> dict[tuple[str, str], Int64Array]:
    """Return the rows of the first output of each collective op, in no order, by graph and name."""
    parts: dict[tuple[str, str], list[Int64Array]] = {}
    for site, number in list(run.site_numbers.items()):
        op = run.op(site.graph_id, site.op_name)
        if op is not None and site.output_slot == 0 and family_of(op.op_type) is not None:
            rows = run.graph_executions.site_ids.rows_equal(number)
            parts.setdefault((site.graph_id, site.op_name), []).append(rows)
    return {op: np.concatenate(rows) for op, rows in parts.items()}


def _joined(traces: list[_Op]) -> _Op:
    """Return one op for that of several traces."""
    return replace(traces[0], rows=np.sort(np.concatenate([op.rows for op in traces])))


def _outside(run: Run) -> Iterator[_Op]:
    """Yield the collective ops that Python ran, line by line."""
    executions = run.executions
    lines: dict[tuple[str, str], list[int]] = {}
    types: dict[tuple[str, str], str] = {}
    for number, kind in enumerate(executions.distinct_kinds):
        family = family_of(kind.op_type)
        if family is None:
            continue
        for row in executions.kinds.rows_equal(number).tolist():
            line = family, _place(run, executions.stack_ids[row])
            lines.setdefault(line, []).append(row)
            types.setdefault(line, kind.op_type)
    for (family, place), rows in lines.items():
        key = f"{family} at {place}"
        yield _Op(key, types[family, place], place, "execution", np.sort(np.array(rows, np.int64)))


def _place(run: Run, stack_id: int | None) -> str:
    location = location_of(run, stack_id)
    return location.short if location else ""


def _healthy_crossing(run: Run, op: _Op) -> Crossing:
    """Return a collective op with no word on what was bad."""
    family = family_of(op.op_type)
    assert family is not None
    events = run.graph_executions if op.kind == "graph_execution" else run.executions
    timed = np.arange(0, len(op.rows), _apart(len(op.rows)))
    times = events.wall_times(op.rows[timed]).tolist()
    before = np.searchsorted(events.alert_rows[:], op.rows[timed])
    alerts = np.diff(before, prepend=0, append=len(events.alert_rows))
    return Crossing(
        key=op.key,
        family=family,
        op_type=op.op_type,
        place=op.place,
        runs=len(op.rows),
        times=tuple(zip(timed.tolist(), times, strict=True)),
        alerts=tuple(alerts.tolist()),
        instance=op.instance,
    )


def _apart(runs: int) -> int:
    """Return the least power of two that is so far apart that few enough runs are timed."""
    return 1 << max(0, (-(-runs // _TIMED) - 1).bit_length())
