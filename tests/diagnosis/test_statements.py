"""On which line of a statement an op is written."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis.statements import line_of_op, times_written

TEXT = """
def density(sample, mean, log_variance):
    return tf.reduce_sum(
        -0.5 * ((sample - mean) ** 2.0 * tf.exp(-log_variance) + log_variance),
        axis=1)
loss = (tf.exp(a) +
        tf.exp(b))
"""


@pytest.mark.parametrize(
    ("line", "op_type", "found"),
    [
        (5, "Exp", 4),  # AutoGraph knows the last line
        (3, "Pow", 4),
        (3, "Log", 3),  # written nowhere: in a function that is called there
        (6, "Exp", 6),  # one of two
        (1, "Exp", 1),
        (99, "Exp", 99),
    ],
)
def test_the_line_of_an_op(line: int, op_type: str, found: int) -> None:
    assert line_of_op(TEXT.split("\n"), line, op_type) == found


@pytest.mark.parametrize(
    ("line", "op_type", "times"), [(5, "Exp", 1), (6, "Exp", 2), (2, "Exp", 0)]
)
def test_how_often_a_statement_has_an_op(line: int, op_type: str, times: int) -> None:
    assert times_written(TEXT.split("\n"), line, op_type) == times


def test_what_is_no_python_has_no_statements() -> None:
    assert line_of_op(["x = (", "tf.exp(1)"], 1, "Exp") == 1
