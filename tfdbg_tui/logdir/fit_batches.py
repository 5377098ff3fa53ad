"""Which batch of which epoch of Keras' `fit` a training step is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfdbg_tui.wire import events


class FitBatch(NamedTuple):
    """A batch as the progress bar of `fit` counts, from 1.

    Attributes:
        epoch: The epoch.
        batch: The batch in it, the first one where a step is several.
        last_batch: The last one of the step.
        fit: Which call of `fit` it is of, from 1; None where there is one alone.
    """

    epoch: int
    batch: int
    last_batch: int
    fit: int | None = None


def fit_batch(recorded: Iterable[Sequence[events.FitBatch]], step: int) -> FitBatch | None:
    """Return the batch that a step is; None where it is none, or more than one by steps again.

    Args:
        recorded: The records of each file set, in order of time: each tells of its own step, and of
            those after it until the next one.
        step: The step.
    """
    found = {batch for records in recorded for batch in _batches(records, step)}
    if len(found) > 1:  # in several fits, whose steps have the same numbers, perhaps the same batch
        found = {batch._replace(fit=None) for batch in found}
    return found.pop() if len(found) == 1 else None


def _batches(records: Sequence[events.FitBatch], step: int) -> Iterator[FitBatch]:
    """Yield each batch that a step of one file set is."""
    fits = _fits(records)
    for (first, end), fit in zip(pairwise([*records, None]), fits, strict=True):
        if first is None or not first.epoch or first.step > step:
            continue
        if not _is_ended(first, end, step):
            together = first.together or 1
            batch = first.batch + (step - first.step) * together
            last = batch + together - 1
            yield FitBatch(first.epoch, batch, last, fit if fits[-1] > 1 else None)


def step_of_batch(
    recorded: Iterable[Sequence[events.FitBatch]], epoch: int, batch: int
) -> int | None:
    """Return the first step that is a batch; None where no step is.

    Args:
        recorded: See `fit_batch`.
        epoch: The epoch, from 1.
        batch: The batch in it, from 1.
    """
    for records in recorded:
        for first, end in pairwise([*records, None]):
            if first is None or first.epoch != epoch or first.batch > batch:
                continue
            step = first.step + (batch - first.batch) // (first.together or 1)
            if not _is_ended(first, end, step):
                return step
    return None


def _fits(records: Sequence[events.FitBatch]) -> list[int]:
    """Return of each record which call of `fit` it is of: a new one begins where one has ended."""
    numbers, before = [0], (0, 0)
    for record in records:
        here = record.epoch, record.batch
        begins = record.epoch and (not before[0] or here <= before)
        numbers.append(numbers[-1] + bool(begins))
        before = here
    return numbers[1:]


def _is_ended(first: events.FitBatch, end: events.FitBatch | None, step: int) -> bool:
    """Whether a step comes after what a record tells of; steps may begin anew after it."""
    return end is not None and first.step < end.step <= step
