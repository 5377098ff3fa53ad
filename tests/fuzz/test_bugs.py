"""Random programs whose roots were wrong once; `python -m tests.fuzz.bugs` tries more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fuzz.bugs import wrong

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("seed", [30, 70, 99, 116, 163, 197, 297, 403, 606, 3038, 7140])
def test_the_roots_are_the_bugs(tmp_path: Path, seed: int) -> None:
    assert not wrong(seed, tmp_path)
