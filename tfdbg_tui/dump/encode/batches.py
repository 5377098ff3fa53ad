"""Executions of groups whose rows in the queue tell all, which are encoded together."""

from __future__ import annotations

import itertools
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


def parts(taken: QueueRows, groups: Sequence[GroupRecords]) -> Iterator[QueueRows]:
    """Yield the executions in parts that make about `_PART_BYTES` of records at most."""
    largest = max((len(group.plan.rows) for group in groups), default=1)
    begins = taken.heads()[:: max(1, _PART_BYTES // (largest * _RECORD_BYTES))].tolist()
    for begin, end in itertools.pairwise((*begins, len(taken.rows))):
        yield taken[begin:end]


class RowsBatch:
    """Executions of groups, in their order: healthy ones, and those that the graph has counted.

    Those that differ in nothing but the cause and the iteration of a loop are encoded together.

    Args:
        taken: Their rows.
        groups: The groups that the rows refer to.
    """

    def __init__(self, taken: QueueRows, groups: Sequence[GroupRecords]) -> None:
        self._taken = taken
        self._groups = groups
        self._heads = taken.heads()
        self._which = taken.which[self._heads]
        self._sizes = [len(group.plan.rows) for group in groups]
        self.count = int(np.array(self._sizes)[self._which].sum())

    @property
    def nbytes(self) -> int:
        """About as many bytes of records."""
        return self.count * _RECORD_BYTES

    @property
    def is_bad(self) -> bool:
        """Whether a tensor in them is bad: only those of healthy ones have no key."""
        return bool(self._taken.rows[self._heads, queue_rows.KEY].any())

    @property
    def graph_id(self) -> str:
        """One of the graphs that were executed."""
        group = self._groups[int(self._which[0])]
        return group.plan.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        items = np.empty(len(self._heads), object)
        for number in np.unique(self._which).tolist():
            places = np.flatnonzero(self._which == number)
            for alike in self._alike(number, places):
                items[alike] = self._records(number, alike)
        sizes = np.array(self._sizes)[self._which]
        return zip(items.tolist(), sizes.tolist(), strict=True)

    def _alike(self, number: int, places: IntArray) -> Iterator[IntArray]:
        """Yield the executions of a group with the same numbers, and all or none with a step."""
        stepped = np.array([[cause.step is not None] for cause in self._taken.causes])
        keys = self._taken.rows[self._heads[places], queue_rows.KEY]
        for key in np.unique(keys).tolist():
            some = places[keys == key]
            numbers = self._rows_of(number, some)[..., queue_rows.SIZES :].reshape(len(some), -1)
            caused = self._taken.caused[self._heads[some]]
            yield from _alike(some, np.hstack((numbers, stepped[caused])))

    def _rows_of(self, number: int, places: IntArray) -> IntArray:
        """Return the rows of executions with one key, ``[executions, rows, WIDTH]``."""
        heads = self._heads[places]
        key = int(self._taken.rows[heads[0], queue_rows.KEY])
        parts = np.arange(self._groups[number].plan.rows_put(key))
        rows: IntArray = self._taken.rows[heads[:, None] + parts]
        return rows

    def _records(self, number: int, alike: IntArray) -> list[bytes]:
        heads = self._heads[alike]
        causes, caused = self._taken.causes, self._taken.caused[heads]
        stepped = causes[caused[0]].step is not None
        (rows,) = self._rows_of(number, alike[:1])
        filled = self._groups[number].of_rows(rows, stepped=stepped)
        return filled.stamped(causes, caused, self._taken.rows[heads, queue_rows.ITERATION])


def _alike(places: IntArray, numbers: IntArray) -> Iterator[IntArray]:
    """Yield those of some places that have the same numbers."""
    if (numbers == numbers[0]).all():
        yield places
        return
    alike: dict[bytes, list[int]] = {}
    for place, row in zip(places.tolist(), numbers, strict=True):
        alike.setdefault(row.tobytes(), []).append(place)
    yield from map(np.array, alike.values())
