"""Text fits its cells, in each character set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from tfdbg_tui.tui.terminal.text import ASCII, UNICODE, compact, short_device

if TYPE_CHECKING:
    from tfdbg_tui.tui.terminal.text import Charset

HOSTILE = "\x1b]0;owned\x07[red]x[/red]\x9b2J\r\n\u202e名前\u0301[@click=app.quit]y[/]" + "n" * 300


@pytest.mark.parametrize("charset", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [0, 1, 2, 7, 20, 400])
def test_text_is_cut_to_exactly_the_width(charset: Charset, width: int) -> None:
    for text in (HOSTILE, "名前" * 30, "a/" * 40 + "last:0", "", "x"):
        assert cell_len(charset.fit(text, width)) == width
        assert cell_len(charset.fit_name(text, width)) == width
        assert cell_len(charset.fit_path(text, width)) <= width
        assert not ASCII.fit(text, width).strip() or ASCII.fit(text, width).isascii()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (9999, "9,999"),
        (10_000, "10.0k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (2**53, "9.0P"),
        (10**30, "1e+30"),
    ],
)
def test_counts_fit_five_characters(count: int, text: str) -> None:
    assert compact(count) == text
    assert len(text) <= 5


def test_devices_are_named_by_what_tells_them_apart() -> None:
    assert short_device("/job:localhost/replica:0/task:0/device:GPU:1") == "GPU:1"
    assert short_device("/job:worker/replica:0/task:3/device:CPU:0") == "CPU:0 task 3"
    assert short_device("odd") == "odd"


def test_the_last_two_parts_of_a_name_stay_whole() -> None:
    name = "encoder_1/transformer_block_2/projection_1/MatMul:0"
    for width in range(len("…/projection_1/MatMul:0"), len(name)):
        assert UNICODE.fit_name(name, width).endswith("…/projection_1/MatMul:0")
    assert UNICODE.fit_name(name, 8).endswith("ul:0")
