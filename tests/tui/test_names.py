"""Names in all lists: their last two parts are whole, in the row or below the rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program

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


@pytest.mark.parametrize(
    "keys", [("alt+1", "enter", "down"), ("alt+3", "end"), ("alt+3", "end", "alt+4")]
)
async def test_what_no_row_can_hold_is_told_below_the_rows(
    open_app: Open, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    parts = ["sparse_softmax_cross_entropy_with_logits" * 2, "sum_of_" * 8]
    _recorded(tmp_path, "/".join(parts))
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press(*keys)
        told = [line.strip(" │▁▂▃▄▅▆▇█") for line in opened.screen().split("\n")]
        whole = "".join(told)
        assert any(f"{parts[0]}/{parts[1]}_{number}:0" in whole for number in (1, 2)), told
