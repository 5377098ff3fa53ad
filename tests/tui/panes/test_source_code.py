"""The margin of Source Code: which lines made NaN or ∞, and which one it began with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.terminal.text import ASCII

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


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


async def test_the_count_gives_way_to_the_text(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["mnist"], charset=ASCII) as opened:
        await opened.press("a", "5")
        root = next(line for line in opened.screen().splitlines() if "tf.math.log(probs)" in line)
        assert "183#" in root
        assert "bad" not in root.partition("probs may")[2]
