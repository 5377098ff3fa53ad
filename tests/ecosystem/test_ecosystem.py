"""The programs of the ecosystem, each plain against dumped; skipped where packages are missing.

A program takes half a minute and more, so they run only when asked for: `TFDBG_ECOSYSTEM=1 pytest
tests/ecosystem`.
"""

from __future__ import annotations

import os

import pytest

from tests.ecosystem.examination import Program, examine, programs

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not os.environ.get("TFDBG_ECOSYSTEM"), reason="TFDBG_ECOSYSTEM is not set"),
]


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_program_is_left_as_it_was_and_judged_rightly(program: Program) -> None:
    if program.missing:
        pytest.skip(f"needs {', '.join(program.missing)}: see tests/ecosystem/README.md")
    examination = examine(program)
    assert examination.plain.exit_code == 0, examination.plain.output[-3000:]
    assert examination.ran, examination.dumped.output[-3000:]
    assert examination.same != "other", (examination.plain.results, examination.dumped.results)
    assert examination.verdict == ("bad" if program.bug else "clean"), examination.report
    assert not examination.wrong_root, examination.report["roots"][0]
