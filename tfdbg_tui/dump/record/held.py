"""Events that wait in memory for something bad, where the files are as large as they may be."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.dump.encode import executions

if TYPE_CHECKING:
    from tfdbg_tui.dump.encode.batches import TraceBatch
    from tfdbg_tui.dump.encode.executions import Execution

_SHARE = 10
"""The part of the files, one tenth, that is kept in memory."""
_MOST_BYTES = 64 << 20
_LEAST_ROUNDS = 5
"""Graph executions are queued up to a tenth of a second after the executions that they belong to,
so the newest rounds are kept however large they are."""


class Events(NamedTuple):
    """What the program's threads have queued meanwhile.

    Attributes:
        executions: Executions, in order.
        traces: Executions of instrumented tensors of graphs, in order.
    """

    executions: list[Execution]
    traces: list[TraceBatch]

    @property
    def nbytes(self) -> int:
        """About as much memory they take."""
        size = sum(map(executions.num_bytes, self.executions))
        return size + sum(batch.nbytes for batch in self.traces)

    @property
    def counts(self) -> tuple[int, int]:
        """How many records they make: of executions, and of graph executions."""
        return len(self.executions), sum(batch.count for batch in self.traces)

    @property
    def are_bad(self) -> bool:
        """Whether a tensor in them is."""
        return any(map(executions.is_bad, self.executions)) or any(
            batch.is_bad for batch in self.traces
        )


class HeldEvents:
    """The newest events while nothing is bad, in the rounds in which they were taken.

    Args:
        size: How many bytes the files hold; at least a tenth of that is kept, or 64 MB if that is
            less.
    """

    def __init__(self, size: int) -> None:
        self._most = min(size // _SHARE, _MOST_BYTES)
        self._rounds: deque[tuple[Events, int]] = deque()
        self._bytes = 0

    def add(self, new: Events) -> Events:
        """Keep new events; return the oldest, which are dropped for it."""
        size = new.nbytes
        self._rounds.append((new, size))
        self._bytes += size
        dropped = Events([], [])
        while len(self._rounds) > _LEAST_ROUNDS and self._bytes - self._rounds[0][1] > self._most:
            oldest, size = self._rounds.popleft()
            self._bytes -= size
            dropped.executions.extend(oldest.executions)
            dropped.traces.extend(oldest.traces)
        return dropped

    def all(self) -> Events:
        """Return all that is kept."""
        return Events(
            [execution for events, _ in self._rounds for execution in events.executions],
            [batch for events, _ in self._rounds for batch in events.traces],
        )
