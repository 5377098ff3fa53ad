"""Of which executions the smallest and largest elements are recorded: those of one step in so many.

Graphs ask a set that they all know by its name: in a step that is measured it holds the numbers of
the iterations of loops that are, and what is in no loop counts as iteration 0.  The functions of
datasets run ahead of steps, so their executions are counted; the set has by negative numbers how
many of the next ones are measured.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump import locks, steps
from tfdbg_tui.dump.encode.causes import Measured
from tfdbg_tui.dump.tensorflow import functions, resources
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt

    Int64Array = npt.NDArray[np.int64]
    BoolArray = npt.NDArray[np.bool_]

_CPU = "/device:CPU:0"
_NAME = "tfdbg_tui_measured"
_ITERATIONS = {
    Measured.NOTHING: (),
    Measured.FEW_ITERATIONS: (0, 4, *(1 << exponent for exponent in range(5, 31))),
    Measured.MANY_ITERATIONS: (0, *(1 << exponent for exponent in range(31))),
}
"""Those of a loop that are measured: loops can be long, and to find extremes takes Python.

With fewer than the few (0, 4, 32, 64 ...) a gradient that vanishes over time steps is not found.
"""
EARLY = (0, 1, 2, 4, 7, 12, 21, 30, 41, 50, 61, 76, 91, 121, 150, 181)
"""The steps, calls and executions that are measured in any case, fewer and fewer of them.

One that is measured costs about half of another more, in the median, and so these 5 % of 200 steps.
Many a program breaks early; what is wrong with others shows in more than one of the last.  Odd and
even ones take turns, as programs may do.
"""
EVERY = 100
"""Besides these one in so many is measured."""
_FIRST = 3
"""In so many steps many iterations of loops are measured."""


def are_measured(iterations: Int64Array, measured: Int64Array) -> BoolArray:
    """Return which iterations of loops are measured, given the `Measured` of their calls."""
    is_measured = np.zeros(len(iterations), bool)
    for kind in np.unique(measured).tolist():
        is_measured |= (measured == kind) & np.isin(iterations, _ITERATIONS[kind])
    return is_measured


def in_graph(ops: OpMaker, iteration: Any) -> tuple[Any, Any]:
    """Return what says in a graph whether what runs is measured: the set, and what may be in it.

    Args:
        ops: Makes the ops.
        iteration: The int32 counter of the loop that the graph is the body of, or 0.
    """
    return resources.set_in_graph(ops.on(_CPU), _NAME), iteration


def next_measured(ops: OpMaker, numbers: Any, number: int) -> Any:
    """Return a float64 number of a graph: how many of its next executions are measured.

    Args:
        ops: Makes the op.
        numbers: The set.
        number: That of a group.
    """
    cpu = ops.on(_CPU)
    return resources.weight_in_graph(cpu, numbers, cpu.constant(-number, tf.int32))


def counted_down(ops: OpMaker, there: Any, number: int) -> Any:
    """Return a tensor equal to another one that is there only in executions that are told.

    By then it is one less that is measured.

    Args:
        ops: Makes the op that computes it.
        there: The other tensor, which is in a branch.
        number: That of a group.
    """
    graph = functions.graph_that_takes([there])
    inner = OpMaker(graph, _CPU)
    numbers = resources.set_in_graph(inner, _NAME)
    counted = resources.count_down(inner, numbers, inner.constant(-number, tf.int32))
    after = OpMaker(graph, there.device, [counted])
    graph.outputs = [after.tensor("Identity", graph.inputs[0])]
    (found,) = functions.call(ops, graph, [there])
    return found


def switches(graph: Any) -> dict[Measured, Any]:
    """Return the ops by which a session, whose sets are its own, lets its graphs know."""
    ops = OpMaker(graph, _CPU)
    numbers = resources.set_in_graph(ops, _NAME)
    many, few = _ITERATIONS[Measured.MANY_ITERATIONS], _ITERATIONS[Measured.FEW_ITERATIONS]
    none = resources.remove_in_graph(ops, numbers, many)
    return {
        Measured.NOTHING: none,
        Measured.FEW_ITERATIONS: resources.insert_in_graph(ops.after([none]), numbers, few),
        Measured.MANY_ITERATIONS: resources.insert_in_graph(ops, numbers, many),
    }


def or_measured(ops: OpMaker, measured: tuple[Any, Any], value: Any) -> Any:
    """Return a float64 number of a graph: 1.0 where what runs is measured, else some value.

    Args:
        ops: Makes the op.
        measured: What `in_graph` has returned.
        value: The value.
    """
    return resources.weight_or(ops.on(_CPU), *measured, value)


class ExecutionCount:
    """Says which executions of a group are measured where no step is known.

    Where few elements are handed over in each execution, it goes by their numbers.  Elsewhere the
    graph is told how many of its next executions to measure, and counts them down itself.

    Args:
        every: See `MeasuredSteps`.
        first_only: Whether no more than the first executions are measured.

    Attributes:
        is_asked: Whether the graph is told.
    """

    def __init__(self, every: int | None, *, first_only: bool = False) -> None:
        self.is_asked = False
        self._every = every or EVERY
        self._first_only = first_only
        self._lock = locks.new()
        self._number = 0  # of the group
        self._executions = 0
        self._expected = 0  # so many were asked for, and are not told yet

    def ask(self, number: int) -> None:
        """Let the graph of a group, given by its number, know of how many it is to tell."""
        self.is_asked, self._number = True, number
        self._expect(_FIRST)

    def ran(self, executions: int) -> None:
        """Note executions of a graph that is told; measure as many more as of them were due."""
        with self._lock:
            due = self._due(executions)[max(0, _FIRST - self._executions) :]
            if due.any():
                self._expect(max(int(due.sum()), self._expected))
            self._executions += executions

    def are_measured(self, executions: int) -> BoolArray:
        """Return which of some executions, whose elements are there, are measured."""
        with self._lock:
            if self.is_asked:
                told: BoolArray = np.arange(executions) < self._expected
                self._expected -= int(told.sum())
                return told
            found = self._due(executions)
            self._executions += executions
            return found

    def _due(self, executions: int) -> BoolArray:
        numbers = self._executions + np.arange(executions)
        if self._first_only:
            first: BoolArray = numbers < _FIRST
            return first
        due: BoolArray = np.isin(numbers, EARLY) | (numbers % self._every == 0)
        return due

    def _expect(self, executions: int) -> None:
        self._expected = executions
        resources.add_to_set(_NAME, [-self._number], executions)


class MeasuredSteps:
    """Says which executions are measured.

    Outside of steps, calls of a function and executions of an op in a line are counted instead.
    What is executed several times while eager code trains its variables once is measured in the
    same rounds of that as what is executed once.

    Args:
        every: Besides the early ones, one step in so many is measured; 0 for none of all, None for
            so many as is known to cost little.
    """

    def __init__(self, every: int | None) -> None:
        self.every = every
        self._lock = locks.new()
        self._set_in: Any = None  # context of TensorFlow's: what runs in it is
        self._measured = Measured.NOTHING  # in graphs
        self._in_step = Measured.NOTHING
        self._counts: Counter[Hashable] = Counter()
        self._first_step: int | None = None
        self._is_asked = False
        self._is_next_wanted = False  # of steps
        self._since_asked: set[Hashable] = set()  # outside of steps: what has been measured
        self._changed: int | None = None  # the variable that eager code has trained last
        self._ends_round: int | None = None  # the one that it trains last in each round
        self._rounds = 0
        self._is_round_measured = Measured.NOTHING
        self._in_round: Counter[Hashable] = Counter()  # executions, if it is measured

    def measure_next(self) -> None:
        """Measure the next step in any case; outside of steps, the next execution of each thing."""
        self._is_asked = self._is_next_wanted = True
        self._since_asked.clear()

    def step_begins(self, number: int) -> None:
        """Decide whether a training step is measured."""
        if self.every == 0:
            return
        if self._first_step is None:
            self._first_step = number
        is_wanted, self._is_next_wanted = self._is_next_wanted, False
        self._in_step = self._due(number, number - self._first_step, is_wanted=is_wanted)

    def gradients_begin(self) -> None:
        """Note that a tape computes gradients: what was trained last before ends each round."""
        if self._ends_round is None and self._changed is not None:
            self._ends_round = self._changed
            self._round_ends()

    def trained(self, variable: int) -> None:
        """Note that eager code changes a variable that it has asked the gradient of."""
        self._changed = variable
        if variable == self._ends_round:
            self._round_ends()

    def _round_ends(self) -> None:
        self._rounds += 1
        self._is_round_measured = self._due(self._rounds, self._rounds, is_wanted=False)
        self._in_round.clear()

    def end(self) -> None:
        """Measure nothing in graphs until the next call begins."""
        self._set(Measured.NOTHING)

    def call_begins(self, name: str) -> Measured:
        """Decide whether the call of a function is measured, and let the graphs know."""
        self._set(self.next(name))
        return self._measured

    def run_begins(self, name: str) -> Measured:
        """Decide whether the run of a session is measured; its graph is fed with that."""
        self.end()
        with self._lock:
            self._set_in, self._measured = None, self.next(name)
        return self._measured

    def next(self, what: Hashable) -> Measured:
        """Return of what in the next execution of something the extremes are recorded."""
        if self.every == 0:
            return Measured.NOTHING
        if steps.current is not None:
            return self._in_step
        number = self._counts[what]
        self._counts[what] = number + 1
        is_wanted = self._is_asked and what not in self._since_asked
        if is_wanted:
            self._since_asked.add(what)
        if number > self._rounds > 0 and not is_wanted:
            return self._next_in_round(what)
        return self._due(number, number, is_wanted=is_wanted)

    def _next_in_round(self, what: Hashable) -> Measured:
        """Return the same of what is executed several times in a round; of many times some."""
        if not self._is_round_measured:
            return Measured.NOTHING
        number = self._in_round[what]
        self._in_round[what] = number + 1
        return self._is_round_measured if number in EARLY else Measured.NOTHING

    def graph(self, iteration: int) -> bool:
        """Return whether what runs now in graphs is measured, in an iteration of a loop."""
        return iteration in _ITERATIONS[self._measured]

    def _due(self, number: int, since_first: int, *, is_wanted: bool) -> Measured:
        is_due = since_first in EARLY or not number % (self.every or EVERY)
        if not (is_due or is_wanted):
            return Measured.NOTHING
        is_many = self.every or since_first < _FIRST
        return Measured.MANY_ITERATIONS if is_many else Measured.FEW_ITERATIONS

    def _set(self, measured: Measured) -> None:
        with self._lock:
            current = resources.current_context()
            if measured is self._measured and (not measured or self._set_in is current):
                return
            if self._measured and self._set_in is current:
                resources.remove_from_set(_NAME, _ITERATIONS[self._measured])
            if measured:
                resources.add_to_set(_NAME, _ITERATIONS[measured])
            self._set_in, self._measured = current, measured
