"""Executions of groups whose rows in the queue tell all, which are encoded together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import queue_rows
from tfdbg_tui.dump.encode.queue_rows import QueueRows
from tfdbg_tui.dump.encode.records import Batch
from tfdbg_tui.dump.encode.repetitions import InOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfdbg_tui.dump.encode.records import GroupRecords
    from tfdbg_tui.dump.encode.repetitions import Repeats

_RECORD_BYTES = 150
_PART_BYTES = 1 << 22
_FEW_ROWS = 1 << 12
"""A batch of more rows is encoded by itself, as that takes no longer."""
_MEASURED_BYTES = 1 << 20
"""About so much is put together at once, so that it stays in the CPU's cache."""

IntArray = npt.NDArray[np.int64]


class TraceBatch(Protocol):
    """Executions of instrumented tensors of graphs, not yet encoded."""

    count: int

    @property
    def nbytes(self) -> int:
        """About as many bytes wait."""

    @property
    def is_bad(self) -> bool:
        """Whether a tensor in them is."""

    @property
    def graph_id(self) -> str:
        """The graph that was executed."""

    def encode(self) -> Iterable[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""


def parts(taken: QueueRows, groups: Sequence[GroupRecords]) -> Iterator[QueueRows]:
    """Yield the executions in parts that make about `_PART_BYTES` of records at most."""
    largest = max((len(group.plan.rows) for group in groups), default=1)
    begins = taken.heads()[:: max(1, _PART_BYTES // (largest * _RECORD_BYTES))].tolist()
    for begin, end in itertools.pairwise((*begins, len(taken.rows))):
        yield taken[begin:end]


def joined(queued: Sequence[TraceBatch], repeats: Repeats) -> Iterator[TraceBatch]:
    """Yield executions in their order, those joined that follow each other and whose rows tell all.

    In sessions those of each run are queued by themselves, and to encode them so takes ten times as
    long.

    Args:
        queued: The executions.
        repeats: Which of those that come together may be written as repetitions of others.
    """
    few: list[Executions] = []
    for batch in queued:
        executions = _executions_of(batch)
        if executions is not None and len(executions.taken.rows) <= _FEW_ROWS:
            few.append(executions)
            continue
        yield from _together(few, repeats)
        few.clear()
        yield batch
    yield from _together(few, repeats)


class Executions(NamedTuple):
    """Executions of groups, in their order: healthy ones, and those that the graph has counted.

    Attributes:
        taken: Their rows.
        groups: The groups that the rows refer to.
        extremes: Of the healthy ones that were measured, by their keys.
    """

    taken: QueueRows
    groups: Sequence[GroupRecords]
    extremes: Mapping[int, npt.NDArray[np.float64]]


def _executions_of(batch: TraceBatch) -> Executions | None:
    """Return executions as their rows tell them; None where these do not tell all."""
    if isinstance(batch, RowsBatch):
        return batch.executions
    rows = batch.rows if isinstance(batch, Batch) else None
    if not isinstance(batch, Batch) or rows is None:
        return None
    first = np.zeros(len(rows), np.int64)
    return Executions(QueueRows(first, [batch.cause], first, rows), [batch.records], {})


def _together(few: Sequence[Executions], repeats: Repeats) -> Iterator[RowsBatch]:
    """Yield executions whose rows tell all."""
    if not few:
        return
    groups = list(dict.fromkeys(group for some in few for group in some.groups))
    causes = list(dict.fromkeys(cause for some in few for cause in some.taken.causes))
    numbers = {group: number for number, group in enumerate(groups)}
    caused = {cause: number for number, cause in enumerate(causes)}
    taken = QueueRows(
        np.concatenate([np.array([numbers[g] for g in e.groups])[e.taken.which] for e in few]),
        causes,
        np.concatenate(
            [np.array([caused[c] for c in e.taken.causes])[e.taken.caused] for e in few]
        ),
        np.concatenate([e.taken.rows for e in few]),
    )
    extremes = {key: found for some in few for key, found in some.extremes.items()}
    for part in parts(taken, groups):
        yield RowsBatch(Executions(part, groups, extremes), repeats)


class RowsBatch:
    """Executions of groups whose rows tell all.

    Those that differ in nothing but the cause and the iteration of a loop are encoded together, and
    those of a group that were measured.

    Args:
        executions: The executions.
        repeats: Which of them may be written as repetitions of others.

    Attributes:
        executions: As above.
    """

    def __init__(self, executions: Executions, repeats: Repeats) -> None:
        self.executions = executions
        self._repeats = repeats
        self._taken, self._groups, self._extremes = executions
        self._heads = self._taken.heads()
        self._which = self._taken.which[self._heads]
        self._sizes = [len(group.plan.rows) for group in self._groups]
        self.count = int(np.array(self._sizes)[self._which].sum())

    @property
    def nbytes(self) -> int:
        """About as many bytes of records."""
        return self.count * _RECORD_BYTES

    @property
    def is_bad(self) -> bool:
        """Whether a tensor in them is bad, and was counted."""
        return bool((self._taken.rows[self._heads, queue_rows.KEY] < 0).any())

    @property
    def graph_id(self) -> str:
        """One of the graphs that were executed."""
        group = self._groups[int(self._which[0])]
        return group.plan.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        items = np.empty(len(self._heads), object)
        sets: list[tuple[int, IntArray]] = []
        for number in np.unique(self._which).tolist():
            places = np.flatnonzero(self._which == number)
            is_measured = self._taken.rows[self._heads[places], queue_rows.KEY] > 0
            sets += [(number, alike) for alike in self._alike(number, places[~is_measured])]
            for some in self._measured(number, places[is_measured]):
                items[some] = self._measured_records(number, some)
        sequence = self._sequence([places for _, places in sets])
        for number, alike in sets:
            whole = alike[sequence.whole[alike]]
            items[whole] = self._records(number, whole)
        return sequence.items(items.tolist())

    def _sequence(self, sets: Sequence[IntArray]) -> InOrder:
        """Return the executions in their order, given which of them are alike."""
        alike = np.full(len(self._heads), -1)
        for number, places in enumerate(sets):
            alike[places] = number
        return InOrder(
            alike,
            self._taken.causes,
            self._taken.caused[self._heads],
            self._taken.rows[self._heads, queue_rows.ITERATION],
            np.array(self._sizes)[self._which],
            self._repeats,
        )

    def _alike(self, number: int, places: IntArray) -> Iterator[IntArray]:
        """Yield the executions of a group with the same numbers, and all or none with a step."""
        stepped = self._are_stepped()[:, None]
        keys = self._taken.rows[self._heads[places], queue_rows.KEY]
        for key in np.unique(keys).tolist():
            some = places[keys == key]
            numbers = self._rows_of(number, some)[..., queue_rows.SIZES :].reshape(len(some), -1)
            caused = self._taken.caused[self._heads[some]]
            yield from _alike(some, np.hstack((numbers, stepped[caused])))

    def _are_stepped(self) -> npt.NDArray[np.bool_]:
        """Return which causes have a step."""
        return np.array([cause.step is not None for cause in self._taken.causes])

    def _measured(self, number: int, places: IntArray) -> Iterator[IntArray]:
        """Yield some executions of a group, all or none with a step, and not too many."""
        at_once = max(1, _MEASURED_BYTES // (self._sizes[number] * _RECORD_BYTES))
        is_stepped = self._are_stepped()[self._taken.caused[self._heads[places]]]
        for some in (places[is_stepped], places[~is_stepped]):
            yield from (some[start : start + at_once] for start in range(0, len(some), at_once))

    def _measured_records(self, number: int, places: IntArray) -> list[bytes]:
        heads, rows = self._heads[places], self._rows_of(number, places)
        extremes = [self._extremes[key] for key in rows[:, 0, queue_rows.KEY].tolist()]
        causes, caused = self._taken.causes, self._taken.caused[heads]
        return self._groups[number].measured(rows, np.array(extremes), causes, caused)

    def _rows_of(self, number: int, places: IntArray) -> IntArray:
        """Return those of executions with one key, or measured: ``[executions, rows, WIDTH]``."""
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
