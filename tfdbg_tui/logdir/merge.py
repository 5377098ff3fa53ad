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

from tfdbg_tui.logdir.columns import Column, ColumnView, GrowingArray, Int64Array

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

    Attributes:
        logs: Number of the log that each row is from.
        rows: Its row in that log.
        columns: The logs' columns, merged.
        alerts: Merged rows of alerts, ascending.
        alert_slots: Output slot of each alert.
    """

    def __init__(self, num_columns: int) -> None:
        self.logs = Column()
        self.rows = Column()
        self.columns = tuple(Column() for _ in range(num_columns))
        self.alerts = GrowingArray()
        self.alert_slots = GrowingArray()
        self._keys = np.zeros(1024)  # of the merged rows, and room for more
        self._counts: list[int] = []
        self._last_keys: list[float] = []

    def update(self, logs: Sequence[EventLog]) -> None:
        """Take in the rows that the logs have gained."""
        added = len(logs) - len(self._counts)
        self._counts += [0] * added
        self._last_keys += [0.0] * added
        fresh = [self._new_keys(log, number) for number, log in enumerate(logs)]
        first = min((keys[0] for keys in fresh if len(keys)), default=None)
        if first is None:
            return
        cut = int(np.searchsorted(self._keys[: len(self.logs)], first))
        keys, sources, rows = self._cut_back(cut, fresh)
        order = np.argsort(keys, kind="stable")
        sources, rows = sources[order], rows[order]
        self.logs.extend(sources)
        self.rows.extend(rows)
        self._store_keys(cut, keys[order])
        for column, parts in zip(
            self.columns, zip(*(log.columns for log in logs), strict=True), strict=True
        ):
            column.extend(_take(parts, sources, rows))
        self._merge_alerts(logs, cut, sources, rows)

    def _new_keys(self, log: EventLog, number: int) -> Floats:
        keys = log.wall_times(np.arange(self._counts[number], len(log)))
        if len(keys):
            keys[0] = max(keys[0], self._last_keys[number])
            keys = np.maximum.accumulate(keys)
            self._last_keys[number] = float(keys[-1])
        return keys

    def _store_keys(self, cut: int, keys: Floats) -> None:
        size = cut + len(keys)
        if size > len(self._keys):
            grown = np.zeros(max(size, 2 * len(self._keys)))
            grown[:cut] = self._keys[:cut]
            self._keys = grown
        self._keys[cut:size] = keys

    def _cut_back(self, cut: int, fresh: list[Floats]) -> tuple[Floats, Int64Array, Int64Array]:
        """Take away the rows from `cut` on; return (key, log, row) of them and the new ones."""
        tail = self.logs.view()[cut:]
        tail_keys = self._keys[cut : len(self.logs)]
        parts = []
        for number, new_keys in enumerate(fresh):
            again = tail_keys[tail == number]
            start = self._counts[number] - len(again)
            keys = np.concatenate([again, new_keys])
            rows = np.arange(start, start + len(keys))
            parts.append((keys, np.full(len(keys), number), rows))
            self._counts[number] = start + len(keys)
        for column in (self.logs, self.rows, *self.columns):
            column.truncate(cut)
        keys, sources, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
        return keys, sources, rows

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


class Rows:
    """Which file each event of a run is in; an immutable view.

    Args:
        sizes: Number of events of each log.
        merge: Their order; None for a single log, whose order is its own.
    """

    def __init__(self, sizes: Sequence[int], merge: Merge | None) -> None:
        self._size = sum(sizes)
        self._logs: ColumnView | None = merge.logs.view() if merge else None
        self._rows: ColumnView | None = merge.rows.view() if merge else None
        self._indices: dict[int, Int64Array] = {}

    def __len__(self) -> int:
        return self._size

    def locate(self, index: int) -> tuple[int, int]:
        """Return (number of the log, row in it) of an event.

        Raises:
            IndexError: There is no such event.
        """
        if index < 0:
            index += self._size
        if not 0 <= index < self._size:
            raise IndexError(f"row {index} of {self._size}")
        if self._logs is None or self._rows is None:
            return 0, index
        return self._logs[index], self._rows[index]

    def split(self, indices: Int64Array) -> list[tuple[int, Int64Array, Int64Array]]:
        """Return (log, places in `indices`, rows in the log) for each log."""
        if self._logs is None or self._rows is None:
            return [(0, np.arange(len(indices)), indices)]
        logs, rows = self._logs.take(indices), self._rows.take(indices)
        places = [np.flatnonzero(logs == number) for number in range(int(logs.max(initial=-1)) + 1)]
        return [(number, where, rows[where]) for number, where in enumerate(places)]

    def index(self, log: int, row: int) -> int:
        """Return the index of a row of a log."""
        if self._logs is None:
            return row
        indices = self._indices.get(log)
        if indices is None:
            indices = self._indices[log] = self._logs.rows_equal(log)
        return int(indices[row])
