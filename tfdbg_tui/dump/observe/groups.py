"""A group of graph tensors that are observed together: what its graph calls when it runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tfdbg_tui.dump.encode import details, queue_rows, summaries
from tfdbg_tui.dump.encode.elements import Layouts
from tfdbg_tui.dump.encode.records import GroupRecords
from tfdbg_tui.dump.observe import magnitudes, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from tfdbg_tui.dump.encode.elements import Layout, Words
    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Values
    from tfdbg_tui.dump.observe.calls import Moment

    BoolArray = npt.NDArray[np.bool_]
    Float64Array = npt.NDArray[np.float64]
    Int64Array = npt.NDArray[np.int64]

_MAX_FAILURES = 3
"""A group that has failed so often is left alone."""
_NAMED = 3
_keys = itertools.count(1)
"""Of the details of executions of all groups."""


class Dump(Protocol):
    """Takes what groups tell of executions.

    Attributes:
        active: Whether it still records.
    """

    active: bool

    def now(self) -> Moment:
        """Return which calls run now."""

    def is_measured(self, iteration: int) -> bool:
        """Return whether what runs now is measured, in an iteration of a loop."""

    def traces_taken(self, group: Group, values: Values) -> None:
        """Take the values of one execution of a group."""

    def rows_taken(self, groups: Sequence[Group], taken: queue_rows.QueueRows) -> None:
        """Take rows of the queue; `groups` are those that the rows refer to."""

    def write_soon(self) -> None:
        """Have what was taken so far written, without waiting for it."""

    def hook_failed(self, error: BaseException, what: str, graph_id: str = "") -> None:
        """Take note that an error of ours has cost something.

        Args:
            error: The error.
            what: What is not on record because of it.
            graph_id: The graph that it is about, if it is about one.
        """

    def skip(self, what: str, reason: str, graph: Any = None) -> None:
        """Take note that something is not recorded.

        Args:
            what: What is not recorded.
            reason: Why.
            graph: The graph that it is about, if it is about one.
        """


class Group:
    """A group in one dump.

    Args:
        plan: The tensors, and how they are looked at; it need not be filled in yet.
        dump: Takes the values.
        executions: Says which executions are measured, where that is not asked of the dump.

    Attributes:
        records: Makes the records.
    """

    def __init__(
        self, plan: GroupPlan, dump: Dump, executions: magnitudes.ExecutionCount | None = None
    ) -> None:
        self.plan = plan
        self.dump = dump
        self.executions = executions
        self.records = GroupRecords(plan)
        self._counter = details.DetailCounter(plan)
        self._found: dict[int, Values] = {}
        self._failures = 0
        self._layouts = Layouts(plan)
        self._patterns: set[bytes] = set()
        self._constants_untold = summaries.TIMES_DETAILED
        self._was_bad = False

    def sink(self, row: Any, *arrays: Any) -> list[Any]:
        """Take the values of one execution of the graph.

        Args:
            row: See `queue_rows`.
            *arrays: See `GroupPlan.columns`; then, where the graph has looked at none of them, the
                tensors of `GroupPlan.places`.
        """
        self.guarded(self._take, row, arrays)
        return []

    def _take(self, row: Any, arrays: tuple[Any, ...]) -> None:
        self.ran(1)
        columns = len(self.plan.columns)
        rows, tensors = np.atleast_2d(row), arrays[columns:]
        values = self.values_of(self._with_looks(rows, tensors) if tensors else rows)
        if values is None:
            return
        for name, array in zip(self.plan.columns, arrays[:columns], strict=True):
            values.setdefault(name, []).append(_array(array))
        self.dump.traces_taken(self, values)

    def _with_looks(self, row: queue_rows.Rows, tensors: tuple[Any, ...]) -> queue_rows.Rows:
        """Return the rows of an execution at whose tensors the graph has not looked.

        Args:
            row: The first, without sizes.
            tensors: See `GroupPlan.places`.
        """
        plan = self.plan
        rows = np.repeat(row, queue_rows.rows_for(plan.sizes_put), axis=0)
        rows[:, queue_rows.PART] = range(len(rows))
        if plan.sizes_put:
            for number, unsized in enumerate(plan.unsized):
                part, column = divmod(number, queue_rows.SIZES_IN_ROW)
                rows[part, queue_rows.SIZES + column] = tensors[plan.places[unsized][0]].size
        is_measured = self._is_measured(int(rows[0, queue_rows.ITERATION]))
        is_bad = [not _is_healthy(tensor) for tensor in tensors[: len(plan.seen)]]
        if not (is_measured or plan.overwritten or any(is_bad)):
            return rows
        curt = np.array([is_bad, is_bad], float).T
        return np.atleast_2d(self._with_details(rows, curt, tensors, is_measured))

    def compiled_values(self, counted: Int64Array, is_due: bool) -> Values:
        """Return the values of one execution that XLA has compiled.

        Args:
            counted: What was counted of each tensor in `GroupPlan.unknown`; see `CompiledCounts`.
            is_due: Whether the extremes are recorded even if nothing is bad.
        """
        if not self.plan.measured:
            return {"compiled": [counted]}
        counts, keys = counted[:, :-2], counted[:, -2:]
        values: Values = {"compiled": [counts]}
        if is_due or self.records.first_bad(values) is not None:
            values["extremes"] = [self._counter.compiled_extremes(keys)]
        return values

    def take_constants(self, executions: int) -> int:
        """Return of how many of some executions bad constants are told, although they are known."""
        told = min(executions, self._constants_untold)
        self._constants_untold -= told
        return told

    def values_of(self, rows: queue_rows.Rows) -> Values | None:
        """Return what the rows of one execution tell; None where its details are missing."""
        key = int(rows[0, queue_rows.KEY])
        if key == queue_rows.NO_KEY:
            return None
        values = self.records.values_in(rows)
        if self.plan.iterated:
            values["iteration"] = [rows[:1, queue_rows.ITERATION]]
        return values | self._found.pop(key) if key > 0 else values

    def is_healthy(self, key: int) -> bool:
        """Return whether of an execution, by the key in its rows, only extremes are to be told."""
        found = self._found.get(key, {})
        return "extremes" in found and not len(found["details"][0])

    def take_extremes(self, key: int) -> Float64Array:
        """Return what was measured in an execution that is healthy, by the key in its rows."""
        extremes: Float64Array = self._found.pop(key)["extremes"][0]
        return extremes

    def detail(self, row: Any, curt: Any, *tensors: Any) -> Any:
        """Count everything about the bad tensors of one execution, or measure all tensors.

        Args:
            row: See `queue_rows`.
            curt: Float64 array ``[tensors looked at, 2]``, or ``[2]`` of a single one; not zero
                where one is bad.
            *tensors: See `GroupPlan.places`; as they were sent, see `GroupPlan.sent`.

        Returns:
            The row with the key of the details, or the rows of an execution that is `COUNTED`; a
            row with `NO_KEY` where there is nothing to tell, so that nobody takes bad tensors for
            healthy ones.
        """
        row = np.array(row)
        iteration = int(row.flat[queue_rows.ITERATION])
        is_measured = self._is_measured(iteration)
        rows = self.guarded(self._with_sent_details, row, curt, tensors, is_measured)
        return queue_rows.without_details(row) if rows is None else rows

    def measure(self, row: Any, extremes: Any) -> Any:
        """Take what an accelerator has measured in one execution, of which nothing is bad.

        Args:
            row: See `queue_rows`.
            extremes: Float64 array, of each of `GroupPlan.rows_of_arguments` two numbers; see
                `tensor_ops.ends_of_finite`.

        Returns:
            See `detail`.
        """
        row = np.array(row)
        found = self.guarded(self._with_extremes, row, extremes)
        return queue_rows.without_details(row) if found is None else found

    def keep(self, row: Any, *tensors: Any) -> Any:
        """Keep the tensors of one execution, which are recorded whole, until its row is taken.

        Args:
            row: See `queue_rows`.
            *tensors: One for each row of the plan.

        Returns:
            The row with their key; with `NO_KEY` where they are not recorded.
        """
        row = np.array(row)
        found = self.guarded(self._with_whole, row, tensors)
        return queue_rows.without_details(row) if found is None else found

    def rows_of_elements(
        self, rows: queue_rows.Rows, words: Words, measured: Int64Array
    ) -> list[queue_rows.ExecutionRows]:
        """Return the rows of those executions of whose elements there is something to tell.

        Args:
            rows: Those of each execution, were nothing bad, ``[executions, rows, WIDTH]``.
            words: What each has handed over.
            measured: The `Measured` of the call of each.
        """
        is_due = self._are_measured(rows[:, 0, queue_rows.ITERATION], measured)
        return [
            (places[numbers], its_rows)
            for layout, places, block in self._layouts.alike(words)
            for numbers, its_rows in self._told_alike(layout, rows[places], block, is_due[places])
        ]

    def ran(self, executions: int) -> None:
        """Note executions that have ended."""
        if self.executions is not None and self.executions.is_asked:
            self.executions.ran(executions)

    def _is_measured(self, iteration: int) -> bool:
        """Return whether an execution in whose graph Python is now is measured."""
        if self.executions is not None:
            return bool(self.executions.are_measured(1)[0])
        return self.plan.measured and self.dump.is_measured(iteration)

    def _are_measured(self, iterations: Int64Array, measured: Int64Array) -> BoolArray:
        """Return which executions are, given their iterations and the `Measured` of their calls."""
        if self.executions is not None:
            return self.executions.are_measured(len(iterations))
        return magnitudes.are_measured(iterations, measured) & self.plan.measured

    def _told_alike(
        self, layout: Layout, rows: queue_rows.Rows, block: Any, is_due: BoolArray
    ) -> Iterator[queue_rows.ExecutionRows]:
        """Yield the rows of executions of one layout.

        Of those that tell nothing new, no more is found out than the counts of all together.
        """

        def looked_at(number: int) -> queue_rows.Rows:
            arrays = layout.arrays(block[number])
            return self._looked_at(rows[number], arrays, bool(is_due[number]))

        if not layout.is_countable:
            for number in range(len(rows)):
                yield np.array([number]), looked_at(number)[None]
            return
        counts = layout.counts(block)
        inside = np.array(self.plan.counted) < len(self.plan.rows)
        is_bad = counts[:, inside, 1:].any(axis=(1, 2))
        healthy = np.flatnonzero(is_due & ~is_bad)
        if len(healthy):
            yield healthy, self._measured(rows[healthy], layout, block[healthy])
        some = np.flatnonzero(is_bad)
        patterns = [kinds.tobytes() for kinds in counts[some, :, 1:] > 0]
        tells_more = is_due[some] | np.array([self._is_new(each) for each in patterns], bool)
        for place in np.flatnonzero(tells_more).tolist():
            number = int(some[place])
            if not (is_due[number] or self._is_new(patterns[place])):
                tells_more[place] = False  # An execution before it was the last to tell more.
                continue
            found = looked_at(number)
            tells_all = found[0, queue_rows.KEY] == queue_rows.COUNTED
            if tells_all and len(self._patterns) < details.MAX_PATTERNS:
                self._patterns.add(patterns[place])
            yield np.array([number]), found[None]
        rest = some[~tells_more]
        self._settle(counts[rest])
        yield rest, details.counted_rows(self.plan, rows[rest, 0], counts[rest])

    def _measured(self, rows: queue_rows.Rows, layout: Layout, block: Any) -> queue_rows.Rows:
        """Return the rows of executions that are healthy and measured.

        Args:
            rows: Those of each.
            layout: Where their elements are.
            block: See `Layout.counts`.
        """
        rows = rows.copy()
        found = self._counter.extremes_of_each(layout, block)
        for its_rows, extremes in zip(rows, found, strict=True):
            self._keep_extremes(its_rows, extremes)
        return rows

    def _with_extremes(self, row: queue_rows.Rows, extremes: Any) -> queue_rows.Rows:
        self._keep_extremes(row, self._counter.extremes_on_accelerator(extremes))
        return row

    def _with_whole(self, row: queue_rows.Rows, tensors: Sequence[Any]) -> queue_rows.Rows:
        arrays = list(map(_array, tensors))
        key = row.flat[queue_rows.KEY] = next(_keys)
        self._found[key] = {"tensor": arrays}
        return row

    def _keep_extremes(self, rows: queue_rows.Rows, extremes: Float64Array) -> None:
        """Note in the rows of an execution that nothing but its extremes is to be told."""
        key = rows.flat[queue_rows.KEY] = next(_keys)
        self._found[key] = {"details": [np.zeros((0, details.WIDTH))], "extremes": [extremes]}

    def _settle_counted(self, rows: queue_rows.Rows, tensors: Sequence[Any]) -> None:
        """Let the graph know an execution that tells nothing new, given what its rows count."""
        if self.plan.settled is None or self.plan.settled.is_full:
            return
        counts = rows[:, queue_rows.SIZES :].copy()
        outside = np.searchsorted(self.plan.counted, len(self.plan.rows))
        counts[outside:] = self._counter.counts(self.plan.counted[outside:], tensors)
        self._settle(counts[None])

    def _settle(self, counts: npt.NDArray[np.int64]) -> None:
        """Let the graph know executions that tell nothing new, given the counts of each."""
        patterns = self.plan.settled
        if patterns is None or patterns.is_full:
            return
        for found in map(patterns.settle, counts):
            if found is not None:
                settled.settle(patterns, *found)

    def _is_new(self, pattern: bytes) -> bool:
        """Return whether more is to be told of tensors that are bad in some way than how many."""
        return self.plan.adaptive and pattern not in self._patterns

    def _looked_at(
        self, rows: queue_rows.Rows, tensors: Sequence[Any], is_due: bool
    ) -> queue_rows.Rows:
        """Return the rows of an execution of which everything is counted, or all is measured."""
        rows = rows.copy()
        everywhere = np.ones((len(self.plan.seen), 2))
        found = self.guarded(self._with_details, rows, everywhere, tensors, is_due)
        return queue_rows.without_details(rows) if found is None else np.atleast_2d(found)

    def guarded(self, act: Callable[..., Any], *args: Any) -> Any:
        """Call what records an execution, if that is wanted; an error costs that record."""
        if not self.dump.active or self._failures >= _MAX_FAILURES:
            return None
        try:
            return act(*args)
        except Exception as error:
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        """Tell what an error has cost: the records of one execution, or of all from now on."""
        self._failures += 1
        names = ", ".join(row.op_name for row in self.plan.rows[:_NAMED])
        more = f" and {len(self.plan.rows) - _NAMED} more" if len(self.plan.rows) > _NAMED else ""
        self.dump.hook_failed(error, f"graph executions of {names}{more}", self.plan.graph_id)

    def _with_sent_details(
        self, row: queue_rows.Rows, curt: Any, tensors: Sequence[Any], is_measured: bool
    ) -> queue_rows.Rows:
        sent = self.plan.sent
        there = tensors if sent is None else sent.tensors(tensors)
        return self._with_details(row, curt, there, is_measured)

    def _with_details(
        self, row: queue_rows.Rows, curt: Any, tensors: Any, is_measured: bool
    ) -> queue_rows.Rows:
        found = self._counter.details(curt, tensors)
        is_measured |= self._is_first_bad(found)
        tells_all = bool(self.plan.counted) and not details.is_whole(found).any()
        if tells_all and not is_measured:
            rows = details.to_rows(self.plan, row, found)
            self._settle_counted(rows, tensors)
            return rows
        values: Values = {"details": [found]}
        if is_measured:
            values["extremes"] = [self._counter.extremes(tensors)]
        key = row.flat[queue_rows.KEY] = next(_keys)
        self._found[key] = values
        return row

    def _is_first_bad(self, found: Float64Array) -> bool:
        """Return whether something is bad for the first time: all is measured then.

        How large the data and the weights were in that execution tells what has led to it.

        Args:
            found: The details of what is bad in an execution.
        """
        is_first = self.plan.measured and len(found) > 0 and not self._was_bad
        self._was_bad |= is_first
        return is_first


def _array(value: Any) -> npt.NDArray[Any]:
    """Return what TensorFlow hands over as an array: a string on its own comes as bytes."""
    return np.array(value, object if isinstance(value, bytes) else None)


def _is_healthy(tensor: Any) -> bool:
    return summaries.all_finite(tensor) or not summaries.count_bad(tensor).bad
