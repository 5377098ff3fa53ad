"""The elements of a tensor on the screen: what is bad, where, and how to get there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from textual.events import Key

from tfdbg_tui.tui.screens.tensor_grid import TensorGrid
from tfdbg_tui.tui.screens.values import ValuesScreen
from tfdbg_tui.tui.terminal.text import ASCII, UNICODE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_one_goes_from_bad_element_to_bad_element(
    open_app: Open, logdirs: RecordedLogdirs, size: tuple[int, int]
) -> None:
    tensor = np.zeros((4, 100, 50), np.float32)
    tensor[1, 70, 40], tensor[3, 2, 1] = np.nan, -np.inf
    async with open_app(logdirs["session"], size) as opened:
        opened.app.push_screen(ValuesScreen("w:0", tensor, UNICODE))
        await opened.press("n", "N")
        assert "w:0  float32 [4, 100, 50]" in opened.screen()
        assert "2 of 20,000 elements are NaN or infinite; table 2 of 4" in opened.screen()
        assert "[1, 70, 40]  NaN  1 of 2 that are bad" in opened.screen()
        (row,) = [line for line in opened.screen().split("\n") if "[1, 70, :]" in line]
        assert "NaN" in row
        await opened.press("n")
        assert "[3, 2, 1]  −∞  2 of 2 that are bad" in opened.screen()
        await opened.press("left_square_bracket", "G")
        assert "[2, 99, 49]  0.0" in opened.screen()
        focus = opened.focus
        await opened.pilot.click(TensorGrid, offset=(2, 2))
        assert opened.focus == focus, "the panes behind it stay as they are"


async def test_all_columns_are_shown_that_have_room(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    tensor = np.zeros((32, 2), np.float32)
    tensor[:, 1] = np.inf
    async with open_app(logdirs["session"]) as opened:
        opened.app.push_screen(ValuesScreen("Exp:0", tensor, UNICODE))
        await opened.press("n")
        (row,) = [line for line in opened.screen().split("\n") if "[5, :]" in line]
        assert row.strip("│ ").split() == ["[5,", ":]", "0", "+∞"]
        assert "n bad  / slice  H histogram" in opened.screen(), "one table"


async def test_a_long_table_is_drawn_in_ascii(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["session"], (120, 39), charset=ASCII) as opened:
        opened.app.push_screen(ValuesScreen("w:0", np.zeros((97, 2), np.float32), ASCII))
        await opened.press("j")
        assert opened.screen().isascii(), "the scrollbar as well"


async def test_a_part_is_cut_out_shown_as_a_histogram_and_saved(
    open_app: Open, logdirs: RecordedLogdirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tensor = np.arange(200, dtype=np.int32).reshape(20, 10)
    async with open_app(logdirs["session"]) as opened:
        opened.app.push_screen(ValuesScreen("encoder/w:0", tensor, UNICODE))
        await opened.press("slash")
        await opened.type("[5:7, 8]")
        assert "[5, 8]  58" in opened.screen()
        assert "0 of 2 elements" in opened.screen()
        await opened.press("H")
        assert "58 .. 58.625" in opened.screen()
        await opened.press("right_square_bracket")
        assert "58 .. 58.625" not in opened.screen()
        for key, character in (("slash", "/"), ("5", "5"), ("n", "n"), ("backspace", None)):
            opened.app.post_message(Key(key, character))
        await opened.press("enter")
        assert "0 of 10 elements" in opened.screen(), "what comes together is typed, too"
        await opened.press("slash")
        await opened.type("[5:7, 8]")
        await opened.press("S")
        assert "save as: encoder_w_0.npy" in opened.screen()
        await opened.press("enter")
        assert np.load("encoder_w_0.npy").tolist() == [58, 68]
        await opened.press("S", "enter")
        assert "encoder_w_0.npy: File exists" in opened.screen()
        await opened.press("ctrl+u", "enter")
        assert "nothing was written, as the file has no name" in opened.screen()
        await opened.press("escape", "slash")
        await opened.type("20")
        assert "index 20 is out of range" in opened.screen()
        await opened.press("escape", "question_mark")
        assert "write what is shown to a file" in opened.screen()
        await opened.press("escape", "slash", "escape")
        assert isinstance(opened.app.screen, ValuesScreen)
        await opened.press("escape")
        assert not isinstance(opened.app.screen, ValuesScreen)


async def test_what_is_asked_for_last_is_asked(open_app: Open, logdirs: RecordedLogdirs) -> None:
    async with open_app(logdirs["session"]) as opened:
        opened.app.push_screen(ValuesScreen("w:0", np.zeros((4, 5), np.float32), UNICODE))
        await opened.press("S")
        opened.app.screen.set_focus(None)  # as when the terminal loses the focus
        await opened.press("slash")
        assert "slice:" in opened.screen()
        assert "save as:" not in opened.screen()


@pytest.mark.parametrize(
    ("number", "told"),
    [(np.float32(np.nan), "no finite elements"), (np.complex64(1), "have no order")],
)
async def test_why_there_is_no_histogram_is_said(
    open_app: Open, logdirs: RecordedLogdirs, number: np.generic, told: str
) -> None:
    async with open_app(logdirs["session"]) as opened:
        opened.app.push_screen(ValuesScreen("x:0", np.full(3, number), UNICODE))
        await opened.press("H")
        assert told in opened.screen()


async def test_tensors_of_any_shape_and_type_are_shown(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    shapes: list[tuple[int, ...]] = [(), (0,), (3, 0), (0, 3)]
    dtypes = "float16", "bool", "int64", "complex64"
    kinds = [*zip(shapes, dtypes, strict=True), *(((1, 1, 1, 1), dtype) for dtype in dtypes)]
    keys = "n", "N", "j", "l", "G", "g", "pagedown", "H", "H", "right_square_bracket"
    async with open_app(logdirs["session"]) as opened:
        for shape, dtype in kinds:
            opened.app.push_screen(ValuesScreen("x:0", np.ones(shape, dtype), UNICODE))
            await opened.press(*keys)
            assert "elements are NaN or infinite" in opened.screen(), (shape, dtype)
            await opened.press("escape")
