"""Every tensor recorded with a NaN or an infinity, in order of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np

from tfdbg_tui.diagnosis.events import Kind, TensorEvent, summary_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tfdbg_tui.logdir import Run

_UNKNOWN_OP = "unknown op"


@dataclass(frozen=True, slots=True)
class AlertCounts:
    """How many alerts hold values of each kind; one alert can hold several kinds.

    Attributes:
        nan: Alerts with a NaN.
        neg_inf: Alerts with -∞.
        pos_inf: Alerts with +∞.
        unknown: Alerts whose debug mode (CURT_HEALTH) does not tell the kinds apart.
    """

    nan: int
    neg_inf: int
    pos_inf: int
    unknown: int


class Alerts(Sequence[TensorEvent]):
    """The alerts of a run, in order of time; rows become events only when asked for."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._num_graph = len(run.graph_executions.alert_rows)

    def __len__(self) -> int:
        return self._num_graph + len(self._run.executions.alert_rows)

    @overload
    def __getitem__(self, index: int) -> TensorEvent: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TensorEvent, ...]: ...
    def __getitem__(self, index: int | slice) -> TensorEvent | tuple[TensorEvent, ...]:
        if isinstance(index, slice):
            return tuple(self._event(int(number)) for number in self._order[index])
        return self._event(int(self._order[index]))

    @property
    def first(self) -> TensorEvent | None:
        """The earliest alert."""
        return self[0] if len(self) else None

    def position(self, event: TensorEvent) -> int | None:
        """Return where an event is in the sequence; None where it is no alert."""
        graph = event.kind == "graph_execution"
        events = self._run.graph_executions if graph else self._run.executions
        low, high = np.searchsorted(events.alert_rows, [event.index, event.index + 1]).tolist()
        for number in range(low, high):
            number += 0 if graph else self._num_graph
            if self._event(number).slot == event.slot:
                return int(self._positions[number])
        return None

    def positions(self, kind: Kind) -> npt.NDArray[np.int64]:
        """Return where the alerts of a kind of event are in the sequence, by `alert_rows`."""
        split = self._num_graph
        return self._positions[:split] if kind == "graph_execution" else self._positions[split:]

    @cached_property
    def by_op_type(self) -> dict[str, int]:
        """Number of alerts of each op type (or executed function), most first."""
        run = self._run
        counts: Counter[str] = Counter()
        rows = run.graph_executions.alert_rows
        for site_id, number in _tally(run.graph_executions.site_ids.take(rows)):
            site = run.graph_executions.site_by_id(site_id)
            op = run.op(site.graph_id, site.op_name)
            counts[op.op_type if op else _UNKNOWN_OP] += number
        rows = run.executions.alert_rows
        for kind_id, number in _tally(run.executions.kinds.take(rows)):
            counts[run.executions.kind_by_id(kind_id).op_type] += number
        return dict(counts.most_common())

    def count_kinds(self, limit: int | None = None) -> AlertCounts:
        """Count kinds of bad values over the first `limit` alerts; reads each one's record."""
        nan = neg_inf = pos_inf = unknown = 0
        for event in self if limit is None else self[:limit]:
            summary = summary_of(self._run, event)
            if summary is None or summary.nan is None:
                unknown += 1
                continue
            nan += bool(summary.nan)
            neg_inf += bool(summary.neg_inf)
            pos_inf += bool(summary.pos_inf)
        return AlertCounts(nan, neg_inf, pos_inf, unknown)

    def _event(self, number: int) -> TensorEvent:
        """Return the alert with a number: graph executions first, then executions."""
        if number < self._num_graph:
            row = int(self._run.graph_executions.alert_rows[number])
            slot = self._run.graph_executions.site(row).output_slot
            return TensorEvent("graph_execution", row, slot)
        number -= self._num_graph
        executions = self._run.executions
        return TensorEvent(
            "execution", int(executions.alert_rows[number]), int(executions.alert_slots[number])
        )

    @cached_property
    def _order(self) -> npt.NDArray[np.int64]:
        graph, eager = self._run.graph_executions, self._run.executions
        if not len(eager.alert_rows) or not self._num_graph:
            return np.arange(len(self))
        # An execution is recorded after what happened inside it: on a tie it comes second.
        times = [graph.wall_times(graph.alert_rows), eager.wall_times(eager.alert_rows)]
        return np.argsort(np.concatenate(times), kind="stable")

    @cached_property
    def _positions(self) -> npt.NDArray[np.int64]:
        positions = np.empty(len(self), np.int64)
        positions[self._order] = np.arange(len(self))
        return positions


def find_alerts(run: Run) -> Alerts:
    """Return all tensors of a run that hold a NaN or an infinity."""
    return Alerts(run)


def _tally(numbers: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    values, counts = np.unique(numbers, return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))
