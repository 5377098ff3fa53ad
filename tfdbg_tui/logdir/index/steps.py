"""The training steps of a run: which one each execution is in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfdbg_tui.logdir.index.columns import Int64Array


class Steps:
    """Which training step each execution is in; an immutable view.

    Args:
        marks: Number of each execution's step; -1 where it is in none, shape [executions].
        counted_by: Op type or function whose executions were counted; None for recorded steps.

    Attributes:
        numbers: The steps that there are, ascending.
        counted_by: Where the program marked no steps, or Keras' `fit` alone and loops came after
            it: the op type or function of which each execution was taken to be in one of its own,
            from 0 or after those of `fit`.  None where all steps were recorded.
    """

    def __init__(self, marks: Int64Array, counted_by: str | None = None) -> None:
        self._marks = marks
        self.counted_by = counted_by
        self.numbers = distinct(marks[marks >= 0])

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.numbers)

    @cached_property
    def _marked(self) -> Int64Array:
        """The executions that are in a step, ascending."""
        return np.flatnonzero(self._marks >= 0)

    def of(self, execution: int) -> int | None:
        """Return the step that an execution is in; None where it is in none."""
        mark = int(self._marks[execution])
        return mark if mark >= 0 else None

    def before(self, execution: int) -> int | None:
        """Return the step that ended last before an execution that is in none; None without."""
        place = int(np.searchsorted(self._marked, execution)) - 1
        is_between = place >= 0 and self.of(execution) is None
        return int(self._marks[self._marked[place]]) if is_between else None

    def numbers_of(self, executions: Int64Array) -> Int64Array:
        """Return the steps that some executions are in; -1 for each that is in none."""
        return self._marks[executions]

    def first_execution(self, number: int) -> int | None:
        """Return the index of the first execution in a step; None where there is none."""
        found = np.flatnonzero(self._marks == number)
        return int(found[0]) if found.size else None

    def from_number(self, number: int) -> int | None:
        """Return the first step that there is from a number on."""
        place = int(np.searchsorted(self.numbers, number))
        return int(self.numbers[place]) if place < len(self.numbers) else None

    def next_execution(self, execution: int, direction: int) -> int | None:
        """Return the first execution of the nearest step that is later (1) or earlier (-1).

        Executions that are in no step lie between those of their neighbours: from there, and to
        them, one goes as the executions are in order.

        Args:
            execution: Index of an execution.
            direction: 1 or -1.

        Returns:
            The index of an execution; None where there is no such step.
        """
        here = self.of(execution)
        if here is None:
            near = self._marks[execution:] if direction > 0 else self._marks[execution::-1]
            marked = near[near >= 0]
            return self.first_execution(int(marked[0])) if marked.size else None
        place = int(np.searchsorted(self.numbers, here)) + direction
        if not 0 <= place < len(self.numbers):
            return None
        return self.first_execution(int(self.numbers[place]))


def distinct(numbers: Int64Array) -> Int64Array:
    """Return the distinct ones of numbers from 0, ascending."""
    if numbers.size and int(numbers.max()) < 4 * numbers.size:
        return np.flatnonzero(np.bincount(numbers))  # ten times as fast as sorting them
    return np.unique(numbers)
