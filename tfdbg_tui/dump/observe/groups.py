"""A group of graph tensors that are observed together: what its graph calls when it runs."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import summaries, traces
from tfdbg_tui.dump.encode.records import GroupRecords
from tfdbg_tui.dump.observe import row_queue
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.writer import DumpWriter

DETAIL_WIDTH = 11
"""A detail: number of the row, rank, and the fields of `HealthCounts` in order."""

_UNCOUNTED = (np.nan,) * 5
"""Stands in a detail for the numbers of which only NaN and infinity were counted."""
_MAX_DETAILED = 1 << 20
"""Larger tensors are detailed only where they are bad, or an input of what is."""

_MAX_FAILURES = 3
"""A group that has failed so often is left alone."""
_NAMED = 3

Float64Array = npt.NDArray[np.float64]

Values = dict[str, list[Any]]
"""The arrays of each column that a sink got."""


@dataclass(frozen=True, slots=True)
class Row:
    """A tensor of a graph; `shape` is None unless it is known while tracing.

    `watched` says whether the filters let it through.
    """

    graph_id: str
    op_name: str
    slot: int
    tensor_id: int
    dtype: int
    shape: tuple[int, ...] | None
    rank: int | None
    device: str
    watched: bool

    @property
    def size(self) -> int | None:
        """Number of elements, where known."""
        return math.prod(self.shape) if self.shape is not None else None

    @property
    def tensor_name(self) -> str:
        """The tensor's name in its graph."""
        return f"{self.op_name}:{self.slot}"

    @property
    def site(self) -> traces.Site:
        """What identifies its records."""
        return traces.Site(self.graph_id, self.op_name, self.slot, self.device)


class Group:
    """The rows of a group, and how they are looked at; `instrument` fills in the latter.

    Attributes:
        among_whole_tensors: Whether the trace file takes payloads, not framed records: whole
            tensors, and the counts of what XLA compiled, where these cannot leave.
        sizes_put: How many sizes it puts into a row.
        columns: Name of each argument of `sink` after the row; several arrays may share a column.
        constants: Counts of the rows that never change.
        aliases: Pairs of a row and an earlier one that has the same elements.
        packs: Rows of small tensors, those of one shape together.
        large: Rows of the other tensors.
        covers: For some large rows, a later one that is bad wherever they are.
        seen: The rows in each tensor that the graph looks at: one, or those of a pack.
        extra_rows: The inputs from outside of the group of its ops, where these are detailed: rows
            beyond `rows`.  A bad one was an alert where it was made; here only the healthy add
            something, and what filters left out there.
        inputs: For each row, which rows its details include besides itself.
        places: Which argument of `detail` has the elements of a row, and where in the pack.
        exact_limit: Size beyond which a tensor is detailed even when it is healthy.
        overwritten: Whether the tensors will be gone when something made from them is seen to be
            bad, so that those that are not too large are detailed in any case.
    """

    def __init__(
        self,
        rows: list[Row],
        writer: DumpWriter,
        mode: TensorDebugMode,
        *,
        iterated: bool,
        overwritten: bool = False,
    ) -> None:
        self.rows = rows
        self.mode = mode
        self.adaptive = writer.options.adaptive
        self.among_whole_tensors = writer.options.mode is TensorDebugMode.FULL_TENSOR
        self.iterated = iterated
        self.overwritten = overwritten and self.adaptive
        self.sizes_put = 0
        self.columns: tuple[str, ...] = ()
        self.constants: dict[int, summaries.HealthCounts] = {}
        self.aliases: list[tuple[int, int]] = []
        self.packs: list[list[int]] = []
        self.large: list[int] = []
        self.covers: dict[int, int] = {}
        self.seen: list[list[int]] = []
        self.extra_rows: list[Row] = []
        self.inputs: dict[int, tuple[int, ...]] = {}
        self.places: dict[int, tuple[int, int | None]] = {}
        self.exact_limit: int | None = None
        self.writer = writer
        self._found: dict[int, Float64Array] = {}
        self._keys = itertools.count(1)
        self._failures = 0
        self._novelty = summaries.Novelty()

    @property
    def run_in_no_order(self) -> bool:
        """Whether the sink may run before those of earlier tensors: in a session."""
        return "serial" in self.columns

    @cached_property
    def records(self) -> GroupRecords:
        """Makes the records; only once the graph has run, when all of the above is there."""
        return GroupRecords(self)

    @property
    def graph_id(self) -> str:
        """The graph that it is of."""
        return self.rows[0].graph_id

    @cached_property
    def records_constants(self) -> bool:
        """Whether a healthy execution may have something to tell: constants that are bad."""
        return self.adaptive and any(counts.bad for counts in self.constants.values())

    def sink(self, row: Any, *arrays: Any) -> list[Any]:
        """Take the values of one execution of the graph.

        Args:
            row: See `row_queue`.
            *arrays: See `columns`.
        """
        self.guarded(self._take, row, arrays)
        return []

    def _take(self, row: Any, arrays: tuple[Any, ...]) -> None:
        values = self.values_of(np.atleast_2d(row))
        if values is None:
            return
        for name, array in zip(self.columns, arrays, strict=True):
            # A string on its own comes as bytes, not as an array.
            array = np.array(array, object if isinstance(array, bytes) else None)
            values.setdefault(name, []).append(array)
        self.writer.traces_taken(self, values)

    def values_of(self, rows: row_queue.Rows) -> Values | None:
        """Return what the rows of one execution tell; None where its details are missing."""
        key = int(rows[0, row_queue.KEY])
        if key == row_queue.NO_KEY:
            return None
        values: Values = {"details": [self._found.pop(key)]} if key else {}
        if self.iterated:
            values["iteration"] = [rows[:1, row_queue.ITERATION]]
        if self.sizes_put:
            values["size"] = [rows[:, row_queue.SIZES :].reshape(-1)[: self.sizes_put]]
        return values

    def detail(self, row: Any, curt: Any, *tensors: Any) -> Any:
        """Count everything about the bad tensors of one execution of the graph.

        Args:
            row: See `row_queue`.
            curt: Float64 array ``[tensors looked at, 2]``, or ``[2]`` of a single one; not zero
                where one is bad.
            *tensors: See `places`.

        Returns:
            The row with the key of the details; with `NO_KEY` where there are none to tell, so
            that nobody takes bad tensors for healthy ones.
        """
        key = self.guarded(self._keep_details, curt, tensors)
        row = np.array(row)
        row.flat[row_queue.KEY] = key or row_queue.NO_KEY
        return row

    def guarded(self, act: Callable[..., Any], *args: Any) -> Any:
        """Call what records an execution, if that is wanted; an error costs that record."""
        if not self.writer.active or self._failures >= _MAX_FAILURES:
            return None
        try:
            return act(*args)
        except Exception as error:
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        """Tell what an error has cost: the records of one execution, or of all from now on."""
        self._failures += 1
        names = ", ".join(row.op_name for row in self.rows[:_NAMED])
        more = f" and {len(self.rows) - _NAMED} more" if len(self.rows) > _NAMED else ""
        self.writer.hook_failed(error, f"graph executions of {names}{more}", self.graph_id)

    def _keep_details(self, curt: Any, tensors: Any) -> int:
        key = next(self._keys)
        self._found[key] = self._details(curt, tensors)
        return key

    def _details(self, curt: Any, tensors: Any) -> Float64Array:
        bad = self._bad_rows(curt, tensors)
        whole = self._rows_to_detail(bad, tensors)
        rows = sorted({*bad, *whole})
        details = np.empty((len(rows), DETAIL_WIDTH))
        for detail, row in zip(details, rows, strict=True):
            elements = self._elements(row, tensors)
            if row in whole:
                values = summaries.health_counts(elements, extremes=self.adaptive).values()
            else:
                values = bad[row].values()[:4] + _UNCOUNTED
            detail[:] = row, elements.ndim, *values
        return details

    def _bad_rows(self, curt: Any, tensors: Any) -> dict[int, summaries.HealthCounts]:
        """Return the counts of the bad rows among those the graph looked at, and behind them."""
        bad: dict[int, summaries.HealthCounts] = {}

        def look_at(row: int) -> None:
            counts = summaries.count_bad(self._elements(row, tensors))
            if counts.bad:
                bad[row] = counts

        for index in np.flatnonzero(np.atleast_2d(curt)[:, 1]):
            for row in self.seen[index]:
                look_at(row)
        # The tensor that covers another comes later, so whether it is bad is known here.
        for row in sorted(self.covers, reverse=True):
            if self.covers[row] in bad:
                look_at(row)
        return bad

    def _rows_to_detail(self, bad: dict[int, summaries.HealthCounts], tensors: Any) -> set[int]:
        """Return the rows of which everything is counted."""
        if self.mode is TensorDebugMode.FULL_HEALTH:
            limit = self.exact_limit or 0
            large = [row for row in self.large if self._elements(row, tensors).size > limit]
            return {*bad, *large}
        if not self.adaptive:
            return set()
        whole: set[int] = set()
        if self.overwritten:
            sizes = {row: self._elements(row, tensors).size for row in self.places}
            whole.update(row for row, size in sizes.items() if size <= _MAX_DETAILED)
        for row, counts in bad.items():
            inputs = [i for i in self.inputs.get(row, ()) if i in self.places]
            kinds = [i in bad or self._is_bad_outside(i, tensors) for i in inputs]
            if self._novelty.is_new((row, counts.kinds, *kinds)):
                whole.update((row, *inputs))
        return whole

    def _is_bad_outside(self, row: int, tensors: Any) -> bool:
        """Whether a row is bad that the graph has not looked at for this group."""
        is_outside = row >= len(self.rows)
        return is_outside and not summaries.all_finite(self._elements(row, tensors))

    def _elements(self, row: int, tensors: Any) -> Any:
        index, place = self.places[row]
        return tensors[index] if place is None else tensors[index][place]

    def first_bad(self, values: Values) -> tuple[Row, summaries.HealthCounts | None] | None:
        """Return the first bad tensor and, where the mode counts, its counts; None if all are fine.

        Constants do not count: nothing made them bad.
        """
        if "compiled" in values:
            return self.records.first_bad_compiled(values["compiled"][0])
        for detail in (values.get("details") or ((),))[0]:
            if detail[3:6].any():
                return self.rows[int(detail[0])], summaries.HealthCounts(*map(int, detail[2:6]))
        return None
