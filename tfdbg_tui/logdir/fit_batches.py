"""Which batch of which epoch of Keras' `fit` a training step is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.wire import events


class FitBatch(NamedTuple):
    """A batch as the progress bar of `fit` counts, from 1.

    Attributes:
        epoch: The epoch.
        batch: The batch in it.
    """

    epoch: int
    batch: int


def fit_batch(recorded: Iterable[Sequence[events.FitBatch]], step: int) -> FitBatch | None:
    """Return the batch that a step is; None where it is none, or more than one.

    Args:
        recorded: The records of each file set, in order of time: each tells of its own step, and of
            those after it until the next one.
        step: The step.
    """
    found = {
        FitBatch(first.epoch, first.batch + step - first.step)
        for records in recorded
        for first, end in pairwise([*records, None])
        if first is not None and first.epoch and first.step <= step
        if not _is_ended(first, end, step)
    }
    return found.pop() if len(found) == 1 else None


def _is_ended(first: events.FitBatch, end: events.FitBatch | None, step: int) -> bool:
    """Whether a step comes after what a record tells of; steps may begin anew after it."""
    return end is not None and first.step < end.step <= step
