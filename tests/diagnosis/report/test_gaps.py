"""What is not on record is told with what would settle it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tfdbg_tui.diagnosis.report import gaps


@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_that_is_terminated_each_time_has_to_end_by_itself(
    monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(gaps, "command_to_record", lambda run: "tfdbg-tui run train.py")
    files = SimpleNamespace(file_sets=range(processes))
    run: Any = SimpleNamespace(
        state=SimpleNamespace(killed=True), files=files, only_bad_reason=None
    )
    (gap,) = gaps._unended(run)
    assert ("or call sys.exit at SIGTERM. Again" in gap.text) is (processes > 1)
