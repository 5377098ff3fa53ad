"""Why a program has failed is told with the op that raised, its line, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from pathlib import Path

CALL = "__inference_f_7"
OUT_OF_RANGE = "indices[0,13] = 100 is not in [0, 100)"
LABEL = "Received a label value of 9 which is outside the valid range of [0, 9)"


def told(directory: Path, reason: str, error: str = "") -> str:
    """Returns what is said of a program whose last call has raised an error, if it has."""
    recorded = Program(directory)
    recorded.graph("f", "f")
    recorded.op("f", "GatherV2", "embedding/GatherV2", "x:0", line=7)
    recorded.execution(CALL, [], {}, "f", error=error)
    recorded.omission(omissions.FAILED, "the rest of the program", reason)
    report = diagnose(recorded.open())
    assert report.verdict == "incomplete"
    return report.gaps[0].text


def test_the_op_of_a_function_that_raised(tmp_path: Path) -> None:
    nodes = "{{function_node " + CALL + "}} ", "\n\t [[{{node embedding/GatherV2}}]] [Op:" + CALL
    error = f"InvalidArgumentError: {nodes[0]}{OUT_OF_RANGE}{nodes[1]}]"
    text = told(tmp_path, f"InvalidArgumentError: {OUT_OF_RANGE}", error)
    assert f"{OUT_OF_RANGE}), in embedding/GatherV2 (GatherV2) at " in text
    assert ":7 in f: " in text
    assert text.endswith("input_dim of an Embedding.")


def test_of_a_call_whose_graph_is_not_known_its_own_line_is_told(tmp_path: Path) -> None:
    recorded = Program(tmp_path)
    recorded.execution(CALL, [], {}, error=f"InvalidArgumentError: {OUT_OF_RANGE}", line=7)
    reason = f"InvalidArgumentError: {OUT_OF_RANGE}"
    recorded.omission(omissions.FAILED, "the rest of the program", reason)
    text = diagnose(recorded.open()).gaps[0].text
    assert f"{OUT_OF_RANGE}), in a call at /home/program.py:7 in f: what" in text


@pytest.mark.parametrize(
    ("reason", "begins", "ends"),
    [
        (
            "InvalidArgumentError: {{function_node __wrapped__X}} " + LABEL + " [Op:X] name:",
            f"The program failed (InvalidArgumentError: {LABEL}): ",
            "needs a unit for each.",
        ),
        ("it ended by signal SIGABRT", "The program failed (it ended by signal", "it got."),
        ("ValueError: x: y", "The program failed (ValueError: x: y): what", "it got."),
        ("KeyboardInterrupt", "The program was interrupted (KeyboardInterrupt): ", "it got."),
    ],
)
def test_what_no_recorded_call_raised(tmp_path: Path, reason: str, begins: str, ends: str) -> None:
    text = told(tmp_path, reason, "ValueError: something else")
    assert text.startswith(begins)
    assert text.endswith(ends)
