"""Of which executions the smallest and largest elements are recorded: those of one step in so many.

Graphs ask a set that they all know by its name: in a step that is measured it holds the numbers of
the iterations of loops that are, and what is in no loop counts as iteration 0.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdbg_tui.dump import steps
from tfdbg_tui.dump.encode.causes import Measured
from tfdbg_tui.dump.tensorflow import resources

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

    Int64Array = npt.NDArray[np.int64]
    BoolArray = npt.NDArray[np.bool_]

_NAME = "tfdbg_tui_measured"
_ITERATIONS = {
    Measured.NOTHING: (),
    Measured.FEW_ITERATIONS: (0, 4, *(1 << exponent for exponent in range(5, 31))),
    Measured.MANY_ITERATIONS: (0, *(1 << exponent for exponent in range(31))),
}
"""Those of a loop that are measured: loops can be long, and to find extremes takes Python.

Of fewer than the few (0, 4, 32, 256) a gradient that vanishes over the time steps is not told.
"""
_FIRST = 16
"""So many steps, calls and executions are measured in any case: many a program breaks early."""
_EARLY, _EARLY_EVERY = 200, 10
_EVERY = 100
"""Up to `_EARLY` one in ten is measured, then one in so many: a step that is measured costs up to
four others, and is to cost 5 % of all.  Less often shows less of what ails a training.
"""


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
    return resources.set_in_graph(ops.on("/device:CPU:0"), _NAME), iteration


def or_measured(ops: OpMaker, measured: tuple[Any, Any], value: Any) -> Any:
    """Return a float64 number of a graph: 1.0 where what runs is measured, else some value.

    Args:
        ops: Makes the op.
        measured: What `in_graph` has returned.
        value: The value.
    """
    return resources.weight_or(ops.on("/device:CPU:0"), *measured, value)


class MeasuredSteps:
    """Says which executions are measured.

    Outside of steps, calls of a function and executions of an op in a line are counted instead.

    Args:
        every: One step in so many is measured; 0 for none, None for fewer and fewer of them.
    """

    def __init__(self, every: int | None) -> None:
        self.every = every
        self._lock = threading.Lock()
        self._set_in: Any = None  # context of TensorFlow's: what runs in it is
        self._measured = Measured.NOTHING  # in graphs
        self._in_step = Measured.NOTHING
        self._counts: Counter[Hashable] = Counter()
        self._first_step: int | None = None

    def step_begins(self, number: int) -> None:
        """Decide whether a training step is measured."""
        if self.every == 0:
            return
        if self._first_step is None:
            self._first_step = number
        self._in_step = self._due(number, number - self._first_step)

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
        return self._due(number, number)

    def graph(self, iteration: int) -> bool:
        """Return whether what runs now in graphs is measured, in an iteration of a loop."""
        return iteration in _ITERATIONS[self._measured]

    def _due(self, number: int, since_first: int) -> Measured:
        if 0 <= since_first < _FIRST:
            return Measured.MANY_ITERATIONS
        every = self.every or (_EVERY if since_first > _EARLY else _EARLY_EVERY)
        if number % every:
            return Measured.NOTHING
        return Measured.MANY_ITERATIONS if self.every else Measured.FEW_ITERATIONS

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
