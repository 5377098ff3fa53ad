"""Of which executions the smallest and largest elements are recorded: those of one step in so many.

Graphs ask a set that they all know by its name: in a step that is measured it holds the numbers of
the iterations of loops that are, and what is in no loop counts as iteration 0.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import steps
from tfdbg_tui.dump.tensorflow import resources

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_NAME = "tfdbg_tui_measured"
_ITERATIONS = (0, *(1 << exponent for exponent in range(31)))
"""Those of a loop that are measured: loops can be long, and to find extremes takes Python."""
_FIRST = 16
"""So many steps, calls and executions are measured in any case: many a program breaks early."""
_EARLY, _EARLY_EVERY = 200, 10
_EVERY = 100
"""Up to `_EARLY` one in ten is measured, then one in so many: a step that is measured costs up to
five others (an LSTM), and is to cost 5 % of all.
"""


def is_measured(iteration: Any) -> Any:
    """Return whether an iteration of a loop is measured, or which of several, where its call is."""
    return iteration & (iteration - 1) == 0


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
        self._is_step_due = False
        self._counts: Counter[Hashable] = Counter()
        self._first_step: int | None = None

    def step_begins(self, number: int) -> None:
        """Decide whether a training step is measured."""
        if self.every == 0:
            return
        if self._first_step is None:
            self._first_step = number
        self._is_step_due = self._is_due(number, number - self._first_step)

    def end(self) -> None:
        """Measure nothing in graphs until the next call begins."""
        self._set(False)

    def call_begins(self, name: str) -> bool:
        """Decide whether the call of a function is measured, and let the graphs know."""
        self._set(self.next(name))
        return self._set_in is not None

    def next(self, what: Hashable) -> bool:
        """Return whether the next execution of something is measured."""
        if self.every == 0:
            return False
        if steps.current is not None:
            return self._is_step_due
        number = self._counts[what]
        self._counts[what] = number + 1
        return self._is_due(number, number)

    def graph(self, iteration: int) -> bool:
        """Return whether what runs now in graphs is measured, in an iteration of a loop."""
        return self._set_in is not None and bool(is_measured(iteration))

    def _is_due(self, number: int, since_first: int) -> bool:
        every = self.every or (_EVERY if since_first > _EARLY else _EARLY_EVERY)
        return number % every == 0 or 0 <= since_first < _FIRST

    def _set(self, value: bool) -> None:
        with self._lock:
            if not value and self._set_in is None:
                return
            current = resources.current_context()
            if value and self._set_in is not current:
                resources.add_to_set(_NAME, _ITERATIONS)
            elif not value and self._set_in is current:
                resources.remove_from_set(_NAME, _ITERATIONS)
            self._set_in = current if value else None
