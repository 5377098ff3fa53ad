"""What the program leaves out again does no harm, in eager code and in a graph alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tests.diagnosis import idioms  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def lines_of_trouble(program: Callable[[], Any], directory: Path) -> list[set[int]]:
    """Returns the lines that are reported of a program as it is, and of it as a `tf.function`."""
    found = []
    for name, function in (("eager", program), ("graph", tf.function(program))):
        logdir = str(directory / program.__name__ / name)
        tfdbg_tui.enable_dump_debug_info(logdir, "ADAPTIVE", -1)
        try:
            function()
        finally:
            tfdbg_tui.disable_dump_debug_info()
        report = diagnose(open_run(logdir))
        found.append({f.location.line if f.location else 0 for f in report.roots + report.suspects})
    return found


def test_what_is_left_out_again_is_harmless(tmp_path: Path) -> None:
    assert len(idioms.HEALTHY) > 50
    found = {program.__name__: lines_of_trouble(program, tmp_path) for program in idioms.HEALTHY}
    assert {name: lines for name, lines in found.items() if any(lines)} == {}


def test_what_is_not_left_out_is_found_in_the_same_line(tmp_path: Path) -> None:
    assert len(idioms.SICK) > 30
    found = {program.__name__: lines_of_trouble(program, tmp_path) for program in idioms.SICK}
    unlike = {name: lines for name, lines in found.items() if not lines[0] or lines[0] != lines[1]}
    assert unlike == {}
