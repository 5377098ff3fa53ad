"""Executions that are written as repetitions of earlier ones; see `wire.repetitions`."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import repetitions, tfrecord
from tfdbg_tui.wire.events import Repetitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.dump.encode.causes import Cause

IntArray = npt.NDArray[np.int64]


class Repeats(enum.Enum):
    """Which executions may be written as repetitions."""

    NONE = enum.auto()
    IN_CALLS = enum.auto()
    """Those like an earlier one in the same call."""
    ACROSS_CALLS = enum.auto()
    """Those like an earlier one."""


class InOrder:
    """Executions in their order, most of which may be written as repetitions.

    Args:
        alike: Executions with the same number differ in nothing but their stamps; those with -1
            are like no others.
        causes: What causes executions.
        caused: Which of the causes each has.
        iterations: The iteration of each.
        counts: How many records each has.
        repeats: Which executions may be repetitions.

    Attributes:
        whole: Which executions are written whole: those that may not be repetitions, and the last
            of all, as repetitions are told of by the record that they come before.
    """

    def __init__(
        self,
        alike: IntArray,
        causes: Sequence[Cause],
        caused: IntArray,
        iterations: IntArray,
        counts: IntArray,
        repeats: Repeats,
    ) -> None:
        self._alike = alike
        self._causes = causes
        self._caused = caused
        self._iterations = iterations
        self._counts = counts
        self.whole = alike < 0
        self.whole[-1] = True
        self.whole[self._first(repeats)] = True

    def _first(self, repeats: Repeats) -> IntArray:
        """Return which executions are the first of those that may repeat them."""
        if repeats is Repeats.NONE:
            return np.arange(len(self._alike))
        alike = self._alike
        if repeats is Repeats.IN_CALLS:
            serials = np.array([cause.serial for cause in self._causes], np.int64)
            calls, call_of_cause = np.unique(serials, return_inverse=True)
            alike = alike * len(calls) + call_of_cause[self._caused]
        firsts: IntArray = np.unique(alike, return_index=True)[1]
        return firsts

    def items(self, records: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield what is written, and how many records each item stands for.

        Args:
            records: Those of each execution that is written whole.
        """
        written = done = 0
        first: dict[int, tuple[int, int]] = {}
        for place in np.flatnonzero(self.whole).tolist():
            item = records[place]
            if place > done:
                item = _with_appended(item, self._repetitions(slice(done, place), first, written))
            yield item, int(self._counts[done : place + 1].sum())
            first.setdefault(int(self._alike[place]), (written, len(item)))
            written, done = written + len(item), place + 1

    def _repetitions(self, places: slice, first: dict[int, tuple[int, int]], written: int) -> bytes:
        """Return what tells of some repetitions.

        Args:
            places: The executions.
            first: Where the first of those alike is written, and how many bytes it has.
            written: Where the record is that they come before.
        """
        alike, which = np.unique(self._alike[places], return_inverse=True)
        used, caused = np.unique(self._caused[places], return_inverse=True)
        groups = [first[number] for number in alike.tolist()]
        causes = [self._causes[number] for number in used.tolist()]
        executions = np.stack((which, caused, self._iterations[places] & 0xFFFFFFFF), axis=1)
        repeated = Repetitions(
            distances=[written - start for start, _ in groups],
            sizes=[size for _, size in groups],
            wall_times=[cause.wall_time for cause in causes],
            steps=[-1 if cause.step is None else cause.step for cause in causes],
            serials=[cause.serial for cause in causes],
            executions=executions.astype("<u4").tobytes(),
        )
        return repetitions.appended(repeated)


def _with_appended(records: bytes, appended: bytes) -> bytes:
    """Return records with something behind the payload of the first."""
    end = tfrecord.HEADER_SIZE + int.from_bytes(records[:8], "little")
    first = tfrecord.frame(records[tfrecord.HEADER_SIZE : end] + appended)
    return first + records[end + tfrecord.FOOTER_SIZE :]
