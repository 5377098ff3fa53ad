"""Text to print."""

from __future__ import annotations

import pytest

from tfdbg_tui.logdir.text import counted


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 tensors"), (1, "1 tensor"), (1200, "1,200 tensors")]
)
def test_a_number_and_what_it_counts(number: int, told: str) -> None:
    assert counted(number, "tensor") == told
