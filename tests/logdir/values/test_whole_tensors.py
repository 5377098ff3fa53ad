"""What is told of a tensor whose elements are on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("elements", "places"),
    [
        ([-np.inf, 1.0, np.nan, np.inf, np.nan], ((2,), (4,))),
        ([-np.inf, 1.0, 2.0, np.inf], ((0,), (3,))),
        ([1.0, 2.0], ()),
    ],
)
def test_where_elements_are_nan_or_else_infinite(
    tmp_path: Path, elements: list[float], places: tuple[tuple[int, ...], ...]
) -> None:
    recorded = Program(tmp_path)
    recorded.graph("f", "f")
    recorded.op("f", "Log", "Log", "x:0")
    recorded.trace("f", "Log", floats(*elements), mode=TensorDebugMode.FULL_TENSOR)
    summary = recorded.open().graph_executions[0].summary
    assert summary is not None
    assert summary.bad_elements == places
