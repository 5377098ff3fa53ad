"""What waits to be written: the values of executions of groups."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.groups import Group, Values

_RECORD_BYTES = 150
_CHUNK_BYTES = 1 << 22
"""About as many bytes of records are made at once."""


class Batch:
    """The values of one execution of a group."""

    __slots__ = ("count", "group", "iteration", "nbytes", "serial", "step", "values", "wall_time")

    def __init__(self, group: Group, values: Values, step: int | None, serial: int):
        self.group = group
        self.values = values
        self.step = step
        self.serial = serial
        self.iteration = int(values["iteration"][0].reshape(-1)[0]) if group.iterated else 0
        self.wall_time = time.time()
        self.count = len(group.rows)
        self.nbytes = sum(array.nbytes for arrays in values.values() for array in arrays)

    @property
    def graph_id(self) -> str:
        """The graph that was executed."""
        return self.group.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        return self.group.records.encode(self)


class HealthyBatch:
    """Healthy executions of groups, in their order.

    Those that differ in nothing but the iteration of a loop are encoded together.
    """

    def __init__(self) -> None:
        self.count = 0
        self.wall_time = 0.0
        self._counts: list[int] = []
        self._alike: dict[tuple[Group, bytes, int | None, int], list[tuple[int, int]]] = {}

    def add(
        self, group: Group, sizes: bytes, iteration: int, step: int | None, serial: int
    ) -> None:
        """Add an execution.

        Args:
            group: The group.
            sizes: What was not known while tracing, as an int64 array in bytes.
            iteration: Of the loop, if the group is in one.
            step: Training step.
            serial: Serial of the causing execution.
        """
        self.wall_time = self.wall_time or time.time()
        alike = self._alike.setdefault((group, sizes, step, serial), [])
        alike.append((len(self._counts), iteration))
        self._counts.append(len(group.rows))
        self.count += len(group.rows)

    @property
    def nbytes(self) -> int:
        """About as many bytes of records."""
        return self.count * _RECORD_BYTES

    @property
    def is_full(self) -> bool:
        """Whether it is time for another one."""
        return self.nbytes > _CHUNK_BYTES

    @property
    def graph_id(self) -> str:
        """One of the graphs that were executed."""
        group, *_ = next(iter(self._alike))
        return group.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Yield items for the trace file and the number of records in each."""
        items = [b""] * len(self._counts)
        for (group, sizes, step, serial), executions in self._alike.items():
            filled = group.records.healthy(sizes, stepped=step is not None)
            places, iterations = zip(*executions, strict=True)
            stamped = filled.stamped(self.wall_time, step, serial, iterations)
            for place, records in zip(places, stamped, strict=True):
                items[place] = records
        return zip(items, self._counts, strict=True)
