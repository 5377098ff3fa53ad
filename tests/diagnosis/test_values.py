"""The words for what a tensor holds."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis import bad_elements_text
from tfdbg_tui.diagnosis.values import told_apart
from tfdbg_tui.logdir import TensorSummary

ROW = tuple((3, column) for column in range(8))


@pytest.mark.parametrize(
    ("found", "bad", "text"),
    [
        ((), 5, ""),
        (((),), 1, ""),
        (((3, 7),), 1, "[3, 7]"),
        (((3, 7), (9, 1)), 2, "[3, 7], [9, 1]"),
        (((3, 7), (9, 7)), 2, "[3, 7], [9, 7]: all in [:, 7]"),
        (ROW, 8, "[3, 0], [3, 1], [3, 2], [3, 3] and more: all in [3, :]"),
        (ROW, 9, "[3, 0], [3, 1], [3, 2], [3, 3] and more: the first 8 in [3, :]"),
        (((3, 0), (3, 1), (9, 0)), 3, "[3, 0], [3, 1], [9, 0]: all in rows 3, 9"),
        (((3,), (4,)), 2, "[3], [4]"),
        (ROW, 100, ""),  # all of them
    ],
)
def test_where_bad_elements_are(found: tuple[tuple[int, ...], ...], bad: int, text: str) -> None:
    summary = TensorSummary(4, True, size=100, nan=bad, pos_inf=0, neg_inf=0, bad_elements=found)
    assert bad_elements_text(summary) == text


@pytest.mark.parametrize(("nan", "text"), [(2, "[3, 7], [9, 7]: all in [:, 7]"), (100, "")])
def test_of_infinite_elements_beside_nan_nothing_is_told(nan: int, text: str) -> None:
    found = ((3, 7), (9, 7))
    summary = TensorSummary(4, True, size=100, nan=nan, pos_inf=0, neg_inf=60, bad_elements=found)
    assert bad_elements_text(summary) == text


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (1.0000001192092896, 1.0, ("1.0000001", "1")),
        (65500.0, 65504.0, ("65500", "65504")),
        (2.5, 1.0, ("2.5", "1")),
        (1.0, 1.0, ("1", "1")),
    ],
)
def test_a_number_is_told_apart_from_the_bound_beside_it(
    one: float, other: float, texts: tuple[str, str]
) -> None:
    assert told_apart(one, other, 3) == texts
