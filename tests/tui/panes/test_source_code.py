"""The margin of Source Code: which lines made NaN or ∞, and which one it began with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import find_line_ops
from tfdbg_tui.tui.panes import source_code
from tfdbg_tui.tui.panes.source_code import SourceCode
from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open
    from tfdbg_tui.diagnosis import LineOps
    from tfdbg_tui.logdir import Run


async def test_marks_and_counts(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a", "5", "z")
        await opened.app.workers.wait_for_complete()
        await opened.pilot.pause()
        lines = opened.screen().splitlines()
        root = next(line for line in lines if "tf.math.log(probs)" in line)
        assert "183█" in root
        assert root.rstrip(" │").endswith("root, 10 bad")
        assert "  Neg, Log, Mul  " in root, "what the line runs, where there is room"
        assert [line for line in lines if "  ReadVariableOp, MatMul, AddV2, Relu" in line] == [
            line for line in lines if "return activation(tf.matmul" in line
        ]
        assert next(line for line in lines if "tf.reduce_mean(diff)" in line).count("▌") == 1
        assert next(line for line in lines if "def loss(" in line).count("▌") == 0


async def test_what_ran_of_the_line_is_underlined(open_app: Open, tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.lines = ["x = 1", "\tz = tf.math.log(x) + tf.math.log(y)", ""]
    program.graph("f", "f")
    for name, text in (("Log", "tf.math.log(x)"), ("Log_1", "tf.math.log(y)")):
        program.op("f", "Log", name, line=2, expression=text)
        program.trace("f", name, floats(float("nan")))
    program.open()
    async with open_app(tmp_path) as opened:
        await opened.press("a")
        for expected in ("tf.math.log(x)", "tf.math.log(y)"):
            pane = opened.app.query_one(SourceCode)
            cells = pane.row(1, 60).cells
            assert "".join(text for text, names in cells if "underline" in names) == expected
            await opened.press("]")
        await opened.press("5", "k")
        cells = opened.app.query_one(SourceCode).row(1, 60).cells
        assert not any("underline" in names for _, names in cells), "another line is focused"


async def test_the_count_gives_way_to_the_text(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], charset=ASCII) as opened:
        await opened.press("a", "5")
        root = next(line for line in opened.screen().splitlines() if "tf.math.log(probs)" in line)
        assert "183#" in root
        assert "bad" not in root.partition("probs may")[2]


async def _short_line(
    open_app: Open,
    logdirs: RecordedLogdirs,
    monkeypatch: pytest.MonkeyPatch,
    op_types: tuple[str, ...],
) -> str:
    """Return a short line of code as it is shown if each line runs so many ops."""

    def find_many(run: Run) -> LineOps:
        return {path: dict.fromkeys(ops, op_types) for path, ops in find_line_ops(run).items()}

    monkeypatch.setattr(source_code, "find_line_ops", find_many)
    async with open_app(logdirs["mnist"], (140, 40)) as opened:
        await opened.press("a", "5", "z")
        await opened.app.workers.wait_for_complete()
        await opened.pilot.pause()
        lines = opened.screen().splitlines()
        return next(line for line in lines if "tf.reduce_mean(diff)" in line)


async def test_op_types_that_are_cut_in_their_column_begin_before_it(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = ("Cast", "Shape", "BroadcastArgs", "BroadcastTo", "ExpandDims", "StridedSlice")
    short = await _short_line(open_app, logdirs, monkeypatch, many)
    assert ", ".join(many) in short


async def test_of_more_op_types_than_fit_as_many_are_told_as_the_line_has_room_for(
    open_app: Open, logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(f"OpType{number}" for number in range(40))
    short = await _short_line(open_app, logdirs, monkeypatch, many)
    assert "tf.reduce_mean(diff)  OpType0, OpType1" in short, "no blank cells beside the cut"
