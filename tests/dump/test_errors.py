"""How errors of the program are worded."""

from __future__ import annotations

from tfdbg_tui.dump.errors import reason_of

_MESSAGE = """Graph execution error:

Detected at node loss/CrossEntropy defined at (most recent call last):
  File "train.py", line 7, in <module>

Received a label value of 3 which is outside the valid range of [0, 3).
\t [[{{node loss/CrossEntropy}}]] [Op:__inference_step_522]"""


def test_what_was_wrong_is_told_in_one_line() -> None:
    assert reason_of(ValueError("no\nyes")) == "ValueError: no"
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(ValueError("Graph execution error:")) == "ValueError: Graph execution error:"
    told = reason_of(ValueError(_MESSAGE))
    assert told == (
        "ValueError: Received a label value of 3 which is outside the valid range of [0, 3)."
    )
