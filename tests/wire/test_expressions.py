"""Where an expression is, in bytes on record and in characters on the screen."""

from __future__ import annotations

import pytest

from tfdbg_tui.wire import events, expressions
from tfdbg_tui.wire.expressions import Expression


@pytest.mark.parametrize("expression", [Expression(7, 0, 7, 5), Expression(7, 4, 9, 1), None])
def test_a_frame_has_what_was_put_into_it(expression: Expression | None) -> None:
    place = events.FileLineCol(2, 7, func="loss")
    data = expressions.to_frame("id", place, expression)
    frame = events.StackFrameWithId.decode(data)
    assert expressions.of_frame(frame) == expression
    assert frame.file_line_col == place


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Expression(1, 5, 1, 11), "log(é)"[:5]),
        (Expression(1, 0, 1, 3), "é "),
        (Expression(1, 5, 2, 1), "log(é) +"),
        (Expression(2, 0, 2, 2), None),
        (Expression(1, 9, 1, 4), None),
        (Expression(3, 0, 3, 1), None),
        (Expression(0, 0, 0, 1), None),
    ],
)
def test_columns_are_characters_of_the_first_line(expression: Expression, text: str | None) -> None:
    lines = ["é = log(é) +", "x"]
    columns = expression.columns(lines)
    assert (columns and lines[0][slice(*columns)]) == text
