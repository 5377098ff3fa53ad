"""What a function has found out of a run is kept for that run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.kept import kept

if TYPE_CHECKING:
    from pathlib import Path


def test_each_is_found_once_of_each_run(tmp_path: Path) -> None:
    found: list[tuple[Dataflow, int]] = []

    @kept
    def double(dataflow: Dataflow, number: int) -> int:
        found.append((dataflow, number))
        return 2 * number

    run = Program(tmp_path).open()
    one, other = Dataflow(run), Dataflow(run)
    asked = [(one, 1), (one, 2), (one, 1), (other, 1), (one, 2)]
    assert [double(dataflow, number) for dataflow, number in asked] == [2, 4, 2, 2, 4]
    assert found == [(one, 1), (one, 2), (other, 1)]
