"""What a process could not record: each thing once, with how often it has happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.dump import locks
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_THINGS = 200
_OTHERS = "other parts of the program"
_MAX_TEXT = 300  # characters; a record has to be small enough for a write that nothing splits


class Since(NamedTuple):
    """Since when, and why, something is not on record.

    Attributes:
        reason: Why, in one sentence.
        executions: How many were written before.
        traces: How many graph executions.
        step: The training step.
    """

    reason: str
    executions: int
    traces: int
    step: int | None

    def omission(self, kind: str, what: str, graph_id: str = "", count: int = 1) -> events.Omission:
        """Return what tells that something is not on record.

        Args:
            kind: One of the constants in `wire.omissions`.
            what: What is not on record, as "the graph loss".
            graph_id: The graph that it is about, if it is about one.
            count: How often it has happened now, or how many records were lost.
        """
        return events.Omission(
            kind, what, self.reason, self.executions, self.traces, graph_id, count
        )


@dataclass(slots=True)
class _Entry:
    """Something that is not on record, when it was noticed first, and the count on disk.

    The count is -1 where there is no record of it.
    """

    wall_time: float
    step: int | None
    omission: events.Omission
    written: int = -1


class Omissions:
    """Collects them from all threads; the recorder asks for what to write."""

    def __init__(self) -> None:
        self._lock = locks.new()
        self._entries: dict[tuple[str, str, str, str], _Entry] = {}

    def add(self, wall_time: float, step: int | None, omission: events.Omission) -> bool:
        """Add something; return whether it is the first thing of all.

        Args:
            wall_time: When it happened, in seconds since the epoch.
            step: In which training step; None outside of steps.
            omission: What is not on record.
        """
        omission.what, omission.reason = omission.what[:_MAX_TEXT], omission.reason[:_MAX_TEXT]
        with self._lock:
            is_first = not self._entries
            if len(self._entries) >= _MAX_THINGS and _key(omission) not in self._entries:
                omission.what, omission.graph_id = _OTHERS, ""
            known = self._entries.get(_key(omission))
            if known is None:
                self._entries[_key(omission)] = _Entry(wall_time, step, omission)
            else:
                known.omission.count += omission.count
        return is_first

    def unwritten(self, *, all_counts: bool) -> Iterator[bytes]:
        """Yield the record of each thing that is new, or has happened twice as often since.

        It counts as written when the next one is asked for.

        Args:
            all_counts: Also of what has happened less often than that.
        """
        with self._lock:
            entries = list(self._entries.values())
        for entry in entries:
            count = entry.omission.count
            if count > entry.written and (all_counts or count >= 2 * entry.written):
                yield events.DebugEvent(
                    entry.wall_time, entry.step, omission=entry.omission.encode()
                ).encode()
                entry.written = count


def _key(omission: events.Omission) -> tuple[str, str, str, str]:
    return omission.kind, omission.what, omission.reason, omission.graph_id
