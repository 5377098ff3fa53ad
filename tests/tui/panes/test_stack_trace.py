"""Stack Trace: of a root or suspect in a gradient first the op that it is the gradient of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import Explanation
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.panes.stack_trace import FRAMES
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


@pytest.fixture(scope="module")
def explained(logdirs: RecordedLogdirs) -> Snapshot:
    snapshot = Snapshot(open_run(logdirs["control_flow"]))
    return snapshot.explained(Explanation(snapshot.run, snapshot.alerts))


def test_the_root_of_a_gradient_stands_on_the_line_of_its_op(explained: Snapshot) -> None:
    assert explained.explanation is not None
    root = next(r for r in explained.explanation.report.roots if r.differentiated_at)
    focus = focus_event(explained, Focus("stack_trace"), root.event)
    assert focus.place is not None
    assert root.location is not None
    assert focus.place.line == root.location.line
    own = explained.own_frames(focus)
    assert own
    focus = FRAMES.select(explained, focus, FRAMES.count(explained, focus) - 1)
    assert focus.place is not None
    assert focus.place.line != root.location.line
    assert focus.place.path == root.location.file, "the user's frame, not that of a library"
    assert focus.frame is not None
    assert focus.frame >= own


def test_other_ops_have_their_own_stack_trace_alone(explained: Snapshot) -> None:
    assert explained.explanation is not None
    root = next(r for r in explained.explanation.report.roots if not r.differentiated_at)
    focus = focus_event(explained, Focus("stack_trace"), root.event)
    assert not explained.own_frames(focus)


def test_a_gradient_that_is_a_suspect_stands_there_too(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "train_function")
    shares = {"last": 1.0, "middle": 1e-8, "first": 1e-4}
    given = "x:0"
    for number, name in enumerate(shares, 1):
        made.layer(number, 0, name, "Dense")
        made.op("f", "MatMul", f"{name}/MatMul", "x:0", "y:0", layer=number, line=number)
        gradient = f"gradient_tape/{name}/MatMul/MatMul"
        made.op("f", "MatMul", gradient, given, "y:0", line=9)
        given = f"{gradient}:0"
    made.op("f", "AssignSubVariableOp", "Assign", "w:0", given, outputs=0)
    for step in range(12):
        for name, share in shares.items():
            value = np.full(64, share * 0.1 * 0.9**step, np.float32)
            gradient = f"gradient_tape/{name}/MatMul/MatMul"
            made.trace("f", gradient, value, serial=step + 1, extremes=True)
        made.execution("f", [], {step: floats(1.0)}, "f", serial=step + 1)
    snapshot = Snapshot(made.open())
    snapshot = snapshot.explained(Explanation(snapshot.run, snapshot.alerts))
    assert snapshot.explanation is not None
    (suspect,) = snapshot.explanation.report.suspects
    focus = focus_event(snapshot, Focus("stack_trace"), suspect.event)
    assert focus.place is not None
    assert suspect.location is not None
    assert focus.place.line == suspect.location.line != 9


async def test_tabs_are_blanks(open_app: Open, tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.lines = ["", "\tx = 1;\ty = tf.math.log(x)", ""]
    program.execution("Log", [], {0: floats(-1.0, float("nan"))}, line=2)
    program.open()
    async with open_app(tmp_path) as opened:
        await opened.press("6", "z")
        assert "x = 1;  y = tf.math.log(x)" in opened.screen()


async def test_code_stands_below_its_frame_where_it_has_no_room_beside(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "6")
        lines = [line.rpartition("││")[2] for line in opened.screen().splitlines()]
        (frame,) = (i for i, line in enumerate(lines) if line.startswith("▶ loss "))
        assert lines[frame + 1].startswith("      diff = -labels * tf.math.log(probs)")
        await opened.press("u", "u")
        assert opened.focus.place is not None
        assert opened.focus.place.line != 183
        top = next(i for i, line in enumerate(lines) if "Stack Trace" in line)
        await opened.pilot.click("#stack_trace", offset=(10, frame + 1 - top))
        assert opened.focus.place.line == 183, "a click on the code is one on its frame"


async def test_code_is_on_several_lines_where_some_are_left(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (120, 56)) as opened:
        await opened.press("a", "6")
        lines = [line.rpartition("││")[2].rstrip(" │") for line in opened.screen().splitlines()]
        frame = next(i for i, line in enumerate(lines) if line.startswith("▶ loss "))
        assert lines[frame + 1 : frame + 3] == [
            "      diff = -labels * tf.math.log(probs) #",
            "      BUG: probs may hold zeros",
        ]


async def test_code_goes_from_below_its_frame_to_beside_it_where_there_is_room(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "6")
        assert "main()" not in next(x for x in opened.screen().splitlines() if "record.py:" in x)
        await opened.press("z")
        assert "main()" in next(x for x in opened.screen().splitlines() if "record.py:" in x)


async def test_a_function_takes_the_cells_that_its_place_leaves(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], (50, 24)) as opened:
        await opened.press("a", "6", "z", "H")
        assert "  func_graph_from_py_func func_graph.py:1060 " in opened.screen()
