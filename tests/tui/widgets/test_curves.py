"""Curves made of dots: where they go, what the scale says, what is ruled and marked."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_tui.tui.terminal.text import ASCII, UNICODE
from tfdbg_tui.tui.widgets import curves
from tfdbg_tui.tui.widgets.curves import Curve

NAN = np.nan


def curve(*numbers: float) -> Curve:
    return Curve(np.linspace(0, 1, len(numbers)), np.array(numbers, float))


def drawn(*shown: Curve, limit: float | None = None, size: tuple[int, int] = (17, 4)) -> list[str]:
    lines = curves.draw(shown, 0, limit, size, ASCII)
    return ["".join(text for text, _ in line) for line in lines]


def test_a_curve_on_its_scale() -> None:
    assert drawn(curve(1, 10, 100, 1000, 10000)) == [
        "   1e4         **",
        "            **** ",
        "   1e2    ***    ",
        "   1e0 ****      ",
    ]


def test_what_was_not_measured_is_bridged() -> None:
    assert drawn(curve(NAN, 100, NAN, 1)) == [
        "   1e2    ***    ",
        "            **   ",
        "   1e1       *** ",
        "   1e0         **",
    ]


def test_zero_is_on_a_line_of_its_own() -> None:
    falls = curve(100, 1, 0, 0)
    assert drawn(falls) == [
        "   1e2 **        ",
        "        **       ",
        "   1e0   ***     ",
        "     0     ******",
    ]
    lines = drawn(curve(1, 1), falls)
    assert lines[3].startswith("     0")
    assert "*" not in lines[3], "the smallest number is above it"


def test_negative_numbers_stand_below_zero() -> None:
    rises = curve(-100, -1, 0, 1, 100)
    assert drawn(rises, size=(17, 7)) == [
        "   1e2          *",
        "               **",
        "   1e0       *** ",
        "     0    ****   ",
        "  -1e0   **      ",
        "        **       ",
        "  -1e2 **        ",
    ]


def test_a_limit_is_drawn_on_both_sides_of_zero() -> None:
    lines = drawn(curve(-10, 1, 10), limit=100.0, size=(17, 5))
    assert [number for number, line in enumerate(lines) if "-" in line[7:]] == [0, 4]


@pytest.mark.parametrize(("is_lower", "line"), [(True, 3), (False, 0)])
def test_of_several_in_a_column_the_outer_one_is_drawn(is_lower: bool, line: int) -> None:
    same_place = Curve(np.zeros(2), np.array([1.0, 1e4]), is_lower)
    assert drawn(same_place)[line][7] == "*"


def test_the_others_stand_behind() -> None:
    lines = drawn(curve(1, 1), curve(1, 1e4))
    assert lines[3].startswith("   1e0 **********")
    assert "." in lines[0]


@pytest.mark.parametrize(("largest", "ruled"), [(100.0, True), (1e-3, False)])
def test_a_limit_is_drawn_if_it_is_not_far_above(largest: float, ruled: bool) -> None:
    assert drawn(curve(largest, largest), limit=65504.0)[0].endswith("---") == ruled


@pytest.mark.parametrize("numbers", [(), (NAN,), (0.0,), (5e-324,), (1e308, 1e308)])
def test_any_numbers_are_drawn(numbers: tuple[float, ...]) -> None:
    lines = curves.draw([curve(*numbers)], 0, 3e38, (30, 5), UNICODE)
    assert len(lines) == 5


def test_marks() -> None:
    places = np.array([0.0, 0.25, 0.5, 1.0])
    marked = curves.marks(places, np.array([True, False, True, True]), 15)
    assert "".join("x" if cell else "." for cell in marked) == ".......x...xxxx"
