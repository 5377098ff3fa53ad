"""The events of a run in order: what the lists of executions and of traces have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.files.wall_times import read_wall_times
from tfdbg_tui.logdir.index.rows import Rows
from tfdbg_tui.storage.interface import UnreachableError
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir.index.columns import ColumnView
    from tfdbg_tui.logdir.index.merge import Merge
    from tfdbg_tui.logdir.index.record_log import RecordLog

Event = TypeVar("Event")

_RECENT = 64  # events that are kept: those of full tensors are large in the file, not here


class UnreadableError(ValueError):
    """A record that cannot be read, or not any more; the message says why."""


class EventList(Sequence[Event]):
    """Events in order, an immutable view: ``[i]`` reads the i-th from its file.

    Those of several processes are merged: see `merge`.

    Args:
        logs: The index of each file set.
        merge: Their order; None where there is only one.

    Attributes:
        alert_rows: Index of the event of each alert, ascending; one alert for each bad output.
        alert_logs: The alerts of each file set, by the rows of its file.
    """

    def __init__(self, logs: Sequence[RecordLog], merge: Merge | None) -> None:
        self._files = [log.file for log in logs]
        self._problems = [log.problems for log in logs]
        self._definitions = [log.definitions for log in logs]
        self._offsets = [log.offsets.view() for log in logs]
        self._rows = Rows([len(log) for log in logs], merge)
        columns = merge.columns if merge else logs[0].columns
        # What is asked of one event comes in many questions: one for each output, for example.
        self._read = lru_cache(_RECENT)(self._read_event)
        self._columns: list[ColumnView] = [column.view() for column in columns]
        self.alert_logs = [log.alerts.view() for log in logs]
        self.alert_rows = merge.alert_rows.view() if merge else self.alert_logs[0].rows

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} events, {len(self.alert_rows):,} alerts>"

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Event, ...]: ...
    def __getitem__(self, index: int | slice) -> Event | tuple[Event, ...]:
        """Read an event, or each of a slice, from its file.

        Where its record cannot be read, what the index knows of it is returned, with the reason
        in `unreadable`, and the run has a problem more.

        Raises:
            IndexError: There is no such event.
        """
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"event {index} of {len(self)}")
        index %= len(self)
        log, _ = self._rows.locate(index)
        try:
            return self._read(index, self._definitions[log].count)
        except UnreadableError as error:
            return self._unreadable(index, str(error))

    def _read_event(self, index: int, _definitions: int) -> Event:
        """Read an event; the number of definitions tells whether it would say more by now."""
        with self._reading(index) as (log, event):
            return self._decoded(index, log, event)

    @abstractmethod
    def _decoded(self, index: int, log: int, event: events.DebugEvent) -> Event:
        """Return an event, given its record; raises ValueError where that is damaged."""

    @abstractmethod
    def _unreadable(self, index: int, reason: str) -> Event:
        """Return what the index knows of an event whose record cannot be read."""

    @contextmanager
    def _reading(self, index: int) -> Iterator[tuple[int, events.DebugEvent]]:
        """Give (number of the file set, record) of an event, to be decoded.

        Raises:
            IndexError: There is no such event.
            UnreadableError: The record cannot be read, or what it holds cannot be decoded.
        """
        log, row = self._rows.locate(index)
        offset = self._offsets[log][row]
        try:
            yield log, events.DebugEvent.decode(self._files[log].record(offset))
        except UnreachableError as error:
            reason = f"{error.strerror}; it can be read again when the connection is back"
            raise UnreadableError(reason) from None
        except (OSError, ValueError) as error:
            file = self._files[log]
            self._problems[log].add_record(file.path, file.stored_offset(offset), error)
            raise UnreadableError(str(error)) from None

    def place(self, index: int) -> tuple[int, int]:
        """Return (number of the file set, row in its file) of an event."""
        return self._rows.locate(index)

    def index_of(self, place: tuple[int, int]) -> int:
        """Return the index of the event at a place that `place` gave for this or an earlier run."""
        return self._rows.index(*place)

    def wall_times_at(self, log: int, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when some rows of the file of a file set were recorded."""
        return read_wall_times(self._files[log], self._offsets[log].take(rows))

    def wall_times(self, indices: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when each of some events was recorded, in seconds since the epoch."""
        indices = np.asarray(indices, np.int64)
        times = np.zeros(indices.shape)
        for log, places, rows in self._rows.split(indices.reshape(-1)):
            times.reshape(-1)[places] = self.wall_times_at(log, rows)
        return times
