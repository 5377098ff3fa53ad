"""What is said of changes that are not on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program, floats

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open, Opened

SMALL = (80, 24)


def message(opened: Opened) -> str:
    return opened.app.parts.main.keys.message


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["3", "H"], "Stack Trace: library frames are unfolded"),
        (["3", "H", "H"], "Stack Trace: library frames are folded"),
        (["3", "r"], "Alerts: in order of time"),
        (["1", "b"], "Graph Structure: only what leads to NaN and ∞"),
        (["5", "f"], "Graph Execution: only bad"),
        (["3", "u"], ".py:"),
        (["5", "o"], "Softmax:0, step 3"),
        (["6", "right_square_bracket"], "mul:0, step 3"),
    ],
)
async def test_a_change_that_is_not_on_screen_is_told(
    open_app: Open, logdirs: RecordedLogdirs, keys: list[str], told: str
) -> None:
    async with open_app(logdirs["mnist"], SMALL, at_root=True) as opened:
        await opened.press("a", *keys)
        assert told in message(opened)


async def test_alerts_that_list_nothing_do_not_show_a_tensor(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.execution("Mul", [], {1: floats(2.0)})
    made.execution("Square", [1], {2: floats(4.0)})
    made.open()
    async with open_app(tmp_path, SMALL) as opened:
        await opened.press("1", "i")
        assert message(opened) == "Square:0"
        await opened.press("w", "c")
        assert message(opened) == "there is nothing to copy here"


@pytest.mark.parametrize("keys", [["6", "H"], ["1", "r"], ["4", "b"], ["3", "o"], ["3", "j"]])
async def test_a_change_that_is_on_screen_is_not(
    open_app: Open, logdirs: RecordedLogdirs, keys: list[str]
) -> None:
    async with open_app(logdirs["mnist"], SMALL, at_root=True) as opened:
        await opened.press("a", *keys)
        assert not message(opened)


async def test_why_follows_the_numbers_along_its_chain_and_leaves_it_for_others(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"], SMALL, at_root=True) as opened:
        await opened.press("a", "w")
        rows = opened.screen()
        await opened.press("o")
        assert opened.focus.pane == "why"
        assert opened.screen() != rows, "another tensor of the chain is chosen"
        await opened.press("right_curly_bracket")
        assert opened.focus.pane == "graph_execution", "which the chain has not got"
        await opened.press("backspace")
        assert opened.focus.pane == "why"
