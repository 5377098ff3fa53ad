"""The events of several processes in one order: by the time they were recorded.

Each process writes its own file, in order.  The merged order keeps the order within each file and
otherwise goes by wall time; where that steps back inside a file, the latest time so far counts, and
where a clock was set back, by more than threads do it, time goes on from there.
Rows that arrive late, because a file is read or written later than another, are put where they
belong: rows after them move up.  So while a run of several processes grows, indices near the end
may still shift; after everything has been read they are those of a fresh reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.index.columns import AscendingColumn, Column, Int64Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.index.alert_log import AlertLog

Floats = npt.NDArray[np.float64]

STRIDE = 4096
"""Rows from one tally to the next; blocks of columns hold a whole number of them."""

_SET_BACK = 10_000_000  # microseconds: a clock was set, not just read by several threads


class TimedLog(Protocol):
    """Something that has happened in order of time."""

    def __len__(self) -> int: ...

    def wall_times(self, rows: npt.ArrayLike) -> Floats:
        """Return when some rows were recorded."""


class EventLog(TimedLog, Protocol):
    """What is known of one file's events."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns to be merged, the same for all logs."""

    @property
    def alerts(self) -> AlertLog:
        """Its alerts."""


class Order:
    """The order of time of what several logs hold.

    Args:
        num_logs: How many there are.

    Attributes:
        logs: Number of the log that each row is from.
        tallies: How many rows of each log precede each `STRIDE` rows; shape [strides, logs].
    """

    def __init__(self, num_logs: int) -> None:
        self.logs = Column()
        self.tallies = np.zeros((1, num_logs), np.int64)
        self._keys = AscendingColumn()  # of the merged rows: microseconds
        self._counts = [0] * num_logs
        self._last_keys = [0] * num_logs
        self._last_times = [0] * num_logs  # microseconds, as the log's clock had them
        self._set_back = [0] * num_logs  # microseconds, by which that was in all

    def update(self, logs: Sequence[TimedLog]) -> tuple[int, Int64Array, Int64Array] | None:
        """Take in the rows that the logs have gained.

        Returns:
            The first row of the order that is new, and of it and all after it the number of the
            log and the row there; None where there is nothing new.
        """
        fresh = [self._new_keys(log, number) for number, log in enumerate(logs)]
        first = min((int(keys[0]) for keys in fresh if len(keys)), default=None)
        if first is None:
            return None
        cut = int(self._keys.view().searchsorted(first))
        keys, sources, rows = self._cut_back(cut, fresh)
        order = np.argsort(keys, kind="stable")
        sources, rows = sources[order], rows[order]
        self.logs.extend(sources)
        self._keys.extend(keys[order])
        self._tally(cut)
        return cut, sources, rows

    def _new_keys(self, log: TimedLog, number: int) -> Int64Array:
        times = log.wall_times(np.arange(self._counts[number], len(log)))
        keys = (times * 1e6).astype(np.int64)
        known = keys[keys > 0]
        if len(known):
            steps = np.diff(known, prepend=self._last_times[number])
            set_back = self._set_back[number] + np.cumsum(np.where(steps < -_SET_BACK, -steps, 0))
            self._last_times[number], self._set_back[number] = int(known[-1]), int(set_back[-1])
            keys[keys > 0] += set_back
        if len(keys):
            keys[0] = max(int(keys[0]), self._last_keys[number])
            keys = np.maximum.accumulate(keys)
            self._last_keys[number] = int(keys[-1])
        return keys

    def _cut_back(
        self, cut: int, fresh: list[Int64Array]
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Take away the rows from `cut` on; return (key, log, row) of them and the new ones."""
        tail = self.logs.view()[cut:]
        tail_keys = self._keys.view()[cut:]
        parts = []
        for number, new_keys in enumerate(fresh):
            again = tail_keys[tail == number]
            start = self._counts[number] - len(again)
            keys = np.concatenate([again, new_keys])
            rows = np.arange(start, start + len(keys))
            parts.append((keys, np.full(len(keys), number), rows))
            self._counts[number] = start + len(keys)
        self.logs.truncate(cut)
        self._keys.truncate(cut)
        keys, sources, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
        return keys, sources, rows

    def _tally(self, cut: int) -> None:
        """Count the rows of each log anew from `cut` on."""
        kept, strides = cut // STRIDE, len(self.logs) // STRIDE
        logs = self.logs.view()[kept * STRIDE : strides * STRIDE].reshape(-1, STRIDE)
        counts = [(logs == number).sum(axis=1) for number in range(len(self._counts))]
        later = self.tallies[kept] + np.cumsum(np.transpose(counts), axis=0)
        self.tallies = np.concatenate([self.tallies[: kept + 1], later])


class Merge(Order):
    """The merged order of the events of several processes.

    Args:
        num_logs: How many there are.
        num_columns: How many columns each has.

    Attributes:
        columns: The logs' columns, merged.
        alert_rows: Merged rows of alerts, ascending.
        alert_slots: Output slot of each alert, where the logs have them.
    """

    def __init__(self, num_logs: int, num_columns: int) -> None:
        super().__init__(num_logs)
        self.columns = tuple(Column() for _ in range(num_columns))
        self.alert_rows = AscendingColumn()
        self.alert_slots = Column()

    def take_in(self, logs: Sequence[EventLog]) -> None:
        """Take in the events that the logs have gained."""
        updated = self.update(logs)
        if updated is None:
            return
        cut, sources, rows = updated
        for column, parts in zip(
            self.columns, zip(*(log.columns for log in logs), strict=True), strict=True
        ):
            column.truncate(cut)
            column.extend(_take(parts, sources, rows))
        self._merge_alerts(logs, cut, sources, rows)

    def _merge_alerts(
        self, logs: Sequence[EventLog], cut: int, sources: Int64Array, rows: Int64Array
    ) -> None:
        """Place the alerts of the rows that were merged from `cut` on."""
        kept = int(self.alert_rows.view().searchsorted(cut))
        self.alert_rows.truncate(kept)
        self.alert_slots.truncate(kept)
        found, slots = [], []
        for number, log in enumerate(logs):
            places = np.flatnonzero(sources == number)
            if not len(places):
                continue
            alerts = log.alerts.rows.view()
            start = int(alerts.searchsorted(rows[places[0]]))
            found.append(places[alerts[start:] - rows[places[0]]] + cut)
            slots.append(log.alerts.slots.view()[start:])
        merged = np.concatenate(found)
        order = np.argsort(merged, kind="stable")
        self.alert_rows.extend(merged[order])
        if any(map(len, slots)):
            self.alert_slots.extend(np.concatenate(slots)[order])


def _take(columns: tuple[Column, ...], sources: Int64Array, rows: Int64Array) -> Int64Array:
    out = np.empty(len(rows), np.int64)
    for number, column in enumerate(columns):
        mine = sources == number
        out[mine] = column.view().take(rows[mine])
    return out
