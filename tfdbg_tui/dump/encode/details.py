"""Details: everything that is counted of the bad tensors of one execution of a group."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import queue_rows, summaries
from tfdbg_tui.dump.encode.extremes import (
    extremes_in_parts,
    extremes_of,
    extremes_of_each,
    numbers_of_keys,
)
from tfdbg_tui.wire import bad_elements
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Hashable
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.dump.encode.elements import Layout
    from tfdbg_tui.dump.encode.group_plan import GroupPlan

ROW, RANK = 0, 1
SIZE_TO_NAN = slice(2, 6)
BAD = slice(3, 6)
SIZE_TO_POSITIVE = slice(2, 9)
EXTREMES = slice(9, 11)
BAD_ELEMENTS = slice(11, 11 + bad_elements.WIDTH)
EXTENSIONS = slice(EXTREMES.start, BAD_ELEMENTS.stop)
EXTENSIONS_WIDTH = EXTENSIONS.stop - EXTENSIONS.start
WIDTH = BAD_ELEMENTS.stop
"""Columns of a detail: number of the row, rank, and `HealthCounts.values`."""

_MAX_SORTED = 64
"""For so many combinations of bad tensors and sizes it is kept which of them are small."""
MAX_PATTERNS = 1000
"""So many patterns of a group are kept as known: there may be no end of them."""

_DOUBLE = 2  # DataType
_NEGATIVE = 6
"""From this column on NaN stands where only NaN and infinity were counted."""
_MAX_DETAILED = 1 << 20
"""Larger tensors are detailed only where they are bad, or an input of what is."""
_COUNTED_TOGETHER = 1 << 15
"""Up to so many elements, to copy a tensor next to others is cheaper than to look at it alone."""
_COMPARED_TOGETHER = 1 << 12
"""The same where the smallest and the largest element are looked for."""

Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]
_ArgumentRows = tuple[int, list[int]]
"""An argument of `Group.detail`, and the rows that are in it."""
_Counts = dict[int, Sequence[int]]
"""Size, -∞, +∞ and NaN of rows."""
_HEALTHY = 1, 0, 0, 0


def is_whole(found: Float64Array) -> Any:
    """Return whether more than NaN and infinity was counted, for a detail or for each of some."""
    return ~np.isnan(found[..., _NEGATIVE])


def counts_of(detail: Float64Array) -> summaries.HealthCounts:
    """Return the size of a row, and its NaN and infinities."""
    return summaries.HealthCounts(*map(int, detail[SIZE_TO_NAN]))


def from_rows(plan: GroupPlan, counts: npt.NDArray[np.int64]) -> Float64Array:
    """Return the details of the bad rows of an execution that its rows in the queue count.

    Args:
        plan: The group's.
        counts: Of each row in `GroupPlan.counted` size, -∞, +∞ and NaN.
    """
    rows = np.array(plan.counted)
    is_bad = counts[:, 1:].any(axis=1) & (rows < len(plan.rows))
    return _bad_details(rows[is_bad], counts[is_bad])


def from_settled(plan: GroupPlan, key: int, numbers: npt.NDArray[np.int64]) -> Float64Array:
    """Return the details of the bad rows of an execution that has a settled pattern.

    Args:
        plan: The group's.
        key: The pattern's.
        numbers: The sizes that its rows in the queue tell.
    """
    assert plan.settled is not None
    sizes = _with_sizes(plan, plan.rows_of_healthy, numbers)[:, queue_rows.SIZES]
    return from_rows(plan, plan.settled.counts(key, sizes))


def to_rows(plan: GroupPlan, healthy: queue_rows.Rows, found: Float64Array) -> queue_rows.Rows:
    """Return rows for the queue that count the bad rows of an execution; see `from_rows`.

    Args:
        plan: The group's.
        healthy: The rows of the same execution, were nothing bad.
        found: The details of the bad rows.
    """
    rows = _rows_of_healthy(plan, healthy[:1])[0]
    rows = _with_sizes(plan, rows, healthy[:, queue_rows.SIZES :])
    places = np.searchsorted(plan.counted, found[:, ROW])
    rows[places, queue_rows.SIZES :] = found[:, SIZE_TO_NAN]
    return rows


def counted_rows(
    plan: GroupPlan, heads: queue_rows.Rows, counts: npt.NDArray[np.int64]
) -> queue_rows.Rows:
    """Return rows for the queue that count the bad rows of many executions; see `from_rows`.

    Args:
        plan: The group's.
        heads: The first row of each execution, were nothing bad.
        counts: Those of each.

    Returns:
        ``[executions, rows of each, WIDTH]``.
    """
    rows = _rows_of_healthy(plan, heads)
    rows[..., queue_rows.SIZES :] = counts
    return rows


def _rows_of_healthy(plan: GroupPlan, heads: queue_rows.Rows) -> queue_rows.Rows:
    """Return `GroupPlan.rows_of_healthy` for each of some executions."""
    rows: queue_rows.Rows = np.repeat(plan.rows_of_healthy[None], len(heads), axis=0)
    for column in (queue_rows.NUMBER, queue_rows.ITERATION):
        rows[..., column] = heads[:, None, column]
    return rows


def _with_sizes(plan: GroupPlan, rows: queue_rows.Rows, numbers: Any) -> queue_rows.Rows:
    """Return rows of an execution with the sizes that others tell."""
    rows = rows.copy()
    if plan.sizes_put:
        places = np.searchsorted(plan.counted, plan.unsized)
        rows[places, queue_rows.SIZES] = numbers.reshape(-1)[: plan.sizes_put]
    return rows


def _bad_details(rows: Any, counts: Any) -> Float64Array:
    """Return the details of rows of which no more was counted than NaN and infinity."""
    found = np.full((len(rows), WIDTH), np.nan)
    found[:, ROW], found[:, RANK] = rows, 0
    found[:, SIZE_TO_NAN] = counts
    return found


def _counted(elements: Any) -> Sequence[int]:
    """Return size, -∞, +∞ and NaN of a tensor."""
    found = summaries.count_bad(elements)
    return found.size, found.neg_inf, found.pos_inf, found.nan


class _Parts(NamedTuple):
    """Small tensors of one type, whose elements are looked at one behind the other.

    Attributes:
        arguments: Which arguments of `Group.detail` they are.
        rows: The rows in them.
        sizes: How many elements each row has.
    """

    arguments: list[int]
    rows: list[int]
    sizes: npt.NDArray[np.int64]

    @classmethod
    def at(cls, places: Sequence[_ArgumentRows], sizes: Sequence[int]) -> _Parts:
        """Return the parts at some places, given the sizes of all arguments."""
        arguments = [argument for argument, _ in places]
        rows = [row for _, some in places for row in some]
        each = [sizes[argument] // len(some) for argument, some in places for _ in some]
        return cls(arguments, rows, np.array(each, np.int64))


class DetailCounter:
    """Looks at the tensors of a group after its graph has found one to be bad."""

    def __init__(self, plan: GroupPlan) -> None:
        self._plan = plan
        self._novelty = summaries.Novelty()
        self._known: set[Hashable] = set()
        self._sorted_before: dict[Hashable, tuple[list[_Parts], list[_ArgumentRows]]] = {}

    def details(self, curt: Any, tensors: Sequence[Any]) -> Float64Array:
        """Count everything about the bad tensors of one execution.

        Args:
            curt: Float64 array ``[tensors looked at, 2]``, or ``[2]`` of a single one; not zero
                where one is bad.
            tensors: See `GroupPlan.places`.

        Returns:
            ``[rows, WIDTH]``.
        """
        bad = self._bad_rows(curt, tensors)
        rows = sorted(bad)
        plan = self._plan
        if not (rows or plan.overwritten or plan.mode is TensorDebugMode.FULL_HEALTH):
            return np.zeros((0, WIDTH))
        found = _bad_details(rows, [bad[row] for row in rows] or np.zeros((0, 4)))
        whole = self._rows_to_detail(rows, found, tensors)
        if not whole:
            return found
        by_row = dict(zip(rows, found, strict=True))
        for row in whole:
            elements = self._elements(row, tensors)
            counts = summaries.health_counts(elements, detailed=plan.adaptive)
            by_row[row] = np.array((row, elements.ndim, *counts.values()))
        return np.array([by_row[row] for row in sorted(by_row)])

    def extremes(self, tensors: Sequence[Any]) -> Float64Array:
        """Return the smallest and largest finite element of each row, NaN where unknown.

        Args:
            tensors: See `GroupPlan.places`.

        Returns:
            ``[rows, 2]``.
        """
        found = np.full((len(self._plan.rows), 2), np.nan)
        everything = tuple(range(len(self._plan.seen)))
        small, others = self._sorted(everything, tensors, _COMPARED_TOGETHER)
        for arguments, rows, sizes in small:
            found[rows] = extremes_in_parts([tensors[i] for i in arguments], sizes)
        for argument, rows in others:
            if len(rows) > 1:
                found[rows] = extremes_of_each(tensors[argument])
            else:
                found[rows[0]] = extremes_of(self._elements(rows[0], tensors))
        return self._with_known_extremes(found)

    def extremes_of_each(self, layout: Layout, block: Any) -> Float64Array:
        """Return `extremes` for each of some executions that have handed over their elements.

        Args:
            layout: Where the elements are.
            block: See `Layout.counts`.
        """
        plan = self._plan
        inside = [place for place, row in enumerate(plan.counted) if row < len(plan.rows)]
        found = np.full((len(block), len(plan.rows), 2), np.nan)
        found[:, [plan.counted[place] for place in inside]] = layout.extremes(block)[:, inside]
        return self._with_known_extremes(found)

    def extremes_on_accelerator(self, ends: Float64Array) -> Float64Array:
        """Return `extremes` of an execution that an accelerator has measured.

        Args:
            ends: See `Group.measure`.
        """
        pairs = ends.reshape(-1, 2).copy()
        pairs[pairs[:, 0] > pairs[:, 1]] = np.nan  # There is no element.
        found = np.full((len(self._plan.rows), 2), np.nan)
        found[self._plan.rows_of_arguments] = pairs
        return self._with_known_extremes(found)

    def compiled_extremes(self, keys: npt.NDArray[np.int64]) -> Float64Array:
        """Return `extremes` of an execution that XLA has compiled.

        Args:
            keys: See `numbers_of_keys`; those of `GroupPlan.unknown`.
        """
        rows = self._plan.unknown
        is_double = np.array([self._plan.rows[row].dtype == _DOUBLE for row in rows])
        found = np.full((len(self._plan.rows), 2), np.nan)
        found[rows] = numbers_of_keys(keys, is_double)
        return self._with_known_extremes(found)

    def _with_known_extremes(self, found: Float64Array) -> Float64Array:
        """Fill in the rows that never change, and those that have the elements of others."""
        constants, extremes, aliases, sources = self._known_extremes
        if len(constants):
            found[..., constants, :] = extremes
        if len(aliases):
            found[..., aliases, :] = found[..., sources, :]
        return found

    @cached_property
    def _known_extremes(self) -> tuple[Int64Array, Float64Array, Int64Array, Int64Array]:
        """The constants, their extremes, the rows with the elements of others, and these."""
        plan = self._plan
        extremes = [(counts.minimum, counts.maximum) for counts in plan.constants.values()]
        aliases, sources = np.array(plan.aliases, np.int64).reshape(-1, 2).T
        constants = np.array(list(plan.constants), np.int64)
        return constants, np.array(extremes).reshape(-1, 2), aliases, sources

    def counts(self, rows: Sequence[int], tensors: Sequence[Any]) -> npt.NDArray[np.int64]:
        """Return size, -∞, +∞ and NaN of some rows.

        Args:
            rows: The rows.
            tensors: See `GroupPlan.places`.
        """
        counts = [_counted(self._elements(row, tensors)) for row in rows]
        return np.array(counts, np.int64).reshape(-1, 4)

    @cached_property
    def _behind(self) -> list[list[_ArgumentRows]]:
        """The places of the rows that may be bad where each tensor is that the graph looks at."""
        behind = [self._places_of(rows) for rows in self._plan.seen]
        for row in sorted(self._plan.covers, reverse=True):
            behind[self._plan.looks[row]].append((self._plan.places[row][0], [row]))
        return behind

    def _places_of(self, rows: list[int]) -> list[_ArgumentRows]:
        """Return where rows are that the graph looks at together: in a pack, or each by itself."""
        index, place = self._plan.places[rows[0]]
        if place is not None:
            return [(index, rows)]
        return [(self._plan.places[row][0], [row]) for row in rows]

    def _sorted(
        self, looks: tuple[int, ...], tensors: Sequence[Any], most: int
    ) -> tuple[list[_Parts], list[_ArgumentRows]]:
        """Return the tensors behind some looks: small ones of each type, and the others.

        Args:
            looks: Some of `GroupPlan.seen`.
            tensors: See `GroupPlan.places`.
            most: How many elements a small one has at most.
        """
        sizes = tuple(tensor.size for tensor in tensors)
        key = looks, sizes, most
        known = self._sorted_before.get(key)
        if known is not None:
            return known
        small: dict[Any, list[_ArgumentRows]] = {}
        others: list[_ArgumentRows] = []
        for argument, rows in itertools.chain(*(self._behind[look] for look in looks)):
            dtype = tensors[argument].dtype
            is_there = rows[0] not in self._plan.products
            is_small = is_there and dtype.kind == "f" and 0 < sizes[argument] <= most
            (small.setdefault(dtype, []) if is_small else others).append((argument, rows))
        found = [_Parts.at(places, sizes) for places in small.values()], others
        if len(self._sorted_before) >= _MAX_SORTED:
            self._sorted_before.clear()
        self._sorted_before[key] = found
        return found

    def _bad_rows(self, curt: Any, tensors: Sequence[Any]) -> dict[int, Sequence[int]]:
        """Return size, -∞, +∞ and NaN of each bad row."""
        looked_at = np.flatnonzero(np.atleast_2d(curt)[:, 1]).tolist()
        small, others = self._sorted(tuple(looked_at), tensors, _COUNTED_TOGETHER)
        known: _Counts = {}
        for arguments, rows, sizes in small:
            counts = summaries.count_bad_in_parts([tensors[i] for i in arguments], sizes)
            known.update(zip(rows, counts.tolist(), strict=True))
        uncounted = {row for _, rows in others for row in rows}
        covers = self._plan.covers
        # The tensor that covers another comes later, so whether it is bad is known here.
        for row in sorted(uncounted, reverse=True):
            may_be_bad = row not in covers or any(known.get(covers[row], _HEALTHY)[1:])
            if may_be_bad and row not in known:
                self._count(row, uncounted, tensors, known)
        return {row: counts for row, counts in known.items() if any(counts[1:])}

    def _count(
        self, row: int, uncounted: AbstractSet[int], tensors: Sequence[Any], known: _Counts
    ) -> None:
        """Count in a row, unless it is NaN all over because others are, which are counted before.

        Args:
            row: The row.
            uncounted: The rows that may be bad, besides those that were counted at first.
            tensors: See `GroupPlan.places`.
            known: What was counted; what is counted now is added.
        """

        def is_nan(row: int) -> bool:
            size, *_, nan = known.get(row, _HEALTHY)
            return 0 < size == nan

        waiting = [row]
        while waiting:
            row = waiting[-1]
            makers = self._plan.makers.get(row)
            is_made = makers is not None and makers.have(is_nan)
            before = () if is_made or makers is None else makers.rows
            first = next((each for each in before if each in uncounted and each not in known), None)
            if first is not None:
                waiting.append(first)
                continue
            if is_made:
                size = self._handed_over(row, tensors).size
                known[row] = size, 0, 0, size
            elif row in self._plan.products:
                self._count_product(row, tensors, known)
            elif row not in known:
                known[row] = _counted(self._elements(row, tensors))
            waiting.pop()

    def _count_product(self, row: int, tensors: Sequence[Any], known: _Counts) -> None:
        """Count in a product, and before that in the sum of it and a bias.

        The product is NaN where the sum is, and has no infinity, if bias and sum have none.
        """
        sum_row, bias = self._plan.covers[row], tensors[self._plan.products[row].bias]
        if sum_row not in known:
            known[sum_row] = _counted(self._elements(sum_row, tensors))
        has_infinity = any(known[sum_row][1:3])
        if not has_infinity and summaries.all_finite(bias):
            known[row] = known[sum_row]
        else:
            known[row] = _counted(self._elements(row, tensors))

    def _rows_to_detail(
        self, bad: Sequence[int], found: Float64Array, tensors: Sequence[Any]
    ) -> set[int]:
        """Return the rows of which everything is counted, given the bad ones and their details."""
        plan = self._plan
        if plan.mode is TensorDebugMode.FULL_HEALTH:
            limit = plan.exact_limit or 0
            large = [row for row in plan.large if self._elements(row, tensors).size > limit]
            return {*bad, *large}
        if not plan.adaptive:
            return set()
        whole: set[int] = set()
        if plan.overwritten:
            sizes = {row: self._elements(row, tensors).size for row in plan.places}
            whole.update(row for row, size in sizes.items() if size <= _MAX_DETAILED)
        return whole | self._new_rows(bad, found[:, BAD] > 0, tensors)

    def _new_rows(self, bad: Sequence[int], kinds: Any, tensors: Sequence[Any]) -> set[int]:
        """Return the rows that were not bad like that so often before, and what they come from."""
        all_bad = {*bad, *self._bad_outside(bad, tensors)}
        pattern = frozenset(all_bad), kinds.tobytes()
        if pattern in self._known:
            return set()
        new: set[int] = set()
        for row, kinds_of_row in zip(bad, kinds.tolist(), strict=True):
            inputs = self._inputs.get(row, ())
            if self._novelty.is_new((row, *kinds_of_row, *(i in all_bad for i in inputs))):
                new.update((row, *inputs))
        if not new and len(self._known) < MAX_PATTERNS:
            self._known.add(pattern)
        return new

    @cached_property
    def _inputs(self) -> dict[int, list[int]]:
        """The inputs of the op of each row, as far as they are handed over."""
        places = self._plan.places
        return {row: [i for i in some if i in places] for row, some in self._plan.inputs.items()}

    def _bad_outside(self, rows: Sequence[int], tensors: Sequence[Any]) -> list[int]:
        """Return the bad ones among the inputs of some rows that the graph has not looked at."""
        beyond = len(self._plan.rows)
        if not self._plan.extra_rows:
            return []
        inputs = {i for row in rows for i in self._inputs.get(row, ()) if i >= beyond}
        return [i for i in inputs if not summaries.all_finite(self._elements(i, tensors))]

    def _elements(self, row: int, tensors: Sequence[Any]) -> Any:
        product = self._plan.products.get(row)
        if product is not None:
            return product.compute(*(tensors[index] for index in product.inputs))
        return self._handed_over(row, tensors)

    def _handed_over(self, row: int, tensors: Sequence[Any]) -> Any:
        """Return what is handed over for a row: of a product, a sum of the same size."""
        index, place = self._plan.places[row]
        return tensors[index] if place is None else tensors[index][place]
