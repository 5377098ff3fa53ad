"""Which batch of `fit` a step is, by what is recorded where batches do not follow one another."""

from __future__ import annotations

import pytest

from tfdbg_tui.logdir.fit_batches import fit_batch, step_of_batch
from tfdbg_tui.wire.events import FitBatch

TWO_EPOCHS = [FitBatch(0, 1, 1), FitBatch(8, 2, 1), FitBatch(16, 0, 0)]
"""Of eight batches each; then come steps outside of `fit`."""


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, (1, 1)), (5, (1, 6)), (8, (2, 1)), (15, (2, 8)), (16, None)],
)
def test_the_batch_of_a_step(step: int, expected: tuple[int, int] | None) -> None:
    found = fit_batch([TWO_EPOCHS], step)
    assert (found and (found.epoch, found.batch)) == expected
    assert not found or (found.last_batch, found.fit) == (found.batch, None)


def test_a_step_may_be_several_batches() -> None:
    records = [FitBatch(0, 1, 1, 5), FitBatch(4, 1, 21, 2), FitBatch(5, 2, 1, 5)]
    assert fit_batch([records], 3) == (1, 16, 20, None)
    assert fit_batch([records], 4) == (1, 21, 22, None)
    assert fit_batch([records], 6) == (2, 6, 10, None)


def test_the_step_of_a_batch() -> None:
    assert step_of_batch([TWO_EPOCHS], 2, 3) == 10
    assert step_of_batch([TWO_EPOCHS], 1, 9) is None
    assert step_of_batch([[FitBatch(0, 1, 1, 5)]], 1, 18) == 3


def test_of_many_fits_it_is_told_which_one() -> None:
    """Each is told to have ended, but for one that raised."""
    fits = [FitBatch(0, 1, 1), FitBatch(1), FitBatch(1, 1, 1), FitBatch(3, 2, 1), FitBatch(4, 1, 1)]
    assert [fit_batch([fits], step) for step in (0, 2, 3, 5)] == [
        (1, 1, 1, 1),
        (1, 2, 2, 2),
        (2, 1, 1, 2),
        (1, 2, 2, 3),
    ]


def test_a_step_that_comes_again_is_no_batch() -> None:
    """Another model is fitted after the first one; its steps begin anew."""
    again = [*TWO_EPOCHS[:2], FitBatch(0, 1, 1), FitBatch(4, 2, 1)]
    assert fit_batch([again], 3) == (1, 4, 4, None)
    assert fit_batch([again], 5) is None


def test_processes_that_fit_alike_agree() -> None:
    assert fit_batch([TWO_EPOCHS, TWO_EPOCHS, []], 9) == (2, 2, 2, None)
    assert fit_batch([TWO_EPOCHS, [FitBatch(0, 1, 1)]], 9) is None


def test_without_records_there_is_no_batch() -> None:
    assert fit_batch([[]], 0) is None
    assert fit_batch([[FitBatch(3, 1, 1)]], 0) is None
