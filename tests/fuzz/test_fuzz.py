"""A short run of the fuzzer, always the same cases; `python -m tests.fuzz` runs for longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fuzz.__main__ import Fuzzer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("only", "cases"), [("commands", 16), ("app", 2)])
def test_nothing_is_found(tmp_path: Path, only: str, cases: int) -> None:
    fuzzer = Fuzzer(tmp_path, [])
    for seed in range(cases):
        fuzzer.try_one(seed, only)
    assert not fuzzer.findings, "\n".join(f"seed {seed}:\n{told}" for seed, told in fuzzer.findings)
