"""The table of what may become of ∞: each row decides its example, and is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.diagnosis.roots.tolerance import TOLERANCES, Infinity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.roots.tolerance import Row

FACTS = [name for name, value in vars(Infinity).items() if isinstance(value, property)]
MASK = {"is_from_outside": True, "is_written_down": True, "is_only_passed_on": True}
EXAMPLES: dict[str, dict[str, Any]] = {
    "marker": {"op_type": "Fill", "is_marker": True, **MASK},
    "mask": {"op_type": "Const", **MASK},
    "from-outside": {"op_type": "Placeholder", "is_from_outside": True},
    "given-by-python": {"op_type": "AddV2", "is_given_by_python": True},
    "sum-of-masks": {"op_type": "AddV2", "is_of_small_type": True, "is_sum_of_masks": True},
    "small-type": {"op_type": "Exp", "is_of_small_type": True},
    "algorithm": {"op_type": "Mul", "is_inside_algorithm": True},
    "logarithm": {"op_type": "Log", "is_used_as_logarithm": True},
    "sum-of-quotients": {"op_type": "RealDiv", "is_added_up": True},
    "large-number": {"op_type": "Square", "is_large_number": True},
    "exponential": {"op_type": "Exp"},
    "any-other": {"op_type": "RealDiv"},
}


def example(row_id: str) -> Any:
    """Returns ∞ of which everything is false that its example does not name."""
    return SimpleNamespace(**{**dict.fromkeys(FACTS, False), **EXAMPLES[row_id]})


def deciding(rows: Iterable[Row], made: Any) -> Row:
    return next(row for row in rows if row.fits(made))


def test_every_row_has_an_example() -> None:
    assert [row.id for row in TOLERANCES] == list(EXAMPLES)


@pytest.mark.parametrize("row", TOLERANCES, ids=lambda row: row.id)
def test_a_row_decides_its_example(row: Row) -> None:
    assert deciding(TOLERANCES, example(row.id)) is row


@pytest.mark.parametrize("row", TOLERANCES[:-1], ids=lambda row: row.id)
def test_without_a_row_its_example_is_judged_otherwise(row: Row) -> None:
    others = [other for other in TOLERANCES if other is not row]
    assert deciding(others, example(row.id)).tolerance != row.tolerance
