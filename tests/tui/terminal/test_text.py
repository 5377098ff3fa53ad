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


def test_a_path_that_is_cut_does_not_look_like_a_home_directory() -> None:
    path = "/data/runs/resnet/dump"
    assert UNICODE.fit_path(path, 12) == "…resnet/dump"
    assert ASCII.fit_path(path, 12) == "<resnet/dump"


def test_the_last_two_parts_of_a_name_stay_whole() -> None:
    name = "encoder_1/transformer_block_2/projection_1/MatMul:0"
    for width in range(len("…/projection_1/MatMul:0"), len(name)):
        assert UNICODE.fit_name(name, width).endswith("…/projection_1/MatMul:0")
    assert UNICODE.fit_name(name, 8).endswith("ul:0")


def test_code_that_is_longer_than_a_line_is_not_broken_inside_a_word() -> None:
    fix = "fix: tf.math.log(tf.clip_by_value(probs, 1e-7, 1.0))"
    lines = ["fix: tf.math.log(", "tf.clip_by_value(probs,", "1e-7, 1.0))"]
    assert UNICODE.wrapped(fix, 23) == lines
    assert UNICODE.wrapped(fix, 23, 2) == [lines[0], "tf.clip_by_value(probs…"[:23]]
    assert UNICODE.wrapped(fix, 41, 1) == ["fix: tf.math.log(tf.clip_by_value(probs,…"]
    assert UNICODE.wrapped(f"in {fix}", 17, 1) == ["in fix:…"]
    assert UNICODE.wrapped(fix, 23, 0) == []
    assert UNICODE.wrapped("", 5) == [""]


@pytest.mark.parametrize("width", [1, 2, 7, 20])
def test_wrapped_lines_are_never_too_wide(width: int) -> None:
    for text in (HOSTILE, "word " * 9, "a/" * 40 + "last:0", "f(" * 30):
        for most in (None, 2):
            lines = UNICODE.wrapped(text, width if text is not HOSTILE else width + 1, most)
            assert all(cell_len(line) <= width + 1 for line in lines)


@pytest.mark.parametrize("width", [-2, 0, 1])
@pytest.mark.parametrize("text", ["名前 x", "word"])
def test_lines_that_no_character_fits_in_come_to_an_end(text: str, width: int) -> None:
    assert "".join(UNICODE.wrapped(text, width)) == text.replace(" ", "")
    assert len(UNICODE.name_lines(text, width, 9)) <= 9


def test_a_long_name_is_broken_between_its_parts_and_keeps_its_end() -> None:
    name = "encoder/self_attention/query_dense/MatMul:0"
    assert UNICODE.name_lines(name, 25, 3) == ["encoder/self_attention/", "query_dense/MatMul:0"]
    assert UNICODE.name_lines(name, 60, 3) == [name]
    assert UNICODE.name_lines(name, 25, 1) == ["…query_dense/MatMul:0"]
    assert UNICODE.name_lines(name, 8, 3) == ["…uery_de", "nse/", "MatMul:0"]
