"""Tensors whose elements a graph has handed over whole, and what is counted of them.

To hand over all elements of small tensors costs a graph less than to look at them, or to count in
them.  Those of many executions are counted together.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import summaries
from tfdbg_tui.dump.encode.extremes import extremes_of_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan

WORD_BYTES = 4
"""Elements are handed over as so wide numbers."""

_WORDS_AT_ONCE = 1 << 17
"""So many words are looked at together, so that they stay in the CPU's cache."""

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


class Words(NamedTuple):
    """What some executions have handed over.

    The words of an execution are the numbers of dimensions of those tensors whose shapes it tells,
    these dimensions, and then the elements of all tensors.

    Attributes:
        parts: Arrays with the words of these and maybe other executions.
        which: In which of them those of each execution are.
        starts: Where these begin there.
        sizes: How many each has.
    """

    parts: Sequence[Float32Array]
    which: IntArray
    starts: IntArray
    sizes: IntArray

    @classmethod
    def in_order(cls, parts: Sequence[Float32Array], sizes: IntArray) -> Words:
        """Return the words of executions that are one after the other in the arrays."""
        lengths = np.array([len(part) for part in parts])
        begins = np.cumsum(lengths) - lengths
        ends = np.cumsum(sizes)
        which = np.searchsorted(begins + lengths, ends)
        return cls(parts, which, ends - sizes - begins[which], sizes)

    def of(self, places: IntArray) -> Words:
        """Return those of some of the executions."""
        return Words(self.parts, self.which[places], self.starts[places], self.sizes[places])

    def block(self, places: IntArray) -> Float32Array:
        """Return the words of executions that have equally many, ``[executions, words]``."""
        changes = np.flatnonzero(np.diff(self.which[places])) + 1
        blocks = [self._block_of_part(some) for some in np.split(places, changes)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _block_of_part(self, places: IntArray) -> Float32Array:
        words: Float32Array = self.parts[self.which[places[0]]]
        starts, size = self.starts[places], int(self.sizes[places[0]])
        if (np.diff(starts) == size).all():
            begin = int(starts[0])
            return words[begin : begin + len(places) * size].reshape(len(places), size)
        # The words from each place on: so whole rows are copied, not single words.
        shape, strides = (len(words) - size + 1, size), (WORD_BYTES, WORD_BYTES)
        windows: Float32Array = np.ndarray(shape, words.dtype, words, strides=strides)
        return windows[starts]


class Layout:
    """Where the elements of each tensor are among the words of an execution.

    Args:
        plan: Of the group of tensors.
        shapes: Those of the tensors.
        begin: Where the elements begin.

    Attributes:
        is_countable: Whether `counts` knows how: of floats of one type, at least one in each row.
    """

    def __init__(self, plan: GroupPlan, shapes: Sequence[tuple[int, ...]], begin: int) -> None:
        self._dtypes = [handed.dtype for handed in plan.handed_over]
        self._shapes = shapes
        sizes = [
            math.prod(shape) * dtype.itemsize // WORD_BYTES
            for shape, dtype in zip(shapes, self._dtypes, strict=True)
        ]
        self._bounds = list(itertools.accumulate(sizes, initial=begin))
        parts = [self._part(*plan.places[row]) for row in plan.counted]
        self._order = np.argsort([start for start, _ in parts])
        words = self._dtypes[0].itemsize // WORD_BYTES
        starts, ends = (np.array(parts)[self._order].T - begin) // words
        self._starts, self._sizes = starts, ends - starts
        is_of_floats = len(set(self._dtypes)) == 1 and self._dtypes[0].kind == "f"
        self.is_countable = is_of_floats and bool(self._sizes.all())

    def _part(self, argument: int, place: int | None) -> tuple[int, int]:
        begin, end = self._bounds[argument], self._bounds[argument + 1]
        if place is None:
            return begin, end
        size = (end - begin) // self._shapes[argument][0]
        return begin + place * size, begin + (place + 1) * size

    def arrays(self, words: Float32Array) -> list[Any]:
        """Return the tensors of an execution; see `GroupPlan.places`."""
        parts = itertools.pairwise(self._bounds)
        return [
            words[start:end].view(dtype).reshape(shape)
            for (start, end), dtype, shape in zip(parts, self._dtypes, self._shapes, strict=True)
        ]

    def counts(self, block: Float32Array) -> IntArray:
        """Return size, -∞, +∞ and NaN of the rows in `GroupPlan.counted` in each execution."""
        counts = np.empty((len(block), len(self._order), 4), np.int64)
        elements = self._elements(block)
        counts[:, self._order] = summaries.count_bad_of_each(elements, self._starts, self._sizes)
        return counts

    def extremes(self, block: Float32Array) -> npt.NDArray[np.float64]:
        """Return the smallest and largest finite element of the rows in `GroupPlan.counted`."""
        found = np.empty((len(block), len(self._order), 2))
        found[:, self._order] = extremes_of_parts(self._elements(block), self._starts)
        return found

    def _elements(self, block: Float32Array) -> Any:
        return block[:, self._bounds[0] :].view(self._dtypes[0])


class Layouts:
    """Finds the layouts of the executions of a group."""

    def __init__(self, plan: GroupPlan) -> None:
        self._plan = plan
        self._known: dict[bytes, Layout] = {}

    @cached_property
    def _num_shapes(self) -> int:
        """The number of tensors whose shapes each execution hands over."""
        return sum(handed.shape is None for handed in self._plan.handed_over)

    def alike(self, words: Words) -> Iterator[tuple[Layout, IntArray, Float32Array]]:
        """Yield executions that have one layout: the layout, which they are, and their words."""
        for size in np.unique(words.sizes).tolist():
            places = np.flatnonzero(words.sizes == size)
            at_once = max(1, _WORDS_AT_ONCE // size)
            for start in range(0, len(places), at_once):
                some = places[start : start + at_once]
                yield from self._alike(some, words.block(some))

    def _alike(
        self, places: IntArray, block: Float32Array
    ) -> Iterator[tuple[Layout, IntArray, Float32Array]]:
        while len(places):
            head = self._head(block[0])
            is_alike = (block[:, : len(head)] == head).all(axis=1)
            if is_alike.all():
                yield self._layout(head), places, block
                return
            yield self._layout(head), places[is_alike], block[is_alike]
            places, block = places[~is_alike], block[~is_alike]

    def _head(self, words: Float32Array) -> Float32Array:
        """Return the words before the elements."""
        return words[: self._num_shapes + int(words[: self._num_shapes].sum())]

    def _layout(self, head: Float32Array) -> Layout:
        layout = self._known.get(head.tobytes())
        if layout is None:
            ends = np.cumsum([self._num_shapes, *map(int, head[: self._num_shapes])]).tolist()
            handed = (tuple(map(int, head[a:b])) for a, b in itertools.pairwise(ends))
            shapes = [
                next(handed) if tensor.shape is None else tensor.shape
                for tensor in self._plan.handed_over
            ]
            layout = self._known[head.tobytes()] = Layout(self._plan, shapes, len(head))
        return layout
