"""Finds the training steps of a run: as the program marked them, else as its executions repeat."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.logdir.index.repeated_ops import REPEATED, ops_that_count, where_most_repeat
from tfdbg_tui.logdir.index.steps import Steps, distinct
from tfdbg_tui.logdir.index.training_calls import trains

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import numpy.typing as npt

    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.events import ExecutionKind
    from tfdbg_tui.logdir.index.columns import ColumnView, Int64Array

    Flags = npt.NDArray[np.bool_]

_NUMBER = re.compile(r"_\d+$| #\d+$")
_MAKE_VARIABLES = ("VarHandleOp", "VarIsInitializedOp")  # repeat with the variables, not steps
_FETCH = "IteratorGetNext"
_MUCH_LONGER = 2  # times as many executions
_MOST_LOOPS = 200  # that are counted


def find_steps(
    recorded: ColumnView,
    kinds: ColumnView,
    stacks: ColumnView,
    kind_values: Sequence[ExecutionKind],
    graphs: Mapping[str, Graph],
    gradients: Collection[int],
    is_backward: Callable[[int], bool],
    *,
    marked_by_fit: bool = False,
) -> Steps:
    """Return the steps of a run.

    Where the program marked none, or after those that Keras' `fit` has marked, the function that is
    called most often, of those that compute gradients if there are any, is taken to be called once
    a step, which begins with what its loop executes before it; where no function is called, or
    eager ops alone compute gradients, with the op that begins what repeats.  Such a loop ends with
    the last op by a line of it.  Other loops that train, before it and after it, are counted on.

    Args:
        recorded: Step of each execution plus 1, 0 where it has none; shape [executions].
        kinds: Number of each execution's kind; shape [executions].
        stacks: Number of each execution's stack; shape [executions].
        kind_values: The kinds by number.
        graphs: The graphs by id, which tell the functions that compute gradients.
        gradients: Numbers of the stacks of eager ops that made gradients.
        is_backward: Returns whether a stack, by its number, is of a backward pass.
        marked_by_fit: Whether it is `fit` that has marked steps, and not the program itself.
    """
    marks = recorded[:] - 1
    marked = np.flatnonzero(marks >= 0)
    # Where `fit` has begun and no step of it is on record, others would be taken for its batches.
    if bool(marked.size) != marked_by_fit or not len(marks):
        return Steps(marks)
    start = int(marked[-1]) + 1 if marked.size else 0
    if len(marks) - start < REPEATED:
        return Steps(marks)
    kind_of = _whatever_the_mode(kind_values)[kinds[:]]
    kind_of = _whatever_the_trace(kind_of, stacks[:], kind_values)[kind_of]
    search = _Search(kind_of, stacks[:], kind_values, graphs, list(gradients), is_backward)
    main = search.loop(start, len(marks))
    if main is None or (marked.size and not main.trains):
        return Steps(marks)
    number = int(marks.max()) + 1
    for loop in search.with_others(main, start):
        ends = np.append(loop.begins[1:], loop.end)
        marks[loop.begins[0] : loop.end] = number + np.repeat(
            np.arange(len(ends)), ends - loop.begins
        )
        number += len(ends)
    return Steps(marks, kind_values[int(kind_of[main.counted])].op_type)


class _Loop(NamedTuple):
    """What repeats.

    Attributes:
        begins: The executions that it begins anew with, ascending.
        end: The execution before which it ends.
        counted: An execution of the op or function that is counted.
        trains: Whether it is known to compute gradients.
    """

    begins: Int64Array
    end: int
    counted: int
    trains: bool


class _Search:
    """Finds the loops of a program that marks no steps.

    Args:
        kinds: Number of each execution's kind, the same for all modes and traces.
        stacks: See `find_steps`, as the rest.
        kind_values: The kinds by number.
        graphs: The graphs by id.
        gradients: Numbers of the stacks of eager ops that made gradients.
        is_backward: See `find_steps`.
    """

    def __init__(
        self,
        kinds: Int64Array,
        stacks: Int64Array,
        kind_values: Sequence[ExecutionKind],
        graphs: Mapping[str, Graph],
        gradients: Sequence[int],
        is_backward: Callable[[int], bool],
    ) -> None:
        self._kinds = kinds
        self._stacks = stacks
        self._is_function = np.array([kind.is_function for kind in kind_values])
        self._trains = cache(lambda number: trains(kind_values[number], graphs))
        self._left_out = np.array([kind.op_type in _MAKE_VARIABLES for kind in kind_values])
        self._fetches = np.array([kind.op_type == _FETCH for kind in kind_values])
        self._gradients = gradients
        self._is_backward = cache(is_backward)

    def with_others(self, main: _Loop, first: int) -> list[_Loop]:
        """Return a loop and those that train before and after it, in order.

        Args:
            main: The loop.
            first: The execution before which no other is looked for.
        """
        found = [main]
        parts = [(first, int(main.begins[0])), (main.end, len(self._kinds))]
        while parts and len(found) < _MOST_LOOPS:
            start, end = parts.pop()
            loop = self.loop(start, end) if end - start >= REPEATED else None
            if loop is not None and loop.trains:
                found.append(loop)
                parts += (start, int(loop.begins[0])), (loop.end, end)
        return sorted(found, key=lambda loop: loop.end)

    def loop(self, start: int, end: int) -> _Loop | None:
        """Return the loop of a part of the program that is most likely to be the training.

        Args:
            start: The first execution of the part.
            end: The execution before which it ends.
        """
        kinds, stacks = self._kinds[start:end], self._stacks[start:end]
        counts = np.bincount(kinds)
        functions = np.flatnonzero((counts >= REPEATED) & self._is_function[: len(counts)])
        training = [number for number in functions.tolist() if self._trains(number)]
        eager = _while_eager_code_trains(stacks, self._gradients)
        if training or (functions.size and eager is None):
            some = np.array(training) if training else functions
            called = kinds == some[counts[some].argmax()]
            begins = _where_its_loop_begins(called, kinds, stacks, self._is_function)
            counted = int(called.argmax())
        else:
            looked_at = eager if functions.size else None
            gradients = self._gradients if eager is not None else ()
            most = self._times_differentiated(stacks) if gradients else 0
            ops = ops_that_count(kinds, stacks, self._left_out, gradients, looked_at)
            found = where_most_repeat(ops, self._fetches, most)
            if found is None or (eager is None and _is_before_the_rest(found)):
                return None
            begins, counted = found, int(found.argmax())
        is_training = bool(training) or eager is not None
        rows = np.flatnonzero(begins)
        last = _end(kinds << 32 | stacks, rows) if is_training else len(kinds)
        return _Loop(rows + start, last + start, counted + start, is_training)

    def _times_differentiated(self, stacks: Int64Array) -> int:
        """Return how often something else was executed, and then a backward pass."""
        backward = [number for number in np.unique(stacks).tolist() if self._is_backward(number)]
        return int(np.count_nonzero(np.diff(np.isin(stacks, backward).view(np.int8)) > 0))


def _while_eager_code_trains(stacks: Int64Array, gradients: Collection[int]) -> slice | None:
    """Return the executions between the first gradient of eager ops and the last one; None if few.

    Args:
        stacks: See `find_steps`.
        gradients: See `find_steps`.
    """
    rows = np.flatnonzero(np.isin(stacks, list(gradients)))
    return slice(rows[0], rows[-1]) if len(rows) >= REPEATED else None


def _end(ops: Int64Array, begins: Int64Array) -> int:
    """Return the execution before which a loop ends: all after it is by no line of the loop."""
    in_loop = np.unique(ops[begins[0] : begins[-1] + 1])
    return int(np.flatnonzero(np.isin(ops, in_loop))[-1]) + 1


def _whatever_the_mode(kind_values: Sequence[ExecutionKind]) -> Int64Array:
    """Return, of each kind, the first one that is like it but for the tensor debug mode.

    In ADAPTIVE a call with a bad output is recorded in another mode than those before it.
    """
    first: dict[ExecutionKind, int] = {}
    numbers = [first.setdefault(replace(kind, mode=0), i) for i, kind in enumerate(kind_values)]
    return np.array(numbers, np.int64)


def _whatever_the_trace(
    kind_of: Int64Array, stacks: Int64Array, kind_values: Sequence[ExecutionKind]
) -> Int64Array:
    """Return, of each kind, the first one that is a trace of the same function, or itself.

    A function is traced again for a batch of another shape, as the last one of an epoch; the
    traces have the same name but for its number, and are called by the same line.
    """
    numbers = np.arange(len(kind_values))
    width = int(stacks.max()) + 1
    first: dict[tuple[int, str, int], int] = {}
    for kind, stack in (
        divmod(pair, width) for pair in distinct(kind_of * width + stacks).tolist()
    ):
        value = kind_values[kind]
        if value.is_function:
            called = value.file_set, _NUMBER.sub("", value.op_type), stack
            numbers[kind] = numbers[first.setdefault(called, kind)]
    return numbers


def _where_its_loop_begins(
    called: Flags, kind_of: Int64Array, stacks: Int64Array, is_function: Flags
) -> Flags:
    """Return where the loop that calls a function begins anew; the calls themselves if not known.

    What the loop executes before the call, as the fetch of the batch, is of the same step.  Of a
    function that it calls the first call has a stack of its own, as it is traced there.

    Args:
        called: Where the function is called.
        kind_of: See `find_steps`.
        stacks: See `find_steps`.
        is_function: Of each kind whether it is a call of a function.
    """
    calls = np.flatnonzero(called)
    ahead = stacks[: calls[0]]
    once, total = np.bincount(ahead, minlength=int(stacks.max()) + 1), np.bincount(stacks)
    # Of a line in the loop all ops but for those of a last fetch come once with each call.
    in_loop = (once * len(calls) <= total) & (total <= once * (len(calls) + 1))
    counts = np.bincount(kind_of)
    as_often = is_function[: len(counts)] & (counts == len(calls))
    before = np.flatnonzero(in_loop[ahead] | as_often[kind_of[: calls[0]]])
    ops = zip(kind_of[before].tolist(), stacks[before].tolist(), strict=True)
    for kind, stack in dict.fromkeys(ops):
        rows = np.flatnonzero((kind_of == kind) & (as_often[kind] | (stacks == stack)))
        if _one_before_each(rows, calls):
            begins = np.zeros_like(called)
            begins[rows[: len(calls)]] = True
            return begins
    return called


def _one_before_each(rows: Int64Array, calls: Int64Array) -> bool:
    """Return whether there is one row before each call, and at most one after the last.

    The one after the last may be the fetch that finds no further batch.
    """
    if not 0 <= len(rows) - len(calls) <= 1:
        return False
    after_a_call = rows[1:] > calls[: len(rows) - 1]
    return bool((rows[: len(calls)] < calls).all() and after_a_call.all())


def _is_before_the_rest(begins: Flags) -> bool:
    """Return whether most of the program comes after what repeats: first values, for example."""
    rows = np.flatnonzero(begins)
    return bool(len(begins) - rows[-1] > _MUCH_LONGER * (rows[-1] - rows[0]))
