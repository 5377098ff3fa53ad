"""A few random programs, always the same; `python -m tests.fuzz.programs` tries more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fuzz.programs import Checker, record
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("seed", [1002, 1004])
def test_sources_and_uses_are_the_true_ones(tmp_path: Path, seed: int) -> None:
    checker = Checker(open_run(record(seed, tmp_path)))
    checker.check()
    assert not checker.wrong
    assert checker.checked > 500
