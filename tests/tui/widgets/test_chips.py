"""How the values of a tensor are summed up."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tfdbg_tui.logdir import TensorSummary
from tfdbg_tui.tui.terminal.text import UNICODE
from tfdbg_tui.tui.widgets.chips import chips, columns


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"nan": 1, "pos": 2, "minimum": 0.05, "maximum": 5.125},
            "NaN×1   +×2   finite: 0.05 to 5.125",
        ),
        ({"neg": 2, "minimum": -1e-9, "maximum": -1e-9}, "−×2   finite: −1e−09"),
        ({"minimum": -0.0, "maximum": -0.0}, "finite: 0"),
        ({"nan": 2, "minimum": math.nan, "maximum": math.nan}, "NaN×2"),
        ({"size": 3}, "finite"),
        ({"size": 0}, "empty"),
    ],
)
def test_values_are_summed_up_in_a_line(fields: dict[str, Any], text: str) -> None:
    summary = TensorSummary(4, **{"has_inf_or_nan": False, "nan": 0, "size": 3, **fields})
    assert "".join(cell for cell, _ in chips(summary, UNICODE)).strip() == text


def test_that_nothing_is_recorded_is_said_in_few_cells_too() -> None:
    told = [
        "".join(text for text, _ in columns(None, UNICODE, widths))
        for widths in ((4,) * 3, (6,) * 6)
    ]
    assert [text.strip() for text in told] == ["no value", "no value recorded"]
