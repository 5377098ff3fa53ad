"""Our records are those of TensorFlow's own writer, or more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from tests.dump import dump_oracle as oracle  # noqa: E402

if TYPE_CHECKING:
    from tests.preloaded import Preloaded

HERE = Path(__file__).parent
MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")
PROGRAMS = ("eager", "functions", "gradient", "dtypes", "strings", "wrong_shapes")
RANGE_LOOP = {
    *("Cast", "Maximum", "NotEqual", "add", "floordiv", "mod", "range", "sub", "zeros_like"),
    *("while/Placeholder", "while/maximum_iterations", "while/while/loop_counter"),
    "while/while/maximum_iterations",
}
UNUSED = {
    "functions": RANGE_LOOP,
    "wrong_shapes": RANGE_LOOP,
    "gradient": {
        *("gradients/mul_grad/Mul", "gradients/mul_grad/Mul/MatMul", "gradients/mul_grad/Reshape"),
        *("gradients/mul_grad/Shape", "gradients/mul_grad/Sum"),
        "gradients/mul_grad/Sum/reduction_indices",
    },
    "keras_fit": {
        "BroadcastTo/shape",
        *(f"gradient_tape/compile_loss/mse/div_no_nan/{op}" for op in ("Neg", "div_no_nan", "mul")),
        *(
            f"gradient_tape/sequential/dropout/stateless_dropout/{op}"
            for op in ("Reshape", "SelectV", "Sum")
        ),
    },
}
"""What TensorFlow prunes of the programs; its own writer records that too, and has it computed."""
CASES = [f"{p}:{m}" for m in MODES for p in PROGRAMS] + ["keras_fit:CONCISE_HEALTH"]


# Where each writer has dumped, and what the programs computed.
Dumped = dict[str, tuple[Path, dict[str, list[str]]]]


def dump(
    preloaded: Preloaded, writer: str, directory: Path, cases: list[str]
) -> dict[str, list[str]]:
    process = preloaded.run(HERE / "dumped_programs.py", writer, directory, *cases)
    assert process.returncode == 0, process.stderr[-3000:]
    assert "dumping is off" not in process.stderr, process.stderr[-3000:]
    results: dict[str, list[str]] = json.loads((directory / "results.json").read_text())
    return results


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory, preloaded: Preloaded) -> Dumped:
    result = {}
    for writer, cases in (
        ("none", [f"{p}:none" for p in (*PROGRAMS, "keras_fit")]),
        ("tensorflow", CASES),
        ("ours", [*CASES, "functions:ADAPTIVE", "dtypes:ADAPTIVE"]),
    ):
        directory = tmp_path_factory.mktemp(writer)
        result[writer] = directory, dump(preloaded, writer, directory, cases)
    return result


def readers(dumped: Dumped, case: str) -> tuple[Any, Any]:
    name = case.replace(":", "-")
    return tuple(oracle.open_reader(str(dumped[w][0] / name)) for w in ("tensorflow", "ours"))


@pytest.mark.parametrize("case", CASES)
def test_records_are_a_superset(dumped: Dumped, case: str) -> None:
    theirs, ours = readers(dumped, case)
    whole = case.endswith("FULL_TENSOR")
    missing = oracle.traces(theirs, values=whole) - oracle.traces(ours, values=whole)
    assert {op_name for _, op_name, *_ in missing} <= UNUSED.get(case.partition(":")[0], set())
    executed, recorded = (oracle.executions(r, values=whole) for r in (theirs, ours))
    assert not executed - recorded
    assert {op_type for op_type, *_ in recorded - executed} <= {"Identity"}
    assert not oracle.creations(theirs) - oracle.creations(ours)
    for digest in ours.executions():
        if digest.op_type.startswith(("__forward_", "__backward_", "__inference_")):
            assert ours.graph_by_id(ours.read_execution(digest).graph_id)


@pytest.mark.parametrize("program", [*PROGRAMS, "keras_fit"])
def test_results_are_bit_identical(dumped: Dumped, program: str) -> None:
    expected = dumped["none"][1][f"{program}:none"]
    for case, results in dumped["ours"][1].items():
        if case.startswith(program + ":"):
            assert results == expected, case


@pytest.mark.parametrize("program", ["functions", "dtypes"])
def test_adaptive_counts_all_and_details_the_bad(dumped: Dumped, program: str) -> None:
    concise, _ = readers(dumped, f"{program}:CONCISE_HEALTH")
    full, _ = readers(dumped, f"{program}:FULL_HEALTH")
    ours = oracle.open_reader(str(dumped["ours"][0] / f"{program}-ADAPTIVE"))
    found = oracle.traces(ours)
    for key in oracle.traces(full):
        is_bad = any(key[-1][4:7])  # -∞, +∞, NaN
        if is_bad and key[1] not in UNUSED.get(program, ()):
            assert found[key], key
    for key in oracle.traces(concise):
        if not any(key[-1][1:]):
            # A healthy tensor may be there in full: as an input of an op that made a bad one.
            detailed = [k for k in found if k[:4] == key[:4] and k[4] == 4]
            assert found[key] or detailed, key
