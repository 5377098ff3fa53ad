"""The ops that carry the values of observed tensors out of a graph.

The tensors of a graph are observed in groups, which `looks` looks at.  Only when something in the
group is bad, Python gets the tensors themselves (they are still alive) and counts everything about
the bad ones; in steps that are measured (see `magnitudes`), it finds the extremes of all.  What was
found goes into a queue (see `row_queue`).

What runs many times in a call does not enter Python for that: it puts the elements of bad tensors
into the queue.  Where a group has few elements, it hands them over in any case, and looks at none
(see `elements`).

In modes that tell more of healthy tensors than sizes, and in sessions of TensorFlow 1, one PyFunc,
the *sink*, takes what was found instead of the queue.  In a v1 graph it takes a few tensors
themselves, and Python looks at them: programs that make ops for each run wait each time until
TensorFlow has gone through all ops of the graph.  Groups are limited, so that not too much is kept
alive, and not too much is lost when an op raises in the middle of a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.summaries import EXACT_FLOAT32
from tfdbg_tui.dump.observe import callbacks, elements, magnitudes, observed, row_ops, settled
from tfdbg_tui.dump.observe.looks import Looks
from tfdbg_tui.dump.observe.places import RunFeeds
from tfdbg_tui.dump.tensorflow import devices, own, tensor_ops
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import AddedGraph, Place

_FEW_TENSORS = 16
_FEW_ELEMENTS = 4096
"""Of up to so many tensors and elements, it costs less to hand over all than to look at them: or of
up to so many shapes, if their type is the same.  In a v1 graph it does for so few tensors of any
size."""
_QUICKLY_COUNTED_BYTES = 1 << 20
"""Python counts in more than these about as quickly as a graph."""
_ROW_MODES = (
    TensorDebugMode.NO_TENSOR,
    TensorDebugMode.CURT_HEALTH,
    TensorDebugMode.CONCISE_HEALTH,
)


def add_group(
    place: Place,
    items: Sequence[Observed],
    group: Group,
    iteration: Any,
    input_row: Callable[[Any], Row | None],
    after: Sequence[Any],
    serial: Any = None,
    ends: Any = None,
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
        ends: The number of the call, where nothing of it comes after the group in the queue.
    """
    builder = _GroupBuilder(place, items, group, iteration, input_row, serial, ends)
    with own.scope(place.graph):
        return builder.build(after)


def add_end(added: AddedGraph, after: Sequence[Any]) -> Any:
    """Return a new op that tells that a call ends; see `row_queue.last_number`.

    Args:
        added: Takes the op.
        after: What it waits for, after which nothing of the call comes in the queue.
    """
    with own.scope(added.graph):
        ops = OpMaker(added.graph, after=after)
        return row_ops.put_end(ops, added.number_of_call())


def goes_into_queue(place: Place, plan: GroupPlan) -> bool:
    """Return whether a group hands over what it saw by the queue, and not by its sink.

    What goes two ways comes in no order, so a tensor that is recorded whole goes as the others.
    """
    return place.drained and tells_in_rows(plan.dump_mode)


def tells_in_rows(mode: TensorDebugMode) -> bool:
    """Return whether a row tells all of a healthy group; in other modes each group has a sink."""
    return mode in _ROW_MODES


def add_run_feeds(graph: Any) -> RunFeeds:
    """Return placeholders in a v1 graph for what its runs are fed with."""
    make = tf.compat.v1.placeholder_with_default
    with own.scope(graph):
        serial = make(tf.constant(0, tf.int64), [], "serial")
        return RunFeeds(serial, make(tf.constant(0.0, tf.float64), [], "measured"))


def add_waiting(graph: Any, tensors: Sequence[Any], sinks: Sequence[Any]) -> list[Any]:
    """Return new tensors of a graph that are equal to others, but wait for sinks.

    Args:
        graph: The graph.
        tensors: The tensors.
        sinks: The ops that are to run before.
    """
    ops = OpMaker(graph, after=sinks)
    return [ops.tensor("Identity", tensor) for tensor in tensors]


class _GroupBuilder:
    def __init__(
        self,
        place: Place,
        items: Sequence[Observed],
        group: Group,
        iteration: Any,
        input_row: Callable[[Any], Row | None],
        serial: Any,
        ends: Any,
    ) -> None:
        self._place = place
        self._ops = OpMaker(place.graph, items[0].tensor.device)
        self._host = self._ops.on_host()
        self._items = items
        self._plan = group.plan
        self._iteration = iteration
        self._input_row = input_row
        self._serial = serial
        self._ends = ends
        self._columns: list[tuple[str, Any]] = []
        self._number = callbacks.number_of(group)
        self._executions = group.executions
        self._look: Any = None  # not zero where something is bad; None where Python is asked

    def build(self, after: Sequence[Any]) -> Any:
        mode = self._plan.mode
        after = list(after)
        looks: Looks | None = None
        if mode is TensorDebugMode.NO_TENSOR:
            after += [self._waited(item) for item in self._items]
        elif mode is TensorDebugMode.FULL_TENSOR:
            self._columns += [("tensor", self._here(item)) for item in self._items]
        elif mode is TensorDebugMode.SHAPE:
            after += self._add_shapes()
        else:
            by_python = self._costs_less_by_python()
            looks = Looks(
                *(self._place, self._ops, self._items, self._plan, self._input_row),
                by_python=by_python,
            )
            self._columns += looks.columns
            if by_python and looks.tensors:
                return self._hand_to_python(looks, after)
        if self._serial is not None:
            after.append(self._waited(self._items[0]))  # What is constant may be in a branch.
        self._plan.sizes_put = len(looks.sizes) if looks is not None else 0
        looks = looks if looks is not None and looks.tensors else None
        if goes_into_queue(self._place, self._plan):
            return self._put_all(looks, after)
        self._name_columns()
        return self._call_sink(looks, after)

    def _hand_to_python(self, looks: Looks, after: Sequence[Any]) -> Any:
        """Return an op that hands the tensors to the sink, which looks at them: two ops in all."""
        self._name_columns()
        if self._plan.mode is not TensorDebugMode.CURT_HEALTH:
            self._plan.sizes_put = len(self._plan.unsized)
        row = self._row(self._host, self._counter(), [])
        inputs = [row, *(column for _, column in self._columns), *looks.tensors]
        return callbacks.call_sink(self._host.after(after), inputs)

    def _name_columns(self) -> None:
        if self._serial is not None:
            self._columns.append(("serial", self._serial))
        self._plan.columns = tuple(name for name, _ in self._columns)

    def _call_sink(self, looks: Looks | None, after: Sequence[Any]) -> Any:
        """Return an op that calls Python in each execution."""
        ops = self._host.after(after)
        if looks is None:
            row = self._row(ops, self._counter(), [])
        else:
            row = self._with_details(looks, after)
        return callbacks.call_sink(ops, [row, *(column for _, column in self._columns)])

    def _with_details(self, looks: Looks, after: Sequence[Any]) -> Any:
        """Return the rows of an execution, in which Python looks at the tensors if necessary."""
        curt = looks.curt()
        condition = self._is_worth_a_look(curt, looks.sizes)
        ops = self._host.after(after)
        row = self._row(ops, self._counter(), looks.sizes)
        healthy, bad = ops.op("Switch", row, condition).outputs
        bad = self._counted_down(bad)
        ends = [healthy]
        if devices.has_accelerator() and self._plan.measured and self._look is not None:
            is_bad = self._is_set(self._look, looks.sizes)
            measured, bad = ops.op("Switch", bad, is_bad).outputs
            tensors = [looks.tensor(row) for row in self._plan.rows_of_arguments]
            ends.append(callbacks.measured(self._ops.after(after), measured, tensors))
        if self._place.settles and self._is_quickly_settled():
            self._plan.settled = looks.patterns(self._number)
        if self._plan.settled is not None:
            bad, is_settled = self._looked_up(looks, bad, curt)
            bad, known = ops.op("Switch", bad, is_settled).outputs
            ends.append(known)
        looks.leave_products_out()
        detailed = self._detailed(bad, curt, looks.arguments(), after)
        return ops.tensor("Merge", [*ends, detailed])

    def _detailed(
        self, row: Any, curt: Any, arguments: Sequence[elements.Argument], after: Sequence[Any]
    ) -> Any:
        ops = self._ops.after(after)
        dimension = self._place.dimension
        return callbacks.detailed(ops, row, curt, arguments, self._plan, dimension)

    # ---- The queue -----------------------------------------------------------------------------

    def _put_all(self, looks: Looks | None, after: Sequence[Any]) -> Any:
        """Return an op that has to run for each execution to be put into the queue."""
        if looks is None:
            row = self._row(self._host, None, [])
            if self._plan.mode is TensorDebugMode.FULL_TENSOR:
                tensors = [tensor for _, tensor in self._columns]
                row = callbacks.kept(self._host.after(after), row, tensors)
            return self._put(row, elements.none(self._host), after)
        if self._plan.first_only:
            return self._put_first(looks, after)
        arguments = looks.arguments()
        if self._are_elements_few(arguments):
            self._plan.handed_over = tuple(argument.handed_over for argument in arguments)
            row = self._row(self._host, None, looks.sizes)
            return self._put(row, elements.words_of(self._ops, arguments), after)
        may_be_few = elements.are_few(arguments) is not False
        if self._place.repeated and self._plan.counted and may_be_few:
            return self._put_bad_elements(looks, arguments, after)
        return self._put(self._with_details(looks, after), elements.none(self._host), after)

    def _put_first(self, looks: Looks, after: Sequence[Any]) -> Any:
        """Let Python look at the tensors of the first executions, and nobody at those of others."""
        ops = self._host
        row = self._row(ops, None, looks.sizes)
        condition = ops.tensor("Cast", self._number_of_next_measured(), DstT=tf.bool)
        told = self._counted_down(ops.op("Switch", row, condition).outputs[1])
        everywhere = ops.constant(np.ones((len(self._plan.seen), 2)), tf.float64)
        detailed = self._detailed(told, everywhere, looks.arguments(), after)
        none = elements.none(ops)
        not_told = ops.op("Switch", ops.constant(0, tf.int32), condition).outputs[0]
        return ops.op("Merge", [not_told, self._put_branch(detailed, none, after)])

    def _put_bad_elements(
        self, looks: Looks, arguments: Sequence[elements.Argument], after: Sequence[Any]
    ) -> Any:
        """Hand over the elements where one is bad, and call Python only where they are too many.

        Where nothing about that is new, hand over the key of the pattern instead.
        """
        self._plan.handed_over = tuple(argument.handed_over for argument in arguments)
        if self._place.settles:
            self._plan.settled = looks.patterns(self._number)
        curt = looks.curt()
        condition = self._is_worth_a_look(curt, looks.sizes)
        if elements.are_few(arguments):
            return self._put_few_bad_elements(looks, arguments, curt, condition, after)
        ops = self._host
        none = elements.none(ops)
        row = self._row(ops, self._counter(), looks.sizes)
        healthy, bad = ops.op("Switch", row, condition).outputs
        bad = self._counted_down(bad)
        branches = [(healthy, none)]
        if self._plan.settled is not None:
            bad, is_settled = self._looked_up(looks, bad, curt)
            bad, known = ops.op("Switch", bad, is_settled).outputs
            branches.append((known, none))
        words = elements.words_if(self._ops, bad, arguments)
        too_many = elements.are_too_many(self._ops, words)
        few, many = ops.op("Switch", bad, too_many).outputs
        detailed = self._detailed(many, curt, arguments, [])
        branches += (few, words), (detailed, none)
        ends = [self._put_branch(row, words, after) for row, words in branches]
        return ops.op("Merge", ends)

    def _put_few_bad_elements(
        self,
        looks: Looks,
        arguments: Sequence[elements.Argument],
        curt: Any,
        condition: Any,
        after: Sequence[Any],
    ) -> Any:
        """Do so where the elements are surely not too many: a healthy execution costs less."""
        ops = self._host
        row = self._row(ops, None, looks.sizes)
        healthy, bad = ops.op("Switch", elements.none(ops), condition).outputs
        bad = self._counted_down(bad)
        ends = [healthy]
        if self._plan.settled is not None:
            row_of_healthy, row = ops.op("Switch", row, condition).outputs
            row, is_settled = self._looked_up(looks, row, curt)
            row = ops.tensor("Merge", [row_of_healthy, row])
            bad, known = ops.op("Switch", bad, is_settled).outputs
            ends.append(known)
        words = elements.words_if(self._ops, bad, arguments)
        return self._put(row, ops.tensor("Merge", [*ends, words]), after)

    def _counted_down(self, bad: Any) -> Any:
        """Return what is there where Python is told more; by then one less is to be measured."""
        if self._executions is None:
            return bad
        return magnitudes.counted_down(self._host, bad, self._number)

    def _looked_up(self, looks: Looks, row: Any, curt: Any) -> tuple[Any, Any]:
        """Return the rows of an execution by what is settled, and whether it is."""
        assert self._plan.settled is not None
        iteration = self._number_of_iteration() if self._plan.measured else None
        return settled.looked_up(
            self._host, row, self._plan.settled, looks.counted(), curt, looks.sizes, iteration
        )

    def _put_branch(self, row: Any, words: Any, after: Sequence[Any]) -> Any:
        """Put an execution into the queue; return a tensor that is there afterwards."""
        put = self._put(row, words, after)
        return self._host.after([put]).constant(0, tf.int32)

    def _put(self, row: Any, words: Any, after: Sequence[Any]) -> Any:
        number = self._number_of_iteration() if self._ends is None else self._ends
        ops, in_session = self._host.after(after), self._place.in_session
        return row_ops.put(ops, row, number, words, in_session=in_session)

    def _costs_less_by_python(self) -> bool:
        """Return whether the sink is to look at the tensors: of many, ops do it in less time."""
        if self._plan.mode is TensorDebugMode.FULL_HEALTH or not self._place.counts_ops:
            return False
        return len(self._items) <= _FEW_TENSORS or self._is_measured_by_python()

    def _is_measured_by_python(self) -> bool:
        """Return whether Python alone knows which executions are measured.

        That is so of the functions of a session's datasets: its sets do not have these.
        """
        return self._place.counts_ops and self._executions is not None

    def _are_elements_few(self, arguments: Sequence[elements.Argument]) -> bool:
        """Return whether to hand over all elements costs less than to look at them.

        Those that are on an accelerator stay there, if they are healthy.
        """
        if devices.has_accelerator() or not self._plan.counted:
            return False
        rows = self._plan.all_rows
        sizes = [rows[row].size for row in self._plan.counted]
        if None in sizes or sum(filter(None, sizes)) > _FEW_ELEMENTS:
            return False
        if len(sizes) <= _FEW_TENSORS:
            return True
        # Python counts in those of many executions at once, and ops pack those of one shape.
        is_countable = len({a.dtype for a in arguments}) == 1 and arguments[0].dtype.kind == "f"
        return is_countable and all(sizes) and len({a.shape for a in arguments}) <= _FEW_TENSORS

    def _is_quickly_settled(self) -> bool:
        """Return whether what is settled is known by much less than Python needs.

        That is so of few tensors as well: while Python runs, TensorFlow's other threads spin.
        """
        size = sum(observed.estimated_bytes(item.tensor) for item in self._items)
        return bool(self._plan.counted) and size <= _QUICKLY_COUNTED_BYTES

    def _is_worth_a_look(self, curt: Any, sizes: Sequence[Any]) -> Any:
        """Return whether Python is to look at the tensors.

        That is where one is bad or measured, in any case where it will be overwritten or Python
        has to ask itself, and in FULL_HEALTH where one is too large for float32 sums.
        """
        plan = self._plan
        if plan.overwritten or self._is_measured_by_python():
            return self._host.constant(True, tf.bool)
        # Not zero where one of its elements is not; it needs no constant for the axes.
        look = self._ops.tensor("L2Loss", curt)
        if plan.measured:
            # What is counted down is asked of Python.
            self._look = look if self._executions is None else None
            look = self._or_measured(look)
        return self._is_set(look, sizes)

    def _is_set(self, look: Any, sizes: Sequence[Any]) -> Any:
        """Return whether a number is not zero, and in FULL_HEALTH whether sums are not exact."""
        condition = self._host.tensor("Cast", look, DstT=tf.bool)
        if self._plan.mode is TensorDebugMode.FULL_HEALTH:
            self._plan.exact_limit = EXACT_FLOAT32
            return self._or_large(condition, sizes)
        return condition

    def _or_large(self, condition: Any, sizes: Sequence[Any]) -> Any:
        """Return whether a condition holds, or a tensor is too large for float32 sums."""
        ops = self._host
        known = (self._items[row].row.size or 0 for row in self._plan.large)
        if max(known, default=0) > EXACT_FLOAT32:
            return ops.constant(True, tf.bool)
        if not sizes:
            return condition
        largest = ops.tensor("Max", ops.tensor("Pack", list(sizes)), ops.constant([0], tf.int32))
        is_large = ops.tensor("Greater", largest, ops.constant(EXACT_FLOAT32, tf.int64))
        return ops.tensor("LogicalOr", condition, is_large)

    def _or_measured(self, look: Any) -> Any:
        """Return a float64 number: not zero where another is not, or what runs is measured."""
        if self._place.run_is_measured is not None:
            return self._host.tensor("AddV2", look, self._place.run_is_measured)
        if self._executions is not None:
            return self._host.tensor("AddV2", look, self._number_of_next_measured())
        return magnitudes.or_measured(self._host, self._measured(), look)

    def _number_of_next_measured(self) -> Any:
        """Return of how many of the next executions Python is told in any case."""
        assert self._executions is not None
        self._executions.ask(self._number)
        numbers, _ = self._measured()
        return magnitudes.next_measured(self._host, numbers, self._number)

    def _measured(self) -> Any:
        """Return what says whether what runs is measured; all groups of a graph share it."""
        if self._place.measured is None:
            number = self._number_of_iteration()
            self._place.measured = magnitudes.in_graph(self._host, number)
        return self._place.measured

    def _number_of_iteration(self) -> Any:
        """Return the iteration of the loop as int32; 0 if the graph is not the body of one."""
        if self._iteration is None:
            return self._host.constant(0, tf.int32)
        counter = self._place.tensor(self._iteration)
        if counter.dtype == tf.int32:
            return counter
        return self._host.tensor("Cast", counter, DstT=tf.int32)

    def _row(self, ops: OpMaker, iteration: Any, sizes: Sequence[Any]) -> Any:
        """Return the row, or the rows, of a healthy execution; see `row_ops.row_tensor`."""
        is_queued = goes_into_queue(self._place, self._plan)
        serial = self._serial if is_queued else None
        return row_ops.row_tensor(ops, self._number, iteration, sizes, serial)

    def _counter(self) -> Any:
        """Return the iteration of the loop, if the graph is the body of one."""
        if self._iteration is None:
            return None
        counter = self._place.tensor(self._iteration)
        return self._host.tensor("Cast", counter, DstT=tf.int64)

    def _here(self, item: Observed) -> Any:
        """Return what stands for a tensor where the ops are made."""
        return self._place.tensor(item.tensor)

    def _waited(self, item: Observed) -> Any:
        """Return an op to wait for: TensorFlow puts a mark on it, which is not to be the user's."""
        tensor = self._here(item)
        return tensor.op if self._serial is None else self._ops.op("Identity", tensor)

    def _add_shapes(self) -> list[Any]:
        unknown = [item for item in self._items if item.row.shape is None]
        self._columns += [
            ("shape", tensor_ops.shape(self._ops, self._here(item))) for item in unknown
        ]
        return [self._waited(item) for item in self._items if item.row.shape is not None]
