"""The table of what ops make of bad tensors: each row decides its example, and is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.diagnosis.roots.bad_use import BadUse
from tfdbg_tui.diagnosis.roots.uses import USES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.roots.uses import Row

FACTS = [name for name, value in vars(BadUse).items() if isinstance(value, property)]
EXAMPLES: dict[str, dict[str, Any]] = {
    "dropped": {"op_type": "CheckNumerics", "is_of_dropped_element": True},
    "checked": {"op_type": "CheckNumerics", "is_bad_again": True},
    "value-does-not-matter": {"op_type": "IsFinite"},
    "bound-compared": {"op_type": "Greater", "is_bound": True},
    "decides-about-itself": {"op_type": "Greater", "decides_about_itself": True},
    "decides-about-bad-elements": {"op_type": "Greater", "decides_about_bad_elements": True},
    "guarded": {"op_type": "Greater", "is_guarded": True},
    "candidate": {"op_type": "Less", "is_left_out_candidate": True},
    "filtered": {"op_type": "Greater", "decides_about_element": True},
    "compared": {"op_type": "Greater"},
    "assigned": {"op_type": "AssignVariableOp"},
    "goes-into-function": {"op_type": "PartitionedCall", "goes_into_function": True},
    "goes-into-list": {"op_type": "TensorListSetItem", "unseen": True, "goes_into_read_list": True},
    "goes-into-dataset": {"op_type": "CSVDatasetV2", "unseen": True, "becomes_no_float": True},
    "comes-again": {"op_type": "TensorListPushBack", "unseen": True, "comes_again": True},
    "discarded": {"op_type": "Identity", "unseen": True, "is_discarded": True},
    "unseen-number": {"op_type": "Mul", "unseen": True, "becomes_no_float": True},
    "ended-before": {"op_type": "Identity", "unseen": True, "ended_before": True},
    "handed-on": {"op_type": "SerializeTensor", "unseen": True, "becomes_no_float": True},
    "ordered": {
        "op_type": "ArgMax",
        "unseen": True,
        "has_place_in_order": True,
        "becomes_no_float": True,
    },
    "becomes-no-float": {"op_type": "Multinomial", "unseen": True, "becomes_no_float": True},
    "doubtful": {"op_type": "Mul"},
    "loses-numerators": {"op_type": "RealDiv", "loses_numerators": True, "divides_by_it": True},
    "bad-again": {"op_type": "Mul", "is_bad_again": True},
    "gradient-of-it": {"op_type": "SqrtGrad", "is_in_its_gradient": True},
    "left-out": {"op_type": "SelectV2"},
    "limit": {"op_type": "Atan"},
    "saturated": {"op_type": "Exp"},
    "reciprocal": {"op_type": "RealDiv", "divides_by_it": True, "is_reciprocal": True},
    "divided-by": {"op_type": "RealDiv", "divides_by_it": True},
    "of-logarithm": {"op_type": "Sum"},
    "absorbed": {"op_type": "Mul"},
}


def example(row_id: str) -> Any:
    """Returns a use of which everything is false that its example does not name."""
    facts = {**dict.fromkeys(FACTS, False), **EXAMPLES[row_id]}
    return SimpleNamespace(**{**facts, "doubtful": facts["unseen"] or row_id == "doubtful"})


def deciding(rows: Iterable[Row], use: Any) -> Row:
    return next(row for row in rows if row.fits(use))


def test_every_row_has_an_example() -> None:
    assert [row.id for row in USES] == list(EXAMPLES)


@pytest.mark.parametrize("row", USES, ids=lambda row: row.id)
def test_a_row_decides_its_example(row: Row) -> None:
    assert deciding(USES, example(row.id)) is row


@pytest.mark.parametrize("row", USES[:-1], ids=lambda row: row.id)
def test_without_a_row_its_example_is_judged_otherwise(row: Row) -> None:
    others = [other for other in USES if other is not row]
    assert deciding(others, example(row.id)).harmless != row.harmless
