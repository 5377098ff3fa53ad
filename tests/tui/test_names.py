"""Names in all lists: their last two parts are whole, on several lines where one has no room."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.tui.panes.base import Pane

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Open

SCOPE = "gradient_tape/compile_loss/"
NAN = np.full(3, np.nan, np.float32)


def _recorded(tmp_path: Path, tail: str) -> None:
    made = Program(tmp_path)
    made.graph("f", "one_step_on_data")
    for number, values in enumerate((np.zeros(3, np.float32), NAN, NAN)):
        inputs = [f"{SCOPE}{tail}_{number - 1}:0"] if number else []
        made.op("f", "UnsortedSegmentSum", f"{SCOPE}{tail}_{number}", *inputs)
        made.trace("f", f"{SCOPE}{tail}_{number}", values)
    made.open()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize(
    "keys", [("alt+1", "enter"), ("alt+3", "end"), ("alt+3", "end", "alt+4"), ("alt+3", "end", "w")]
)
async def test_the_last_two_parts_are_whole_in_each_list(
    open_app: Open, tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    tail = "sparse_losses/unsort_sum"  # 28 cells with what follows it
    _recorded(tmp_path, tail)
    async with open_app(tmp_path, size) as opened:
        await opened.press(*keys)
        screen = opened.screen()
        for number in (1, 2):
            assert f"{tail}_{number}:0" in screen
        assert not re.findall(r"…(?!/?sparse_)[^│ ]*sum_\d:0", screen), screen


LONG = "sparse_softmax_cross_entropy_with_logits" * 2, "sum_of_" * 8
"""Two parts of which no line of 80 cells has room for both."""


def _in_one_line(screen: str) -> str:
    lines = (line.strip(" │╭╮╰╯├─▁▂▃▄▅▆▇█▶◆▾▸") for line in screen.split("\n"))
    return "".join(re.sub(r"^\d+ |  +.*$", "", line) for line in lines)


@pytest.mark.parametrize(
    "keys",
    [("alt+1", "enter", "z"), ("alt+3", "end", "z"), ("alt+4", "z"), ("alt+3", "end", "w", "z")],
)
async def test_what_no_line_has_room_for_is_on_several(
    open_app: Open, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    _recorded(tmp_path, "/".join(LONG))
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press(*keys)
        whole = _in_one_line(opened.screen())
        for number in (1, 2):
            assert whole.count(f"{LONG[0]}/{LONG[1]}_{number}:0") >= 1, opened.screen()


async def test_rows_of_several_lines_are_all_gone_through(open_app: Open, tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("f", "one_step_on_data")
    names = [f"{LONG[0]}/{LONG[1]}_{n}" if n % 3 else f"Add_{n}" for n in range(60)]
    for name in names:
        made.op("f", "AddV2", name)
        made.trace("f", name, np.zeros(3, np.float32))
    made.open()
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("alt+3", "z", "home")
        pane = opened.app.query_one("#graph_execution", Pane)
        for number in range(len(names)):
            chosen = next(line for line in opened.screen().split("\n") if "▶" in line)
            assert f"_{number}:0" in chosen, opened.screen()
            await opened.press("j")
        await opened.press("home")
        seen = set()
        for _ in range(len(names)):
            seen |= set(re.findall(r"_(\d+):0", opened.screen()))
            await opened.press("pagedown")
        assert seen == {str(number) for number in range(len(names))}
        assert pane.scroll_offset.y == pane.max_scroll_y


async def test_a_click_on_any_line_of_a_row_chooses_it(open_app: Open, tmp_path: Path) -> None:
    _recorded(tmp_path, "/".join(LONG))
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("alt+3", "z", "home")
        lines = opened.screen().split("\n")
        at = next(y for y, line in enumerate(lines) if "_0:0" in line)
        assert "sum_of_" not in lines[at + 1], "the row below begins with its first part"
        await opened.pilot.click(offset=(10, at + 1))
        assert opened.focus.graph_execution == 1
