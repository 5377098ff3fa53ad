"""Training steps: which step a record belongs to."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

current: int | None = None
"""The training step that the program is in; None outside of any."""

FitBatch = tuple[int, int, int]
"""An epoch and a batch in it, as the progress bar of Keras' `fit` counts, from 1; and how many.

A step is several batches where Keras runs as many in one call (`steps_per_execution`).
"""

NO_BATCH: FitBatch = (0, 0, 0)
"""Stands for what is outside of `fit`."""

listeners: list[Callable[[int | None, FitBatch | None], None]] = []
"""Told of every step before it begins, and of None before it ends; with the batch of `fit`.

That is `NO_BATCH` when a `fit` has ended, and None where nothing is known of any.
"""


def begin(number: int | None, batch: FitBatch | None = None) -> None:
    """Enter a step.

    Args:
        number: The step; None to leave it.
        batch: What it is in `fit`; None outside.
    """
    global current
    for listener in tuple(listeners):
        listener(number, batch)
    current = number


@contextlib.contextmanager
def step(number: int) -> Iterator[None]:
    """Mark what runs inside as one training step.

    The number is written into every record, and `every` counts by it.  Steps belong to the whole
    process, not to a thread.

    Args:
        number: The step, 0 or more.

    Raises:
        ValueError: The number is negative.
    """
    if number < 0:
        raise ValueError(f"a step is a number from 0, but received {number}")
    before = current
    begin(int(number))
    try:
        yield
    finally:
        begin(before)
