"""The events of several processes in one order: by the time they were recorded.

Each process writes its own file, in order.  The merged order keeps the order within each file and
otherwise goes by wall time; where a clock steps back inside a file, the latest time so far counts.
Rows that arrive late, because a file is read or written later than another, are put where they
belong: rows after them move up.  So while a run of several processes grows, indices near the end
may still shift; after everything has been read they are those of a fresh reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.columns import Column, GrowingArray, Int64Array, OffsetColumn
from tfdbg_tui.logdir.rows import STRIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = npt.NDArray[np.float64]


class EventLog(Protocol):
    """What is known of one file's events."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns to be merged, the same for all logs."""

    @property
    def alerts(self) -> GrowingArray:
        """Rows of alerts, ascending."""

    @property
    def alert_slots(self) -> GrowingArray:
        """Output slot of each alert."""

    def __len__(self) -> int: ...

    def wall_times(self, rows: npt.ArrayLike) -> Floats:
        """Return when some rows were recorded."""


class Merge:
    """The merged order of several logs.

    Args:
        num_logs: How many there are.
        num_columns: How many columns each has.

    Attributes:
        logs: Number of the log that each row is from.
        tallies: How many rows of each log precede each `STRIDE` rows; shape [strides, logs].
        columns: The logs' columns, merged.
        alerts: Merged rows of alerts, ascending.
        alert_slots: Output slot of each alert.
    """

    def __init__(self, num_logs: int, num_columns: int) -> None:
        self.logs = Column()
        self.tallies = np.zeros((1, num_logs), np.int64)
        self.columns = tuple(Column() for _ in range(num_columns))
        self.alerts = GrowingArray()
        self.alert_slots = GrowingArray()
        self._keys = OffsetColumn()  # of the merged rows: microseconds
        self._counts = [0] * num_logs
        self._last_keys = [0] * num_logs

    def update(self, logs: Sequence[EventLog]) -> None:
        """Take in the rows that the logs have gained."""
        fresh = [self._new_keys(log, number) for number, log in enumerate(logs)]
        first = min((int(keys[0]) for keys in fresh if len(keys)), default=None)
        if first is None:
            return
        cut = self._keys.first_from(first)
        keys, sources, rows = self._cut_back(cut, fresh)
        order = np.argsort(keys, kind="stable")
        sources, rows = sources[order], rows[order]
        self.logs.extend(sources)
        self._keys.extend(keys[order])
        self._tally(cut)
        for column, parts in zip(
            self.columns, zip(*(log.columns for log in logs), strict=True), strict=True
        ):
            column.extend(_take(parts, sources, rows))
        self._merge_alerts(logs, cut, sources, rows)

    def _new_keys(self, log: EventLog, number: int) -> Int64Array:
        times = log.wall_times(np.arange(self._counts[number], len(log)))
        keys = (times * 1e6).astype(np.int64)
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
        for column in (self.logs, self._keys, *self.columns):
            column.truncate(cut)
        keys, sources, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
        return keys, sources, rows

    def _tally(self, cut: int) -> None:
        """Count the rows of each log anew from `cut` on."""
        kept, strides = cut // STRIDE, len(self.logs) // STRIDE
        logs = self.logs.view()[kept * STRIDE : strides * STRIDE].reshape(-1, STRIDE)
        counts = [(logs == number).sum(axis=1) for number in range(len(self._counts))]
        later = self.tallies[kept] + np.cumsum(np.transpose(counts), axis=0)
        self.tallies = np.concatenate([self.tallies[: kept + 1], later])

    def _merge_alerts(
        self, logs: Sequence[EventLog], cut: int, sources: Int64Array, rows: Int64Array
    ) -> None:
        """Place the alerts of the rows that were merged from `cut` on."""
        kept = int(np.searchsorted(self.alerts.view(), cut))
        self.alerts.truncate(kept)
        self.alert_slots.truncate(kept)
        found = []
        for number, log in enumerate(logs):
            places = np.flatnonzero(sources == number)
            if not len(places):
                continue
            alerts = log.alerts.view()
            start = int(np.searchsorted(alerts, rows[places[0]]))
            merged = places[alerts[start:] - rows[places[0]]] + cut
            found.append(np.array([merged, log.alert_slots.view()[start:]]))
        merged, slots = np.concatenate(found, axis=1)
        order = np.argsort(merged, kind="stable")
        self.alerts.extend(merged[order])
        self.alert_slots.extend(slots[order])


def _take(columns: tuple[Column, ...], sources: Int64Array, rows: Int64Array) -> Int64Array:
    out = np.empty(len(rows), np.int64)
    for number, column in enumerate(columns):
        mine = sources == number
        out[mine] = column.view().take(rows[mine])
    return out
