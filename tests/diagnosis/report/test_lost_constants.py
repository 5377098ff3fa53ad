"""A number that is 0 although a constant was added to it: what TensorFlow makes of 1 - p + 1e-9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

OURS = {"mode_name": "ADAPTIVE"}


@pytest.mark.parametrize(
    ("constant", "between", "is_recorded", "metadata", "is_told"),
    [
        ("Const", "Sub", False, OURS, True),
        ("Const", "Sub", True, OURS, False),  # so that is 0, and nothing was lost
        ("Placeholder", "Sub", False, OURS, False),
        ("Const", "Mul", False, OURS, False),
        ("Const", "Sub", False, OURS | {"op_regex": "Log|AddV2|Const"}, False),
        ("Const", "Sub", False, {}, False),  # TensorFlow's writer looks at all that it records
    ],
)
def test_a_constant_that_is_lost_is_told(
    tmp_path: Path,
    constant: str,
    between: str,
    is_recorded: bool,
    metadata: dict[str, str],
    is_told: bool,
) -> None:
    made = Program(tmp_path, **metadata)
    made.graph("f", "f")
    made.op("f", "Placeholder", "p")
    made.op("f", between, "sub", "p:0")
    made.op("f", constant, "eps")
    made.op("f", "AddV2", "add", "sub:0", "eps:0")
    made.op("f", "Log", "Log", "add:0")
    made.trace("f", "p", floats(1.0))
    if is_recorded:
        made.trace("f", "sub", floats(0.0))
    made.trace("f", "eps", floats(1e-9))
    made.trace("f", "add", floats(0.0))
    made.trace("f", "Log", floats(-float("inf")))
    (root,) = diagnose(made.open()).roots
    assert ("add:0 adds a constant that is lost" in root.evidence) is is_told
