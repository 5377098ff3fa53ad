"""Which executions stand in which line of the timeline."""

from __future__ import annotations

import numpy as np

from tfdbg_tui.tui.panes.step_lines import StepLines


def lines(*marks: int, stride: int = 3) -> StepLines:
    return StepLines(np.array(marks, np.int64), stride)


def boxes(made: StepLines) -> list[list[int]]:
    return [list(made.boxes(line)) for line in range(len(made))]


def test_a_step_begins_a_line_and_a_long_one_takes_several() -> None:
    made = lines(-1, -1, 0, 0, 0, 0, 1, -1, 2)
    assert boxes(made) == [[0, 1], [2, 3, 4], [5], [6, 7], [8]]
    assert [made.step(line) for line in range(5)] == [None, 0, None, 1, 2]
    assert [made.line_of(box) for box in range(9)] == [0, 0, 1, 1, 1, 2, 3, 3, 4]


def test_without_steps_lines_are_full() -> None:
    assert boxes(lines(*[-1] * 7)) == [[0, 1, 2], [3, 4, 5], [6]]


def test_one_stays_in_the_same_place_of_the_line_where_that_is_long_enough() -> None:
    made = lines(0, 0, 0, 1, 2, 2, 2)
    assert made.moved(2, 1) == 3
    assert made.moved(2, 2) == 6
    assert made.moved(6, -1) == 3
    assert made.moved(1, 9) == 5
    assert made.moved(5, -9) == 1


def test_a_step_that_comes_again_begins_again() -> None:
    made = lines(0, 1, 0)
    assert [made.step(line) for line in range(3)] == [0, 1, 0]


def test_no_boxes_no_lines() -> None:
    made = lines()
    assert len(made) == 0
    assert list(made.boxes(0)) == []
