"""The ops that carry the values of observed tensors out of a graph.

The tensors of a graph are observed in groups.  A group costs one look at its large tensors, by
TensorFlow's ``DebugNumericSummaryV2`` in its CURT_HEALTH mode, which runs at memory speed, and one
at each *pack* of small tensors of one shape.  `coverage` tells which need no look of their own.
Only when something in the group is bad, Python gets the tensors themselves (they are still alive)
and counts everything about the bad ones (in loops and the like, until it has seen enough of them:
see `graph_counts`); in steps that are measured (see `magnitudes`), it finds the extremes of all.
What was found goes into a queue (see `row_queue`).  In modes that tell more of healthy tensors than
sizes, and in sessions of TensorFlow 1, one PyFunc, the *sink*, takes it instead.  Groups are
limited, so that not too much is kept alive, and not too much is lost when an op raises in the
middle of a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.observe import callbacks, coverage, graph_counts, row_queue
from tfdbg_tui.dump.tensorflow import own, tensor_ops
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from tfdbg_tui.dump.encode.group_plan import Row
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.observe.magnitudes import MeasuredSteps
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import AddedGraph, Place

_PACKED_ELEMENTS = 4096
"""Up to so many elements, to copy a tensor into a pack is cheaper than an op of its own."""
_TINY_TENSORS = 16
"""Up to so many tensors of few elements, their ops that count cost less than to enter Python."""
_EXACT_FLOAT32 = 1 << 24
"""A float32 sum of ones is exact up to here; larger tensors are counted by the detail function."""

_ROW_MODES = (
    TensorDebugMode.NO_TENSOR,
    TensorDebugMode.CURT_HEALTH,
    TensorDebugMode.CONCISE_HEALTH,
)
"""Modes in which a row tells all of a healthy group; in the others each group has a sink, as what
goes two ways comes in no order."""


def add_group(
    place: Place,
    items: Sequence[Observed],
    group: Group,
    iteration: Any,
    input_row: Callable[[Any], Row | None],
    after: Sequence[Any],
    serial: Any = None,
) -> Any:
    """Add the ops that record a group of tensors; return the one that must run.

    Args:
        place: Takes the ops.
        items: The tensors, one for each row of `group`; all on one device.
        group: Takes the values when the graph runs.
        iteration: The counter of the loop that the graph is the body of, or None.
        input_row: Returns the row of any recorded tensor of the graph.
        after: Sinks that must have run before this one.
        serial: The number of the run that the values belong to, where the graph is told.
    """
    builder = _GroupBuilder(place, items, group, iteration, input_row, serial)
    with own.scope(place.graph), tensor_ops.beside(items[0].tensor):
        return builder.build(after)


def add_measured(place: AddedGraph, iteration: Any, steps: MeasuredSteps) -> None:
    """Let the groups that are added to a graph know whether they are measured.

    Args:
        place: What is added to the graph.
        iteration: Number of the iteration of its loop; None outside of loops.
        steps: Knows which steps are measured.
    """
    with own.scope(place.graph):
        number = None if iteration is None else place.tensor(iteration)
        place.measured = steps.in_graph(number)


def add_serial(graph: Any) -> Any:
    """Return a placeholder in a v1 graph for the number of a run."""
    with own.scope(graph):
        return tf.compat.v1.placeholder_with_default(tf.constant(0, tf.int64), [], "serial")


def add_waiting(graph: Any, tensors: Sequence[Any], sinks: Sequence[Any]) -> list[Any]:
    """Return new tensors of a graph that are equal to others, but wait for sinks.

    Args:
        graph: The graph.
        tensors: The tensors.
        sinks: The ops that are to run before.
    """
    with own.scope(graph), tf.control_dependencies(sinks):
        return [tf.identity(tensor) for tensor in tensors]


class _GroupBuilder:
    def __init__(
        self,
        place: Place,
        items: Sequence[Observed],
        group: Group,
        iteration: Any,
        input_row: Callable[[Any], Row | None],
        serial: Any,
    ) -> None:
        self._place = place
        self._items = items
        self._plan = group.plan
        self._iteration = iteration
        self._input_row = input_row
        self._serial = serial
        self._row_numbers: dict[str, int] = {}
        self._columns: list[tuple[str, Any]] = []
        self._wide: dict[str, Any] = {}
        self._number = callbacks.number_of(group)

    def build(self, after: Sequence[Any]) -> Any:
        mode = self._plan.mode
        after = list(after)
        looked_at: list[Any] = []
        sizes: list[Any] = []
        if mode is TensorDebugMode.NO_TENSOR:
            after += [self._waited(item) for item in self._items]
        elif mode is TensorDebugMode.FULL_TENSOR:
            self._columns += [("tensor", self._here(item)) for item in self._items]
        elif mode is TensorDebugMode.SHAPE:
            after += self._add_shapes()
        else:
            looked_at, sizes = self._add_health()
        if self._serial is not None:
            self._columns.append(("serial", self._serial))
            after.append(self._waited(self._items[0]))  # What is constant may be in a branch.
        self._plan.columns = tuple(name for name, _ in self._columns)
        self._plan.sizes_put = len(sizes)
        condition = self._is_worth_a_look(looked_at[0], sizes) if looked_at else None
        with tf.control_dependencies(after), self._on_host():
            row = row_queue.row_tensor(self._number, self._counter(), sizes)
            if condition is not None:
                row = callbacks.with_details(condition, row, looked_at, self._count())
            if self._place.drained and mode in _ROW_MODES:
                return row_queue.put(row)
            inputs = [row, *(column for _, column in self._columns)]
            return callbacks.call_sink(inputs)

    def _count(self) -> Callable[[Any, Sequence[Any]], tuple[Any, Any]] | None:
        """Return what adds ops that count, where that is cheaper than to call Python each time."""
        place, plan = self._place, self._plan
        if not (place.drained and plan.counted and (place.repeated or self._is_tiny())):
            return None
        plan.counts_itself = True

        def count(row: Any, looked_at: Sequence[Any]) -> tuple[Any, Any]:
            return graph_counts.count(
                self._number, plan, row, looked_at[1:], place.measured, repeated=place.repeated
            )

        return count

    def _is_tiny(self) -> bool:
        """Return whether all counts of the group cost less than to enter Python."""
        rows = [*self._plan.rows, *self._plan.extra_rows]
        sizes = [rows[row].size for row in self._plan.counted]
        known = [size for size in sizes if size is not None]
        return len(known) == len(sizes) <= _TINY_TENSORS and sum(known) <= _PACKED_ELEMENTS

    def _counter(self) -> Any:
        """Return the iteration of the loop, if the graph is the body of one."""
        if self._iteration is None:
            return None
        return tf.cast(self._place.tensor(self._iteration), tf.int64)

    def _here(self, item: Observed) -> Any:
        """Return what stands for a tensor where the ops are made."""
        return self._place.tensor(item.tensor)

    def _waited(self, item: Observed) -> Any:
        """Return an op to wait for: TensorFlow puts a mark on it, which is not to be the user's."""
        tensor = self._here(item)
        return tensor.op if self._serial is None else tf.identity(tensor).op

    def _on_host(self) -> AbstractContextManager[None]:
        return tensor_ops.on_host(self._items[0].tensor)

    def _widened(self, tensor: Any) -> Any:
        """Return `tensor_ops.widened` of a tensor, made once."""
        wide = self._wide.get(tensor.name)
        if wide is None:
            wide = self._wide[tensor.name] = tensor_ops.widened(tensor)
        return wide

    def _add_shapes(self) -> list[Any]:
        unknown = [item for item in self._items if item.row.shape is None]
        self._columns += [("shape", tensor_ops.shape(self._here(item))) for item in unknown]
        return [self._waited(item) for item in self._items if item.row.shape is not None]

    # ---- Health --------------------------------------------------------------------------------

    def _add_health(self) -> tuple[list[Any], list[Any]]:
        """Add the ops that look at the tensors.

        Returns:
            What `Group.detail` gets, nothing if there is nothing to look at; and the sizes that are
            not known while tracing.
        """
        plan = self._plan
        packs = self._packs(self._sort_rows())
        large = [self._items[row] for row in plan.large]
        full = plan.mode is TensorDebugMode.FULL_HEALTH
        if full:
            self._columns += [("tensor", pack) for pack in packs]
        if not (packs or large):
            return [], []
        if full and large:
            self._add_ranks(large)
            self._add_signs(large)
        sizes = self._sizes(large) if plan.mode is not TensorDebugMode.CURT_HEALTH else []
        return self._looked_at(packs), sizes

    def _sizes(self, large: Sequence[Observed]) -> list[Any]:
        """Return the sizes that are not known while tracing; they come into being on the host."""
        unsized = [self._widened(self._here(item)) for item in large if item.row.size is None]
        return [tf.raw_ops.Size(input=tensor, out_type=tf.int64) for tensor in unsized]

    def _add_ranks(self, large: Sequence[Observed]) -> None:
        unranked = [self._widened(self._here(item)) for item in large if item.row.rank is None]
        self._add_packed("rank", [tf.raw_ops.Rank(input=tensor) for tensor in unranked])

    def _add_packed(self, name: str, scalars: Sequence[Any]) -> None:
        if scalars:
            self._columns.append((name, tf.raw_ops.Pack(values=scalars, axis=0)))

    def _sort_rows(self) -> list[int]:
        """Decide how each row is looked at; return those that are small.

        Constants, mere rearrangements and what others cover cost nothing.
        """
        plan = self._plan
        self._row_numbers = coverage.note_known(self._items, plan)
        known = {*plan.constants, *(row for row, _ in plan.aliases)}
        small: list[int] = []
        coverable: set[int] = set()
        for number, item in enumerate(self._items):
            if number in known:
                continue
            is_small = item.row.size is not None and item.row.size <= _PACKED_ELEMENTS
            (small if is_small else plan.large).append(number)
            # FULL_HEALTH needs the elements of small ones.
            if not is_small or plan.mode is not TensorDebugMode.FULL_HEALTH:
                coverable.add(number)
            if not item.row.slot:
                self._cover_inputs(number, item, coverable)
        return small

    def _cover_inputs(self, number: int, item: Observed, coverable: set[int]) -> None:
        """Let a row cover those inputs of its op that may be covered."""
        for slot in coverage.covered_inputs(item.tensor.op):
            source = self._row_numbers.get(item.inputs[slot].name)
            if source in coverable:
                self._plan.covers.setdefault(source, number)

    def _packs(self, small: Sequence[int]) -> list[Any]:
        """Pack the small tensors of each shape and type; one on its own counts as large."""
        plan = self._plan
        alike: dict[Any, list[int]] = {}
        for number in small:
            if number not in plan.covers:
                row = self._items[number].row
                alike.setdefault((row.dtype, row.shape), []).append(number)
        for rows in alike.values():
            if len(rows) > 1 or plan.mode is TensorDebugMode.FULL_HEALTH:
                plan.packs.append(rows)
            else:
                plan.large += rows
        return [
            self._widened(
                tf.raw_ops.Pack(values=[self._here(self._items[row]) for row in rows], axis=0)
            )
            for rows in plan.packs
        ]

    def _add_signs(self, items: Sequence[Observed]) -> None:
        sums: list[Any] = []
        squares: list[Any] = []
        for item in items:
            sign = tf.raw_ops.Sign(x=tensor_ops.for_sign(self._widened(self._here(item))))
            flat = tf.raw_ops.Reshape(tensor=sign, shape=[-1])
            total = tf.raw_ops.Sum(input=flat, axis=[0])
            half = tf.raw_ops.L2Loss(t=sign)
            for scalar, into in ((total, sums), (half, squares)):
                wide = scalar.dtype == tf.float64
                into.append(scalar if wide else tf.raw_ops.Cast(x=scalar, DstT=tf.float64))
        self._add_packed("sign_sum", sums)
        self._add_packed("half_nonzero", squares)

    def _looked_at(self, packs: Sequence[Any]) -> list[Any]:
        """Return what tells which tensors are bad, and the tensors."""
        plan = self._plan
        scanned = [row for row in plan.large if row not in plan.covers]
        plan.seen = [*([row] for row in scanned), *plan.packs]
        seen = [*(self._widened(self._here(self._items[row])) for row in scanned), *packs]
        plan.places = {
            row: (index, place if index >= len(scanned) else None)
            for index, rows in enumerate(plan.seen)
            for place, row in enumerate(rows)
        }
        tensors = list(seen)
        for row in plan.covers:
            plan.places[row] = len(tensors), None
            tensors.append(self._widened(self._here(self._items[row])))
        if plan.adaptive:
            self._add_inputs(tensors)
        looks = [tensor_ops.curt_summary(tensor) for tensor in seen]
        curt = tf.raw_ops.Pack(values=looks, axis=0) if len(looks) > 1 else looks[0]
        return [curt, *tensors]

    def _is_worth_a_look(self, curt: Any, sizes: Sequence[Any]) -> Any:
        """Return whether Python is to look at the tensors.

        That is where one is bad or measured, in any case where it will be overwritten, and in
        FULL_HEALTH where one is too large for float32 sums.
        """
        plan = self._plan
        if plan.overwritten:
            return tf.constant(True)
        # Not zero where one of its elements is not; it needs no constant for the axes.
        look = tf.raw_ops.L2Loss(t=curt)
        with self._on_host():
            if self._place.measured is not None:
                look = tf.raw_ops.AddV2(x=look, y=self._place.measured)
            condition = tf.raw_ops.Cast(x=look, DstT=tf.bool)
        if plan.mode is TensorDebugMode.FULL_HEALTH:
            plan.exact_limit = _EXACT_FLOAT32
            known = (self._items[row].row.size or 0 for row in plan.large)
            if max(known, default=0) > _EXACT_FLOAT32:
                return tf.constant(True)
            if sizes:
                with self._on_host():
                    size = tf.raw_ops.Max(input=tf.raw_ops.Pack(values=sizes, axis=0), axis=[0])
                    condition |= size > _EXACT_FLOAT32
        return condition

    def _add_inputs(self, tensors: list[Any]) -> None:
        """Let the details of a bad tensor include those of the inputs of its op."""
        plan = self._plan
        for number, item in enumerate(self._items):
            inputs = []
            for tensor in item.inputs:
                dtype = tensor.dtype.base_dtype
                if dtype.is_floating or dtype.is_complex:
                    row = self._row_numbers.get(tensor.name)
                    row = self._add_extra_row(tensor, tensors) if row is None else row
                    inputs += [row] if row is not None else []
            plan.inputs[number] = tuple(inputs)

    def _add_extra_row(self, tensor: Any, tensors: list[Any]) -> int | None:
        """Return the number of a new row for a tensor from outside of the group."""
        plan = self._plan
        row = self._input_row(tensor)
        here = self._place.tensor(tensor)
        if row is None or here is None:
            return None
        number = len(plan.rows) + len(plan.extra_rows)
        plan.extra_rows.append(row)
        plan.places[number] = len(tensors), None
        tensors.append(self._widened(here))
        self._row_numbers[tensor.name] = number
        return number
