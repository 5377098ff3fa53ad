"""What an op makes bad of its own, beside what came in bad, is a root as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.diagnosis.report.findings import Report

NAN, INF = np.nan, np.inf


def record(directory: Path, *ops: tuple[str, str, list[float]]) -> Report:
    """Records ops of a function, each given as its type, its inputs and its result."""
    program = Program(directory)
    program.graph("root", "")
    program.graph("f", "f", "root")
    for op_type, inputs, _ in ops:
        program.op("f", op_type, op_type, *(f"{name}:0" for name in inputs.split()))
    for op_type, _, values in ops:
        program.trace("f", op_type, floats(*values))
    program.execution("__inference_f_1", [1], {2: floats(*ops[-1][2])}, graph_id="f")
    return diagnose(program.open())


@pytest.mark.parametrize(
    ("ops", "rules", "evidence", "alerts"),
    [
        (
            [("Placeholder", "", [NAN, 0, 2]), ("Log", "Placeholder", [NAN, -INF, 0.7])],
            ["bad-argument", "log-of-zero"],
            "1 zero in → 1 -∞ out; beside 1 NaN that came in",
            [2, 1],
        ),
        (
            [("Log", "x", [NAN, -0.7, 0.7]), ("Sqrt", "Log", [NAN, NAN, 0.8])],
            ["born-of-finite", "sqrt-of-negative"],
            "1 negative number in → 1 NaN out; beside 1 NaN that came in",
            [2, 1],
        ),
        (
            [
                ("Square", "x", [9, 0, 4]),
                ("Exp", "Square", [INF, 1, 2]),
                ("Sub", "y", [8, 0, 4]),
                ("RealDiv", "Exp Sub", [INF, INF, 0.5]),
            ],
            ["exp-overflow", "division-by-zero"],
            "1 zero in the denominator → 1 +∞ of 2 out; beside 1 +∞ that came in",
            [2, 1],
        ),
    ],
    ids=["zero beside NaN", "negative beside NaN", "zero beside infinity"],
)
def test_what_counts_prove_that_an_op_has_added_is_a_root(
    tmp_path: Path,
    ops: list[tuple[str, str, list[float]]],
    rules: list[str],
    evidence: str,
    alerts: list[int],
) -> None:
    report = record(tmp_path, *ops)
    assert [root.rule for root in report.roots][1:] == rules[1:]
    assert report.roots[1].evidence == evidence
    assert [root.alerts for root in report.roots] == alerts
    assert [link.op_type for link in report.roots[1].chain][-1] == ops[-1][0]


@pytest.mark.parametrize(
    "ops",
    [
        [("Placeholder", "", [NAN, 0, 2]), ("Sqrt", "Placeholder", [NAN, 0, 1.4])],
        [("Placeholder", "", [NAN, 1, 2]), ("Cumsum", "Placeholder", [NAN, NAN, NAN])],
        [  # The zero is that of a number over infinity.
            ("Placeholder", "", [1, NAN]),
            ("Square", "x", [1e9, 1]),
            ("Exp", "Square", [INF, 2]),
            ("RealDiv", "Placeholder Exp", [0, NAN]),
            ("Log", "RealDiv", [-INF, NAN]),
        ],
    ],
    ids=["nothing added", "not element by element", "made of what is bad"],
)
def test_a_consequence_is_none(tmp_path: Path, ops: list[tuple[str, str, list[float]]]) -> None:
    assert ops[-1][0] not in {root.op_type for root in record(tmp_path, *ops).roots}


def test_an_op_adds_to_what_is_bad_in_an_array_of_pythons(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("Abs", [1], {2: floats(1)}, given=(floats(1),))
    program.execution("Log", [3], {4: floats(NAN, -INF, 0.7)}, given=(floats(NAN, 0, 2),))
    array, zero = diagnose(program.open()).roots
    assert (array.rule, zero.rule) == ("bad-array", "log-of-zero")
    assert zero.evidence == "1 zero in → 1 -∞ out; beside 1 NaN that came in"


@pytest.mark.parametrize(
    ("op_type", "values", "rules"),
    [
        ("RealDiv", [INF, INF, 2.7], ["exp-overflow", "division-by-zero"]),
        ("Mul", [INF, 0, INF], ["exp-overflow"]),
    ],
    ids=["by another number", "of the same kind"],
)
def test_two_bugs_of_one_line_in_different_elements_of_one_tensor(
    tmp_path: Path, op_type: str, values: list[float], rules: list[str]
) -> None:
    program = Program(tmp_path)
    program.execution("Abs", [1], {2: floats(1000, 0, 88)}, line=3)
    program.execution("Exp", [2], {3: floats(INF, 1, 1.7e38)}, line=4)
    program.execution(op_type, [3, 2], {4: floats(*values)}, line=4)
    assert [root.rule for root in diagnose(program.open()).roots] == rules
