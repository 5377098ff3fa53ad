"""Which of several calls of a function its tensors belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.programs import Checker
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs


def test_each_tensor_is_what_its_op_makes_of_its_sources(logdirs: RecordedLogdirs) -> None:
    checker = Checker(open_run(logdirs["nested_calls"]))
    checker.check()
    assert not checker.wrong
    assert checker.checked > 1500
