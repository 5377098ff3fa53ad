"""Which graph executions belong to an execution: what its function has computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import TensorEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.tui.session.snapshot import Snapshot

_FEW = 1000  # rows that functions of input pipelines may have computed before those of a call


def row_at(snapshot: Snapshot, execution: int) -> int | None:
    """Return where Graph Execution stands for an execution; None where it has no rows.

    That is the first row that the execution computed; of one that computed none, as an eager op,
    the next row of its training step, or else the last row before it.

    Args:
        snapshot: The run.
        execution: Index of the execution.
    """
    if not len(snapshot.run.graph_executions):
        return None
    row = first_row(snapshot, execution)
    return max(0, _start(snapshot, execution) - 1) if row is None else row


def first_row(snapshot: Snapshot, execution: int) -> int | None:
    """Return the first row that an execution computed, or one after it in the same training step.

    Args:
        snapshot: The run.
        execution: Index of the execution.
    """
    steps, start = snapshot.run.executions.steps, _start(snapshot, execution)
    for row in range(start, min(start + _FEW, len(snapshot.run.graph_executions))):
        caused_by = snapshot.execution_of(row)
        if caused_by is not None and caused_by >= execution:
            return row if steps.of(caused_by) == steps.of(execution) else None
    return None


def bad_inside(snapshot: Snapshot, execution: int) -> Iterator[TensorEvent]:
    """Yield the tensors with NaN or ∞ that the function of an execution computed, in order.

    Args:
        snapshot: The run.
        execution: Index of the execution.
    """
    traces = snapshot.run.graph_executions
    ends = _start(snapshot, execution), _start(snapshot, execution + 1)
    low, high = traces.alert_rows.searchsorted(ends)
    for row in traces.alert_rows[low:high].tolist():
        if snapshot.execution_of(row) == execution:
            yield TensorEvent("graph_execution", row, traces.site(row).output_slot)


def _start(snapshot: Snapshot, execution: int) -> int:
    """Return the first row that was recorded after the execution before had finished."""
    return snapshot.dataflow.timeline.row_after(execution - 1) if execution else 0
