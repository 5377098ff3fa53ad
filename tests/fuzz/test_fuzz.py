"""A short run of the fuzzer, always the same cases; `python -m tests.fuzz` runs for longer."""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import Fuzzer


@pytest.mark.parametrize(("only", "cases"), [("commands", 24), ("app", 4)])
def test_nothing_is_found(tmp_path, only, cases) -> None:
    fuzzer = Fuzzer(tmp_path, [])
    for seed in range(cases):
        fuzzer.try_one(seed, only)
    assert not fuzzer.findings, "\n".join(f"seed {seed}:\n{told}" for seed, told in fuzzer.findings)
