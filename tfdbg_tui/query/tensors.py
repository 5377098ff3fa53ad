"""Recorded tensors as rows of a table: what `tfdbg-tui query` prints and other programs read."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.diagnosis import (
    LayersOfOps,
    Location,
    TensorEvent,
    index_text,
    location_of,
    readable_function,
    typed_summary,
)
from tfdbg_tui.query.numbers import RecordedNumbers
from tfdbg_tui.query.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Layer, Run, TensorSummary
    from tfdbg_tui.query.language import Query

_SECONDS = 0.05  # that a selection looks for more rows before those found are handed out
_COUNTS = ("neg_inf", "pos_inf", "nan", "neg", "zero", "pos", "minimum", "maximum")

COLUMNS: dict[str, type] = {
    "kind": str,
    "index": int,
    "output": int,
    "time": float,
    "step": int,
    "iteration": int,
    "name": str,
    "op_type": str,
    "function": str,
    "layer": str,
    "host": str,
    "device": str,
    "file": str,
    "line": int,
    "dtype": str,
    "shape": str,
    "size": int,
    "bad": bool,
    "neg_inf": int,
    "pos_inf": int,
    "nan": int,
    "neg": int,
    "zero": int,
    "pos": int,
    "minimum": float,
    "maximum": float,
    "bad_elements": str,
}
"""Name and type of each value of `TensorRow.values`; any may be None: not on record."""


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A recorded tensor and where it comes from.

    Attributes:
        event: What identifies it in the run.
        process: Number of the process, among those of the run, that recorded it.
        thread: Number of the Python thread of an execution, where recorded.
        wall_time: When it was recorded, in seconds since the epoch.
        step: Training step, where recorded or counted.
        iteration: Iteration of the innermost loop around it, where recorded.
        name: The tensor's name in its graph; of an eager op or function, its type and output.
        op_type: Type of its op, or readable name of the executed function.
        function: Readable name of the function it was computed in; "" outside.
        layer: The Keras layer or `tf.Module` that it is of, where recorded.
        host: Name of the host.
        device: Name of the device; "" where there is none on record.
        location: The user's line.
        summary: What was recorded of its values.
    """

    event: TensorEvent
    process: int
    thread: int | None
    wall_time: float
    step: int | None
    iteration: int | None
    name: str
    op_type: str | None
    function: str
    layer: Layer | None
    host: str
    device: str
    location: Location | None
    summary: TensorSummary | None

    def values(self) -> dict[str, Any]:
        """Return the values of `COLUMNS`."""
        summary, location = self.summary, self.location
        return {
            "kind": self.event.kind,
            "index": self.event.index,
            "output": self.event.slot,
            "time": self.wall_time,
            "step": self.step,
            "iteration": self.iteration,
            "name": self.name,
            "op_type": self.op_type,
            "function": self.function or None,
            "layer": self.layer.path if self.layer else None,
            "host": self.host,
            "device": self.device or None,
            "file": location.file if location else None,
            "line": location.line if location else None,
            "dtype": summary.dtype if summary else None,
            "shape": _shape_text(summary.shape) if summary and summary.shape is not None else None,
            "size": summary.size if summary else None,
            "bad": summary.has_inf_or_nan if summary else None,
            **{name: _finite(getattr(summary, name, None)) for name in _COUNTS},
            "bad_elements": ", ".join(map(index_text, summary.bad_elements)) if summary else None,
        }


class TensorRows(Iterator[TensorRow]):
    """The tensors that a filter selects, in order of time, as they are found.

    Args:
        run: The run.
        query: The filter.
        kinds: Which events' tensors.
    """

    def __init__(self, run: Run, query: Query, kinds: Iterable[Kind]) -> None:
        makers = _row_makers(run)
        self._selections = {kind: Selection(run, kind, query) for kind in kinds}
        found = (_selected(run, query, s, makers[k]) for k, s in self._selections.items())
        self._rows = heapq.merge(*found, key=lambda row: row.wall_time)

    def __next__(self) -> TensorRow:
        return next(self._rows)

    @property
    def unknown(self) -> int:
        """How many events, of those looked at, do not say in their records whether they fit."""
        return sum(selection.unknown for selection in self._selections.values())


def tensor_rows(
    run: Run, query: Query, kinds: Iterable[Kind] = ("execution", "graph_execution")
) -> TensorRows:
    """Return the tensors that a filter selects.

    Args:
        run: The run.
        query: The filter.
        kinds: Which events' tensors.
    """
    return TensorRows(run, query, kinds)


def row_maker(run: Run) -> Callable[[TensorEvent], TensorRow]:
    """Return what reads tensors of a run, one at a time."""
    makers = _row_makers(run)
    return lambda event: next(
        row for row in makers[event.kind](event.index) if row.event.slot == event.slot
    )


def _row_makers(run: Run) -> dict[Kind, Callable[[int], Iterator[TensorRow]]]:
    return {"execution": _execution_rows(run), "graph_execution": _graph_execution_rows(run)}


def _selected(
    run: Run, query: Query, selection: Selection, rows_of: Callable[[int], Iterator[TensorRow]]
) -> Iterator[TensorRow]:
    handed_out = 0
    while not selection.complete:
        selection.advance(_SECONDS)
        indices = selection.rows[handed_out:].tolist()
        handed_out += len(indices)
        for index in indices:
            yield from _fitting(run, query, list(rows_of(index)))


def _fitting(run: Run, query: Query, rows: list[TensorRow]) -> Iterator[TensorRow]:
    """Yield the tensors of one event that fit themselves: an event fits if one of them does."""
    if len(rows) == 1:
        yield from rows
        return
    event = rows[0].event
    tensors = RecordedNumbers(run).of(event.kind, np.array([event.index]))
    fits = np.ones(len(rows), bool)
    for term in query.numbers:
        fits &= term.fits(tensors.numbers)
    for row, fitting in zip(rows, fits.tolist(), strict=True):
        bad = bool(row.summary and row.summary.bad)
        if fitting and query.bad in (None, bad):
            yield row


def _execution_rows(run: Run) -> Callable[[int], Iterator[TensorRow]]:
    place = cache(lambda stack_id: location_of(run, stack_id))

    def rows(index: int) -> Iterator[TensorRow]:
        execution = run.executions[index]
        kind = run.executions.kind(index)
        name = readable_function(kind.op_type) if kind.is_function else kind.op_type
        devices = execution.output_devices
        step = execution.step if execution.step is not None else run.executions.steps.of(index)
        for slot, summary in enumerate(execution.outputs or (None,)):
            yield TensorRow(
                event=TensorEvent("execution", index, slot),
                process=kind.file_set,
                thread=execution.thread,
                wall_time=execution.wall_time,
                step=step,
                iteration=None,
                name=f"{name}:{slot}",
                op_type=name,
                function="",
                layer=execution.layer,
                host=execution.host,
                device=devices[slot] if slot < len(devices) else "",
                location=place(execution.stack_id),
                summary=summary,
            )

    return rows


def _graph_execution_rows(run: Run) -> Callable[[int], Iterator[TensorRow]]:
    place = cache(lambda stack_id: location_of(run, stack_id))
    layers = LayersOfOps(run)

    def rows(index: int) -> Iterator[TensorRow]:
        trace = run.graph_executions[index]
        site = run.graph_executions.site(index)
        graph, op = run.graphs.get(trace.graph_id), run.op(trace.graph_id, trace.op_name)
        caller = trace.execution_index
        counted = run.executions.steps.of(caller) if caller is not None else None
        step = trace.step if trace.step is not None else counted
        yield TensorRow(
            event=TensorEvent("graph_execution", index, trace.output_slot),
            process=site.file_set,
            thread=None,
            wall_time=trace.wall_time,
            step=None if layers.calls.in_pipeline(trace.graph_id) else step,
            iteration=trace.iteration,
            name=trace.tensor_name,
            op_type=trace.op_type,
            function=readable_function(graph.name) if graph else "",
            layer=layers.of(op) if op else None,
            host=trace.host,
            device=trace.device,
            location=place(op.stack_id) if op else None,
            summary=typed_summary(run, trace),
        )

    return rows


def _shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as ``64x10``, with ``?`` for a dimension that is not on record."""
    return "x".join("?" if length is None else str(length) for length in shape)


def _finite(number: float | None) -> float | None:
    """Return a number that JSON can hold."""
    return number if number is None or math.isfinite(number) else None
