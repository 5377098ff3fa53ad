"""Details: everything that is counted of the bad tensors of one execution of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import summaries
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan

ROW, RANK = 0, 1
SIZE_TO_NAN = slice(2, 6)
BAD = slice(3, 6)
SIZE_TO_POSITIVE = slice(2, 9)
EXTREMES = slice(9, 11)
WIDTH = 11
"""Columns of a detail: number of the row, rank, and the fields of `HealthCounts` in order."""

_NEGATIVE = 6
_UNCOUNTED = (np.nan,) * (WIDTH - _NEGATIVE)
"""Stands in a detail for the numbers of which only NaN and infinity were counted."""
_MAX_DETAILED = 1 << 20
"""Larger tensors are detailed only where they are bad, or an input of what is."""

Float64Array = npt.NDArray[np.float64]


def is_whole(detail: Float64Array) -> bool:
    """Return whether more than NaN and infinity was counted of a row."""
    return not np.isnan(detail[_NEGATIVE])


def counts_of(detail: Float64Array) -> summaries.HealthCounts:
    """Return the size of a row, and its NaN and infinities."""
    return summaries.HealthCounts(*map(int, detail[SIZE_TO_NAN]))


def counted(plan: GroupPlan, counts: npt.NDArray[np.int64]) -> Float64Array:
    """Return the details of the bad rows of an execution in which the graph has counted them.

    Args:
        plan: The group's.
        counts: Of each row in `GroupPlan.counted` size, -∞, +∞ and NaN.
    """
    rows = np.array(plan.counted)
    is_bad = counts[:, 1:].any(axis=1) & (rows < len(plan.rows))
    found = np.full((np.count_nonzero(is_bad), WIDTH), np.nan)
    found[:, ROW], found[:, RANK] = rows[is_bad], 0
    found[:, SIZE_TO_NAN] = counts[is_bad]
    return found


class DetailCounter:
    """Looks at the tensors of a group after its graph has found one to be bad."""

    def __init__(self, plan: GroupPlan) -> None:
        self._plan = plan
        self._novelty = summaries.Novelty()

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
        whole = self._rows_to_detail(bad, tensors)
        rows = sorted({*bad, *whole})
        details = np.empty((len(rows), WIDTH))
        for detail, row in zip(details, rows, strict=True):
            elements = self._elements(row, tensors)
            if row in whole:
                values = summaries.health_counts(elements, extremes=self._plan.adaptive).values()
            else:
                values = bad[row].values()[:4] + _UNCOUNTED
            detail[:] = row, elements.ndim, *values
        return details

    def extremes(self, tensors: Sequence[Any]) -> Float64Array:
        """Return the smallest and largest finite element of each row, NaN where unknown.

        Args:
            tensors: See `GroupPlan.places`.

        Returns:
            ``[rows, 2]``.
        """
        plan = self._plan
        found = np.full((len(plan.rows), 2), np.nan)
        for rows, tensor in zip(
            plan.packs, tensors[len(plan.seen) - len(plan.packs) :], strict=False
        ):
            found[rows] = summaries.extremes_of_each(tensor)
        for row in {*plan.large, *plan.covers}:
            found[row] = summaries.extremes(self._elements(row, tensors))
        for row, counts in plan.constants.items():
            found[row] = counts.minimum, counts.maximum
        for row, source in plan.aliases:
            found[row] = found[source]
        return found

    def _bad_rows(self, curt: Any, tensors: Sequence[Any]) -> dict[int, summaries.HealthCounts]:
        """Return the counts of the bad rows among those the graph looked at, and behind them."""
        bad: dict[int, summaries.HealthCounts] = {}

        def look_at(row: int) -> None:
            counts = summaries.count_bad(self._elements(row, tensors))
            if counts.bad:
                bad[row] = counts

        for index in np.flatnonzero(np.atleast_2d(curt)[:, 1]):
            for row in self._plan.seen[index]:
                look_at(row)
        # The tensor that covers another comes later, so whether it is bad is known here.
        for row in sorted(self._plan.covers, reverse=True):
            if self._plan.covers[row] in bad:
                look_at(row)
        return bad

    def _rows_to_detail(
        self, bad: dict[int, summaries.HealthCounts], tensors: Sequence[Any]
    ) -> set[int]:
        """Return the rows of which everything is counted."""
        if self._plan.mode is TensorDebugMode.FULL_HEALTH:
            limit = self._plan.exact_limit or 0
            large = [row for row in self._plan.large if self._elements(row, tensors).size > limit]
            return {*bad, *large}
        if not self._plan.adaptive:
            return set()
        whole: set[int] = set()
        if self._plan.overwritten:
            sizes = {row: self._elements(row, tensors).size for row in self._plan.places}
            whole.update(row for row, size in sizes.items() if size <= _MAX_DETAILED)
        for row, counts in bad.items():
            inputs = [i for i in self._plan.inputs.get(row, ()) if i in self._plan.places]
            kinds = [i in bad or self._is_bad_outside(i, tensors) for i in inputs]
            if self._novelty.is_new((row, counts.kinds, *kinds)):
                whole.update((row, *inputs))
        return whole

    def _is_bad_outside(self, row: int, tensors: Sequence[Any]) -> bool:
        """Whether a row is bad that the graph has not looked at for this group."""
        is_outside = row >= len(self._plan.rows)
        return is_outside and not summaries.all_finite(self._elements(row, tensors))

    def _elements(self, row: int, tensors: Sequence[Any]) -> Any:
        index, place = self._plan.places[row]
        return tensors[index] if place is None else tensors[index][place]
