"""Patterns of bad tensors of which all has been told, so that a graph hands over a key instead.

In a training that has turned to NaN one execution is like the other, and most tensors are NaN all
over because others are.  The *sources* are those of which that cannot be said beforehand.  Once
the counts of all tensors have been found to follow from those of the sources, and tell nothing
new, the pattern is *settled*: a graph that counts the same in the sources hands over its key alone,
where else it would hand over the elements of all tensors, or call Python.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode.queue_rows import FIRST_SETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MAX_PATTERNS = 64
_MAX_SIZE = 1 << 24
"""Up to here graphs count exactly."""

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Makers(NamedTuple):
    """What makes a tensor NaN all over.

    Attributes:
        rows: Rows of tensors that it is computed from.
        all: Whether all of these must be NaN all over, or else one.
    """

    rows: Sequence[int]
    all: bool

    def have(self, is_nan: Callable[[int], bool]) -> bool:
        """Return whether they do, given which rows are NaN all over."""
        return (all if self.all else any)(map(is_nan, self.rows))


class Source(NamedTuple):
    """Sources of one shape and type, in which a graph counts together.

    Attributes:
        rows: Their rows.
        size: How many elements each has; None where that is not known while tracing.
    """

    rows: Sequence[int]
    size: int | None

    @property
    def tests(self) -> Sequence[str]:
        """The types of the ops that tell which elements of each row are counted."""
        return ("IsNan", "IsFinite", "IsInf") if self.size is None else ("IsNan",)


_COUNTED: dict[str, Callable[[IntArray], IntArray]] = {
    "IsNan": lambda counts: counts[:, 3],
    "IsFinite": lambda counts: counts[:, 0] - counts[:, 1:].sum(axis=1),
    "IsInf": lambda counts: counts[:, 1] + counts[:, 2],
}
"""What each test finds, given size, -∞, +∞ and NaN."""


class SettledPatterns:
    """The settled patterns of a group.

    Args:
        counted: See `GroupPlan.counted`.
        looks: See `GroupPlan.looks`.
        sources: All sources.
        makers: What makes each of the other rows NaN all over.
        unsized: How many rows have sizes that are not known while tracing.
        number: The number of the group.

    Attributes:
        number: The number of the group.
        sources: The sources.
        weights: A random number for each one that the graph counts: in each source by each test;
            the finite elements of all sized sources together; two for each look, of which the
            second tells if something is bad; whether each unsized row has elements; whether what
            runs is measured.  The graph adds up the products.  That another execution has the sum
            of a settled pattern is as likely as one in 2⁶⁴.
    """

    def __init__(
        self,
        counted: Sequence[int],
        looks: Mapping[int, int],
        sources: Sequence[Source],
        makers: Mapping[int, Makers],
        unsized: int,
        number: int,
    ) -> None:
        self.number = number
        self.sources = sources
        self._index = {row: index for index, row in enumerate(counted)}
        self._looks = {self._index[row]: look for row, look in looks.items()}
        self._makers = makers
        self._sized = [
            self._index[row] for alike in sources if alike.size is not None for row in alike.rows
        ]
        self._unsized = unsized
        counts = sum(len(alike.rows) * len(alike.tests) for alike in sources)
        seen = 2 * len(set(looks.values()))
        whole = np.iinfo(np.int64)
        self.weights = np.random.default_rng(number).integers(
            whole.min, whole.max, counts + 1 + seen + unsized + 1, np.int64
        )
        self._tried: set[bytes] = set()
        self._nan: list[tuple[IntArray, BoolArray]] = []

    @property
    def is_full(self) -> bool:
        """Whether it takes no more."""
        return len(self._tried) >= _MAX_PATTERNS

    def settle(self, counts: IntArray) -> tuple[int, int] | None:
        """Note an execution that tells nothing new.

        Args:
            counts: Size, -∞, +∞ and NaN of each counted row, ``[rows, 4]``.

        Returns:
            The sum that the graph finds, and the key of the pattern; None where the pattern is
            known, or the sources do not tell all.
        """
        if self.is_full or counts.tobytes() in self._tried:
            return None
        self._tried.add(counts.tobytes())
        sizes, nan = counts[:, 0], counts[:, 3].copy()
        # A graph counts infinity of both signs together.
        is_exact = (sizes > 0) & (sizes <= _MAX_SIZE) & ~counts[:, 1:3].any(axis=1)
        is_exact &= sizes[self._sized].sum() <= _MAX_SIZE
        is_whole, is_seen = nan == sizes, self._seen(nan)
        if not (is_exact.all() and self._follow(is_whole, nan == 0, is_seen)):
            return None
        self._nan.append((nan, is_whole))
        return self._sum(counts, is_seen), FIRST_SETTLED - len(self._nan) + 1

    def counts(self, key: int, sizes: IntArray) -> IntArray:
        """Return size, -∞, +∞ and NaN of each counted row by the key of the pattern.

        Args:
            key: The key.
            sizes: The sizes of the rows.
        """
        counts = np.zeros((len(sizes), 4), np.int64)
        counts[:, 0] = sizes
        nan, is_whole = self._nan[FIRST_SETTLED - key]
        counts[:, 3] = np.where(is_whole, sizes, nan)
        return counts

    def _seen(self, nan: IntArray) -> BoolArray:
        """Return by which looks the graph sees that something is bad."""
        seen = np.zeros(len(set(self._looks.values())), bool)
        seen[[look for index, look in self._looks.items() if nan[index]]] = True
        return seen

    def _follow(self, is_whole: BoolArray, is_fine: BoolArray, is_seen: BoolArray) -> bool:
        """Return whether all rows but the sources follow from these and from what is seen.

        Args:
            is_whole: Whether each row is NaN all over.
            is_fine: Whether each is healthy.
            is_seen: By which looks the graph sees something bad.
        """
        return all(
            self._is_made(index, makers, is_whole)
            or (is_fine[index] and not is_seen[self._looks[index]])
            for index, makers in ((self._index[row], made) for row, made in self._makers.items())
        )

    def _is_made(self, index: int, makers: Makers, is_whole: BoolArray) -> bool:
        return bool(is_whole[index]) and makers.have(lambda row: is_whole[self._index[row]])

    def _sum(self, counts: IntArray, is_seen: BoolArray) -> int:
        found = [
            _COUNTED[test](counts[[self._index[row] for row in alike.rows]])
            for alike in self.sources
            for test in alike.tests
        ]
        finite = _COUNTED["IsFinite"](counts[self._sized]).sum()
        # A look is a number that says nothing, and one.
        seen = np.stack((np.zeros(len(is_seen)), is_seen), axis=1).ravel()
        numbers = [*itertools.chain(*found), finite, *seen, *[1] * self._unsized, 0]
        return int((np.array(numbers, np.int64) * self.weights).sum())
