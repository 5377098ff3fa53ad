"""Healthy executions of groups, which wait to be written and are encoded together."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import queue_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.dump.encode.queue_rows import QueueRows
    from tfdbg_tui.dump.encode.records import GroupRecords

_RECORD_BYTES = 150
_PART_BYTES = 1 << 22

IntArray = npt.NDArray[np.int64]


def parts(taken: QueueRows, groups: Sequence[GroupRecords | None]) -> Iterator[QueueRows]:
    """Yield the executions in parts that make about `_PART_BYTES` of records at most."""
    largest = max((len(group.plan.rows) for group in groups if group is not None), default=1)
    begins = taken.heads()[:: max(1, _PART_BYTES // (largest * _RECORD_BYTES))].tolist()
    for begin, end in itertools.pairwise((*begins, len(taken.rows))):
        yield taken[begin:end]


class HealthyBatch:
    """Healthy executions of groups, in their order.

    Those that differ in nothing but the iteration of a loop are encoded together.

    Args:
        taken: Their rows.
        groups: The groups that the rows refer to.
        causes: Of each group, the training step and the serial of the causing execution.
    """

    def __init__(
        self,
        taken: QueueRows,
        groups: Sequence[GroupRecords | None],
        causes: Sequence[tuple[int | None, int]],
    ) -> None:
        self._taken = taken
        self._groups = groups
        self._causes = causes
        self._heads = taken.heads()
        self._which = taken.which[self._heads]
        self._sizes = [len(group.plan.rows) if group is not None else 0 for group in groups]
        self.wall_time = time.time()
        self.count = int(np.array(self._sizes)[self._which].sum())

    @property
    def nbytes(self) -> int:
        """About as many bytes of records."""
        return self.count * _RECORD_BYTES

    @property
    def graph_id(self) -> str:
        """One of the graphs that were executed."""
        return self._group(self._which[0]).plan.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        items = [b""] * len(self._heads)
        for number in np.unique(self._which).tolist():
            places = np.flatnonzero(self._which == number)
            for alike in self._alike(number, places):
                for place, records in zip(
                    alike.tolist(), self._records(number, alike), strict=True
                ):
                    items[place] = records
        return zip(items, (self._sizes[number] for number in self._which.tolist()), strict=True)

    def _group(self, number: int) -> GroupRecords:
        group = self._groups[number]
        assert group is not None
        return group

    def _alike(self, number: int, places: IntArray) -> Iterator[IntArray]:
        """Yield the executions of a group whose tensors have the same sizes."""
        sizes = self._sizes_of(number, places)
        if not sizes.shape[1] or (sizes == sizes[0]).all():
            yield places
            return
        _, kinds = np.unique(sizes, axis=0, return_inverse=True)
        kinds = kinds.reshape(-1)
        for kind in range(kinds.max() + 1):
            yield places[kinds == kind]

    def _sizes_of(self, number: int, places: IntArray) -> IntArray:
        """Return the sizes that were not known while tracing, ``[executions, sizes]``."""
        count = self._group(number).plan.sizes_put
        parts = np.arange(queue_rows.rows_for(count))
        rows = self._taken.rows[self._heads[places][:, None] + parts, queue_rows.SIZES :]
        return rows.reshape(len(places), -1)[:, :count]

    def _records(self, number: int, alike: IntArray) -> list[bytes]:
        step, serial = self._causes[number]
        sizes = self._sizes_of(number, alike[:1]).tobytes()
        filled = self._group(number).healthy(sizes, stepped=step is not None)
        iterations = self._taken.rows[self._heads[alike], queue_rows.ITERATION]
        return filled.stamped(self.wall_time, step, serial, iterations)
