"""Finds the runs of collective ops in which something was bad."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.fleet.summary import BadRun
from tfdbg_tui.diagnosis.op_traits import value_inputs
from tfdbg_tui.diagnosis.roots import Health

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Producer
    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.diagnosis.fleet.summary import Given
    from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
    from tfdbg_tui.diagnosis.roots import Root
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.events import Site
    from tfdbg_tui.logdir.index.columns import Int64Array

_LOOKED_AT = 32  # runs of an op, the first ones, that may be bad
_KEPT = 4  # runs of an op that are bad in the same way


class BadRuns:
    """Tells what went into collective ops and came out of them.

    Args:
        run: The run.
        diagnosis: What is known of it.
        roots: Its roots, in the order of `WorkerSummary.roots`.
    """

    def __init__(self, run: Run, diagnosis: Diagnosis, roots: Sequence[Root]) -> None:
        self._run = run
        self._dataflow = diagnosis.dataflow
        self._causes = diagnosis.causes
        self._roots = roots
        self._numbers = {node: n for n, root in enumerate(roots) for node in root.members}

    def of(self, op_type: str, kind: Kind, rows: Int64Array) -> tuple[BadRun, ...]:
        """Return the first runs of an op in which something was bad, in each way.

        Args:
            op_type: Type of the op.
            kind: Which list of the run its events are in.
            rows: The rows of these, one for each run of the op.
        """
        events = self._run.executions if kind == "execution" else self._run.graph_executions
        came_out = np.isin(rows, events.alert_rows[:])
        runs = np.union1d(
            np.flatnonzero(came_out)[:_LOOKED_AT], self._after_bad_inputs(op_type, kind, rows)
        )
        found: list[BadRun] = []
        ways: Counter[tuple[object, ...]] = Counter()
        for number in runs.tolist():
            event = TensorEvent(kind, int(rows[number]), 0)
            one = self._look(op_type, event, number, came_out=bool(came_out[number]))
            if one is not None:
                way = one.given, one.root, one.came_out
                ways[way] += 1
                found += [one] if ways[way] <= _KEPT else []
        return tuple(found)

    def _after_bad_inputs(self, op_type: str, kind: Kind, rows: Int64Array) -> Int64Array:
        """Return the runs that follow the first alerts at the places that the op's inputs are of.

        What comes out of a run need not be bad where that goes to other processes only.
        """
        alerts = self._alerts_at_inputs(op_type, TensorEvent(kind, int(rows[0]), 0))
        following = np.unique(rows.searchsorted(alerts))
        return following[following < len(rows)][:_LOOKED_AT]

    def _alerts_at_inputs(self, op_type: str, event: TensorEvent) -> Int64Array:
        events = self._run.executions if event.kind == "execution" else self._run.graph_executions
        alerts = events.alert_rows[:]
        if not len(alerts):
            return alerts
        made = [one.event for one in self._inputs(op_type, event)]
        rows = [self._rows_like(one) for one in made if one is not None and one.kind == event.kind]
        return np.intersect1d(alerts, np.concatenate([np.zeros(0, np.int64), *rows]))

    def _rows_like(self, event: TensorEvent) -> Int64Array:
        """Return the rows of the events of an op in a graph, or of a type of op outside of one."""
        if event.kind == "execution":
            kinds = self._run.executions.kinds
            return kinds.rows_equal(int(kinds[event.index]))
        traces = self._run.graph_executions
        op = _op_of(traces.site(event.index))
        # A tensor whose records are of several forms has a site for each.
        numbers = [n for site, n in list(self._run.site_numbers.items()) if _op_of(site) == op]
        return np.concatenate([traces.site_ids.rows_equal(number) for number in numbers])

    def _inputs(self, op_type: str, event: TensorEvent) -> Iterator[Producer]:
        producers = self._dataflow.producers(event)
        for slot in value_inputs(op_type, len(producers)):
            yield producers[slot]

    def _look(
        self, op_type: str, event: TensorEvent, number: int, *, came_out: bool
    ) -> BadRun | None:
        """Return what was bad in a run; None for nothing, and for what goes back to no root."""
        health = {one: self._causes.health(event, one) for one in self._inputs(op_type, event)}
        bad = [one.event for one, its in health.items() if its is Health.BAD]
        given: Given = "finite"
        if bad:
            given = "bad"
        elif Health.UNKNOWN in health.values():
            given = "unknown"
        roots = [self._root(one) for one in (*bad, event if came_out else None) if one is not None]
        root = next((one for one in roots if one is not None), None)
        if root is None:
            return None
        is_root = came_out and self._roots[root].node is self._causes.node_of(event)
        return BadRun(number, given, root, came_out, is_root)

    def _root(self, event: TensorEvent) -> int | None:
        """Return the position of the root that a bad tensor goes back to."""
        node = self._causes.node_of(event)
        return None if node is None else self._numbers.get(node)


def _op_of(site: Site) -> tuple[str, str, int]:
    return site.graph_id, site.op_name, site.output_slot
