"""What is said of a run that is being recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.session.recording import Recording

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs


@pytest.mark.parametrize(
    ("killed", "words"), [(True, "the program was killed or crashed"), (False, "the program ended")]
)
def test_how_a_program_has_ended(logdirs: RecordedLogdirs, killed: bool, words: str) -> None:
    run = open_run(logdirs["mnist"])
    live = Recording(attached=True)
    live.note(replace(run, state=replace(run.state, writing=False, killed=killed)))
    ((said, _),) = live.facts(following=True, shown=None)
    assert said.startswith(words)
