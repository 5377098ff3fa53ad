"""Every tensor recorded with a NaN or an infinity, in order of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, overload

import numpy as np

from tfdbg_tui.diagnosis.events import UNKNOWN_OP, Kind, TensorEvent, summary_of
from tfdbg_tui.logdir.index.merge import Order
from tfdbg_tui.logdir.index.rows import Rows
from tfdbg_tui.logdir.index.traces import GraphExecutions

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from tfdbg_tui.logdir import Run

    Positions = npt.NDArray[np.int64]

_REMEMBERED = 1 << 14  # executions of which it is kept what they hold
_KINDS: tuple[Kind, Kind] = ("graph_execution", "execution")


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


class _FileAlerts:
    """The alerts of one kind in one file, in its order."""

    def __init__(self, run: Run, kind: Kind, file_set: int) -> None:
        self.kind = kind
        self._file_set = file_set
        self._events = run.graph_executions if kind == "graph_execution" else run.executions
        self._alerts = self._events.alert_logs[file_set]

    def __len__(self) -> int:
        return len(self._alerts.rows)

    def wall_times(self, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when some of them were recorded."""
        return self._events.wall_times_at(self._file_set, self._alerts.rows.take(numbers))

    def event(self, number: int) -> TensorEvent:
        """Return one of them."""
        index = self._events.index_of((self._file_set, self._alerts.rows[number]))
        if isinstance(self._events, GraphExecutions):
            return TensorEvent(self.kind, index, self._events.site(index).output_slot)
        return TensorEvent(self.kind, index, self._alerts.slots[number])

    def number(self, row: int, event: TensorEvent) -> int | None:
        """Return which of them an event in a row of the file is; None where it is none."""
        start, stop = self._alerts.rows.searchsorted([row, row + 1]).tolist()
        if isinstance(self._events, GraphExecutions):
            return start if start < stop and self.event(start) == event else None
        found = np.flatnonzero(self._alerts.slots[start:stop] == event.slot)
        return start + int(found[0]) if found.size else None


class Alerts(Sequence[TensorEvent]):
    """The alerts of a run, in order of time; rows become events only when asked for.

    Args:
        run: The run.
        previous: The alerts of the same run when it was smaller: what has been done for them is
            not done again, once.
    """

    def __init__(self, run: Run, previous: Alerts | None = None) -> None:
        self._run = run
        # A filter has the same ones counted again and again, while it finds more of them.
        self._kinds_of = lru_cache(_REMEMBERED)(partial(_kinds_of, run))
        # An execution is recorded after what happened inside it: on a tie it comes second.
        self._files = [
            _FileAlerts(run, kind, number) for kind in _KINDS for number in range(_file_sets(run))
        ]
        self._order = Order(len(self._files))
        if previous is not None and previous.is_earlier_than(self) and previous._is_newest:
            self._order = previous._order
        self._order.update(self._files)
        self._rows = Rows([len(file) for file in self._files], self._order)

    @property
    def _is_newest(self) -> bool:
        """Whether nothing has been added to the order since."""
        return len(self) == len(self._order.logs)

    def is_earlier_than(self, other: Alerts) -> bool:
        """Whether all of these are among others, of the same run."""
        mine, theirs = self._run, other._run
        return (
            mine.files == theirs.files
            and mine.state.generation == theirs.state.generation
            and all(len(a) <= len(b) for a, b in zip(self._files, other._files, strict=True))
        )

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> TensorEvent: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TensorEvent, ...]: ...
    def __getitem__(self, index: int | slice) -> TensorEvent | tuple[TensorEvent, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        file, number = self._rows.locate(index)
        return self._files[file].event(number)

    @property
    def first(self) -> TensorEvent | None:
        """The earliest alert."""
        return self[0] if len(self) else None

    def position(self, event: TensorEvent) -> int | None:
        """Return where an event is in the sequence; None where it is no alert."""
        graph = event.kind == "graph_execution"
        events = self._run.graph_executions if graph else self._run.executions
        if event.index >= len(events):
            return None
        file_set, row = events.place(event.index)
        file = file_set + _KINDS.index(event.kind) * _file_sets(self._run)
        number = self._files[file].number(row, event)
        return None if number is None else self._rows.index(file, number)

    def positions(self, kind: Kind) -> Positions:
        """Return where the alerts of a kind of event are in the sequence, by `alert_rows`."""
        mine = [number for number, file in enumerate(self._files) if file.kind == kind]
        found = [np.flatnonzero(np.isin(logs, mine)) + at for at, logs in self._rows.logs()]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    @cached_property
    def by_op_type(self) -> dict[str, int]:
        """Number of alerts of each op type (or executed function), most first."""
        run = self._run
        counts: Counter[str] = Counter()
        for site_id, tally in run.graph_executions.alert_sites():
            counts[self._op_type(site_id)] += tally.alerts
        for place, tally in run.executions.bad_places():
            counts[run.executions.distinct_kinds[place.kind].op_type] += tally.alerts
        return dict(counts.most_common())

    def op_types_of(self, positions: Positions) -> dict[str, int]:
        """Return the same over some of them, by their positions."""
        run = self._run
        counts: Counter[str] = Counter()
        rows = self._rows_of(positions)
        sites, numbers = np.unique(run.graph_executions.site_ids.take(rows), return_counts=True)
        for site_id, number in zip(sites.tolist(), numbers.tolist(), strict=True):
            counts[self._op_type(site_id)] += number
        executed = run.executions.alert_rows[:][self._among("execution", positions)]
        kinds, numbers = np.unique(run.executions.kinds.take(executed), return_counts=True)
        for kind_id, number in zip(kinds.tolist(), numbers.tolist(), strict=True):
            counts[run.executions.distinct_kinds[kind_id].op_type] += number
        return dict(counts.most_common())

    def _op_type(self, site_id: int) -> str:
        site = self._run.graph_executions.site_by_id(site_id)
        op = self._run.op(site.graph_id, site.op_name)
        return op.op_type if op else UNKNOWN_OP

    def _among(self, kind: Kind, positions: Positions) -> npt.NDArray[np.bool_]:
        """Return which alerts of a kind of event, by `alert_rows`, are in some positions."""
        among = np.zeros(len(self), bool)
        among[positions] = True
        return among[self.positions(kind)]

    def _rows_of(self, positions: Positions) -> Positions:
        """Return the rows of the graph executions in some positions."""
        flags = self._among("graph_execution", positions)
        return self._run.graph_executions.alert_rows[:][flags]

    def count_kinds(self, positions: Positions | None = None) -> AlertCounts:
        """Count kinds of bad values; reads the record of each alert.

        Args:
            positions: Positions of those to count; None for all.
        """
        some = np.arange(len(self)) if positions is None else positions
        flags, executions = self._among("execution", some), self._run.executions
        places = (executions.alert_rows[:][flags], executions.alert_slots[:][flags])
        executed = map(partial(TensorEvent, "execution"), *(axis.tolist() for axis in places))
        return self._count(self._rows_of(some), executed)

    def count_more_kinds(self, counts: AlertCounts, previous: Alerts) -> AlertCounts:
        """Add to the counts of all alerts that there were before those that have come since."""
        fresh = [
            file.event(number)
            for file, before in zip(self._files, previous._files, strict=True)
            for number in range(len(before), len(file))
        ]
        rows = [event.index for event in fresh if event.kind == "graph_execution"]
        executed = [event for event in fresh if event.kind == "execution"]
        more = self._count(np.array(rows, np.int64), executed)
        return AlertCounts(*(a + b for a, b in zip(astuple(counts), astuple(more), strict=True)))

    def _count(self, rows: Positions, executed: Iterable[TensorEvent]) -> AlertCounts:
        """Count kinds over the graph executions in some rows, and some executions."""
        numbers = self._run.graph_executions.numbers(rows)
        unknown = int(np.isnan(numbers["nan"]).sum())
        nan, neg_inf, pos_inf = (
            int(np.count_nonzero(np.nan_to_num(numbers[kind])))
            for kind in ("nan", "neg_inf", "pos_inf")
        )
        for kinds in map(self._kinds_of, executed):
            if kinds is None:
                unknown += 1
                continue
            nan += kinds[0]
            neg_inf += kinds[1]
            pos_inf += kinds[2]
        return AlertCounts(nan, neg_inf, pos_inf, unknown)


def _kinds_of(run: Run, event: TensorEvent) -> tuple[bool, bool, bool] | None:
    """Return whether an execution has made NaN, -∞ and +∞; None where that is not on record."""
    summary = summary_of(run, event)
    if summary is None or summary.nan is None:
        return None
    return bool(summary.nan), bool(summary.neg_inf), bool(summary.pos_inf)


def find_alerts(run: Run, previous: Alerts | None = None) -> Alerts:
    """Return all tensors of a run that hold a NaN or an infinity; see `Alerts` for `previous`."""
    return Alerts(run, previous)


def _file_sets(run: Run) -> int:
    return len(run.executions.alert_logs)
