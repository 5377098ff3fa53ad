"""What became of a tensor: all its computations, in order, as the index tells of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of, summary_of
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.wire.dtypes import MAX_FINITE, dtype_name
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_FLOATING = (*MAX_FINITE, "complex64", "complex128")


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """All computations of a tensor, in order of time.

    Attributes:
        latest: The last of them.
        rows: Index of the event of each.
        largest: The largest magnitude of a finite element of each; NaN where it is not on record.
        bad: Whether each holds NaN or ∞.
        dtype: Name of the element type; None where it is not on record.
    """

    latest: TensorEvent
    rows: Int64Array
    largest: Floats
    bad: npt.NDArray[np.bool_]
    dtype: str | None

    def __len__(self) -> int:
        return len(self.rows)

    def event(self, position: int) -> TensorEvent:
        """Return one of the computations."""
        return replace(self.latest, index=int(self.rows[position]))


def history_of(dataflow: Dataflow, event: TensorEvent) -> History:
    """Return the history of a tensor, without reading the records of its computations.

    Args:
        dataflow: Of the run.
        event: One of its computations.
    """
    run = dataflow.run
    if event.kind == "graph_execution":
        rows = dataflow.timeline.rows_of(event.index)
        alerts = run.graph_executions.alert_rows[:]
    else:
        rows = dataflow.timeline.alike(event.index)
        executions = run.executions
        alerts = executions.alert_rows[:][executions.alert_slots[:] == event.slot]
    measured = magnitudes_of(dataflow, event)
    largest = np.full(len(rows), np.nan)
    largest[np.searchsorted(rows, measured.rows)] = measured.largest
    bad = np.isin(rows, alerts)
    latest = replace(event, index=int(rows[-1]))
    # Of an eager tensor the dtype is where details are: in the record of what was bad first.
    dtype = dtype_of(run, latest) or dtype_of(run, replace(event, index=int(rows[bad.argmax()])))
    return History(latest, rows, largest, bad, dtype)


def magnitudes_of(dataflow: Dataflow, event: TensorEvent) -> Magnitudes:
    """Return the magnitudes of all computations of a tensor, whatever mode they are recorded in.

    Args:
        dataflow: Where tensors come from and go to.
        event: The tensor.
    """
    run = dataflow.run
    if event.kind == "execution":
        places = [
            OutputPlace(run.executions.kinds[row], run.executions.stack_ids[row], event.slot)
            for row in _one_of_each_kind(dataflow, event)
        ]
        return run.executions.magnitudes([place.number for place in places])
    traces = run.graph_executions
    mine = traces.site(event.index)
    in_each_mode = (run.site_numbers.get(replace(mine, mode=mode)) for mode in TensorDebugMode)
    return traces.magnitudes([number for number in in_each_mode if number is not None])


def sample_of(rows: Int64Array, most: int) -> Int64Array:
    """Return rows at equal distances, the first and the last among them.

    Args:
        rows: Row numbers, ascending.
        most: How many at most.
    """
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(int))] if len(rows) else rows


def by_step(run: Run, found: Magnitudes) -> tuple[Int64Array, Floats]:
    """Return the steps in which a tensor was measured, and its largest magnitude in each.

    Args:
        run: The run.
        found: Magnitudes of the tensor; what belongs to no step is left out.
    """
    found = found.some(found.executions >= 0)
    steps = run.executions.steps.numbers_of(found.executions)
    numbers, which = np.unique(steps[steps >= 0], return_inverse=True)
    largest = np.zeros(len(numbers))
    np.maximum.at(largest, which.reshape(-1), found.largest[steps >= 0])
    return numbers, largest


def in_step(run: Run, event: TensorEvent, found: Magnitudes, step: int) -> TensorEvent:
    """Return the first measured computation of a tensor in a step.

    Args:
        run: The run.
        event: A computation of the tensor.
        found: Its magnitudes.
        step: One of the steps in which it was measured.
    """
    found = found.some(found.executions >= 0)
    numbers = run.executions.steps.numbers_of(found.executions)
    return replace(event, index=int(found.rows[np.flatnonzero(numbers == step)[0]]))


def measured_tensors(run: Run) -> Iterator[tuple[TensorEvent, Magnitudes]]:
    """Yield each tensor of which magnitudes are on record, by its last one, and all of these."""
    traces = run.graph_executions
    for number, found in traces.magnitudes().by_place():
        slot = traces.site_by_id(number).output_slot
        yield TensorEvent("graph_execution", int(found.rows[-1]), slot), found
    for number, found in run.executions.magnitudes().by_place():
        yield TensorEvent("execution", int(found.rows[-1]), OutputPlace.of(number).slot), found


def _one_of_each_kind(dataflow: Dataflow, event: TensorEvent) -> list[int]:
    rows = dataflow.timeline.alike(event.index)
    executions = dataflow.run.executions
    kinds, stacks = executions.kinds.take(rows), executions.stack_ids.take(rows)
    _, first = np.unique(np.stack([kinds, stacks]), axis=1, return_index=True)
    alike: list[int] = rows[first].tolist()
    return alike


def dtype_of(run: Run, event: TensorEvent) -> str | None:
    """Return the element type of a tensor; None where it is not on record."""
    op = graph_op_of(run, event)
    if op is not None and event.slot < len(op.output_dtypes):
        return dtype_name(op.output_dtypes[event.slot])
    summary = summary_of(run, event)
    return summary.dtype if summary else None


def assumed_dtype(largest: float) -> str:
    """Return what a tensor whose type is not on record, as of healthy eager ones, is taken for.

    Args:
        largest: Its largest magnitude.
    """
    return "float32" if largest <= MAX_FINITE["float32"] else "float64"


def outputs_of_same_op(dataflow: Dataflow, event: TensorEvent) -> list[TensorEvent]:
    """Return a computation of each output of the op that made a tensor.

    Args:
        dataflow: Where tensors come from and go to.
        event: The tensor.
    """
    if event.kind == "execution":
        return list(_outputs(dataflow.run, event.index))
    site = dataflow.run.graph_executions.site(event.index)
    return list(computed(dataflow, site.graph_id, site.op_name))


def tensors_of_line(dataflow: Dataflow, path: str, line: int) -> list[TensorEvent]:
    """Return a computation of each floating-point tensor that was made through a line.

    Args:
        dataflow: Of the run.
        path: Path of the source file.
        line: Number of the line, from 1.
    """
    run = dataflow.run

    @cache
    def passes(stack_id: int) -> bool:
        return any((frame.path, frame.line) == (path, line) for frame in run.stack(stack_id))

    found = [
        event
        for graph_id, graph in list(run.graphs.items())
        for op in list(graph.ops.values())
        if passes(op.stack_id)
        for event in computed(dataflow, graph_id, op.name)
    ]
    eager = _latest_executions(run)
    found += [
        event
        for (_, stack_id), index in eager.items()
        if passes(stack_id)
        for event in _outputs(run, index)
    ]
    return [event for event in found if dtype_of(run, event) in (*_FLOATING, None)]


def _latest_executions(run: Run) -> dict[tuple[str, int], int]:
    """Return the last execution of each op type by each stack."""
    executions = run.executions
    places = executions.kinds[::-1] << 32 | executions.stack_ids[::-1]
    found, behind = np.unique(places, return_index=True)
    latest: dict[tuple[str, int], int] = {}
    for place, index in zip(found.tolist(), (len(places) - 1 - behind).tolist(), strict=True):
        key = executions.distinct_kinds[place >> 32].op_type, place & 0xFFFFFFFF
        latest[key] = max(index, latest.get(key, 0))
    return latest


def _outputs(run: Run, index: int) -> Iterator[TensorEvent]:
    for slot, summary in enumerate(run.executions[index].outputs):
        if summary is not None:
            yield TensorEvent("execution", index, slot)


def computed(dataflow: Dataflow, graph_id: str, op_name: str) -> Iterator[TensorEvent]:
    """Yield the last computation of each output of an op.

    Args:
        dataflow: Of the run.
        graph_id: The graph that the op is in.
        op_name: Its name.
    """
    traces = dataflow.run.graph_executions
    for site, site_id in dataflow.timeline.sites(graph_id, op_name):
        row = traces.last_before(site_id, len(traces))
        if row is not None:
            yield TensorEvent("graph_execution", row, site.output_slot)
