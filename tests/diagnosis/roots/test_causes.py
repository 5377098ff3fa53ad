"""Roots: where NaN and ∞ were made, what belongs to it, and what does no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis, diagnose
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

NAN, INF = np.nan, np.inf
_DETAILED, _SHORT = TensorDebugMode.FULL_HEALTH, TensorDebugMode.CONCISE_HEALTH


def function(program: Program) -> None:
    program.graph("root", "")
    program.graph("f", "f", "root")


def test_ops_without_definitions_are_one_root(tmp_path: Path) -> None:
    program = Program(tmp_path)
    for name, value in (("Log", -INF), ("Mul", NAN), ("Sum", NAN)):
        program.trace("f", name, floats(value))
    program.execution("__inference_f_1", [1], {2: floats(NAN)}, graph_id="f")
    (root,) = diagnose(program.open()).roots
    assert (root.rule, root.certainty) == ("undescribed-op", "observed")
    assert (root.op_name, root.alerts) == ("Log", 4)


def test_what_follows_from_a_bad_tensor_belongs_to_its_root(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Exp", "Exp", "x:0")
    program.op("f", "Log", "Log", "Exp:0")
    program.op("f", "Mul", "Mul", "Log:0", "Exp:0")
    program.op("f", "Identity", "Identity", "Mul:0")
    for _ in range(3):
        program.trace("f", "Exp", floats(0, 1))
        program.trace("f", "Log", floats(-INF, 0))
        program.trace("f", "Mul", floats(NAN, 0))
        program.execution("__inference_f_1", [1], {2: floats(NAN)}, graph_id="f")
    report = diagnose(program.open())

    (root,) = report.roots
    assert (report.verdict, root.op_name, root.alerts, report.alerts) == ("bad", "Log", 9, 9)
    assert (root.certainty, root.evidence) == ("proved", "1 zero in → 1 -∞ out")
    assert [link.name for link in root.chain] == ["Exp:0", "Log:0", "Mul:0", "f:0"]


def test_a_mask_of_minus_infinity_is_harmless(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "mask")
    program.op("f", "AddV2", "add", "x:0", "mask:0")
    program.op("f", "Softmax", "Softmax", "add:0")
    program.trace("f", "mask", floats(0, -INF))
    program.trace("f", "add", floats(1, -INF))
    program.trace("f", "Softmax", floats(1, 0))
    report = diagnose(program.open())
    assert (report.verdict, report.alerts, report.roots) == ("clean", 2, ())
    assert [finding.op_type for finding in report.benign] == ["Const"]


@pytest.mark.parametrize(
    ("made", "meets_in", "taken_by", "verdict", "roots"),
    [
        ("RealDiv", "AddV2", "Max", "bad", [("RealDiv", 3)]),
        ("RealDiv", "AddV2", "Mul", "bad", [("RealDiv", 3)]),
        ("RealDiv", "TensorScatterUpdate", "Max", "bad", [("RealDiv", 3)]),
        ("Log", "AddV2", "Softmax", "clean", []),
    ],
)
def test_infinity_that_meets_a_mask_is_judged_by_itself(
    tmp_path: Path,
    made: str,
    meets_in: str,
    taken_by: str,
    verdict: str,
    roots: list[tuple[str, int]],
) -> None:
    """What both make bad is counted with the mask, the older one, unless the other does harm."""
    bad = INF if made == "RealDiv" else -INF
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "mask")
    program.op("f", "Const", "at")
    program.op("f", "Placeholder", "x")
    program.op("f", made, made, "x:0", "x:0")
    program.op("f", meets_in, "met", "mask:0", "at:0", f"{made}:0")
    program.op("f", taken_by, taken_by, "met:0")
    program.trace("f", "mask", floats(0, -INF))
    program.trace("f", "at", floats(0, 1))
    program.trace("f", "x", floats(0, 1))
    program.trace("f", made, floats(bad, 1))
    program.trace("f", "met", floats(bad, -INF))
    program.trace("f", taken_by, floats(0, 1) if taken_by == "Softmax" else floats(INF))
    report = diagnose(program.open())
    assert (report.verdict, [(root.op_type, root.alerts) for root in report.roots]) == (
        verdict,
        roots,
    )


def test_infinity_that_another_bug_hides_is_not_called_harmless(tmp_path: Path) -> None:
    """That an exponential overflows may do no harm, but NaN of elsewhere covers what it did."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Mul", "x", "a:0")
    program.op("f", "Exp", "Exp", "x:0")
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "AddV2", "loss", "Exp:0", "Log:0")
    program.op("f", "Neg", "Neg", "loss:0")
    program.trace("f", "x", floats(-1))
    program.trace("f", "Exp", floats(INF))
    for name in ("Log", "loss", "Neg"):
        program.trace("f", name, floats(NAN))
    report = diagnose(program.open())
    assert [root.op_name for root in report.roots] == ["Log", "Exp"]
    assert (report.roots[1].certainty, report.benign) == ("likely", ())


def test_infinity_that_another_bug_hides_is_followed_to_the_end(tmp_path: Path) -> None:
    """What it met goes into an op that is bad because of the other bug anyway."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Mul", "x", "a:0")
    program.op("f", "Exp", "Exp", "x:0")
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "AddV2", "sum", "Exp:0", "Log:0")
    program.op("f", "AddV2", "loss", "sum:0", "Log:0")
    program.trace("f", "x", floats(-1))
    program.trace("f", "Exp", floats(INF))
    for name in ("Log", "sum", "loss"):
        program.trace("f", name, floats(NAN))
    report = diagnose(program.open())
    assert [root.op_name for root in report.roots] == ["Log", "Exp"]
    assert report.benign == ()


def test_infinity_that_another_bug_hides_is_harmless_where_it_was_seen_to_be(
    tmp_path: Path,
) -> None:
    """The maximum of no elements is only compared; the list of maxima has NaN in a later step."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Placeholder", "x")
    program.op("f", "Max", "Max", "x:0")
    program.op("f", "Placeholder", "y")
    program.op("f", "Log", "Log", "y:0")
    program.op("f", "Pack", "Pack", "Max:0", "Log:0")
    program.op("f", "Less", "Less", "Pack:0", "y:0")
    program.op("f", "Neg", "loss", "Log:0")
    for given, logarithm in ((1, 0), (-1, NAN)):
        program.trace("f", "x", floats())
        program.trace("f", "Max", floats(-INF))
        program.trace("f", "y", floats(given))
        program.trace("f", "Log", floats(logarithm))
        program.trace("f", "Pack", floats(-INF, logarithm))
        program.trace("f", "loss", floats(-logarithm))
    report = diagnose(program.open())
    assert [root.op_name for root in report.roots] == ["Log"]
    assert [finding.op_name for finding in report.benign] == ["Max"]


def test_infinity_is_not_called_harmless_where_it_meets_what_another_one_hides(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    function(program)
    quotients = {"first": floats(INF, -INF), "second": floats(INF, INF), "third": floats(INF, INF)}
    for name, quotient in quotients.items():
        program.op("f", "Placeholder", f"{name}/x")
        program.op("f", "Const", f"{name}/y")
        program.op("f", "RealDiv", name, f"{name}/x:0", f"{name}/y:0")
        program.trace("f", f"{name}/x", floats(1, 1))
        program.trace("f", f"{name}/y", floats(0))
        program.trace("f", name, quotient)
    program.op("f", "ConcatV2", "left", "first:0", "second:0")
    program.op("f", "ConcatV2", "right", "third:0", "second:0")
    program.op("f", "AddV2", "sum", "left:0", "right:0")
    program.trace("f", "left", floats(INF, -INF, INF, INF))
    program.trace("f", "right", floats(INF, INF, INF, INF))
    program.trace("f", "sum", floats(INF, NAN, INF, INF))
    report = diagnose(program.open())
    assert sorted(root.op_name or "" for root in report.roots) == ["first", "second", "third"]
    for root in report.roots:
        inputs, links = root.chain[:2], [link.name for link in root.chain[:3]]
        assert links == [f"{root.op_name}/x:0", f"{root.op_name}/y:0", f"{root.op_name}:0"]
        assert not any(link.is_bad for link in inputs)


@pytest.mark.parametrize(
    ("uses", "alerts", "benign"),
    [
        ([(0, _DETAILED, "Mul"), (1, _DETAILED, "Select"), (0, _SHORT, "Mul")], 5, 0),
        ([(0, _DETAILED, "Select"), (0, _SHORT, "Mul")], 2, 1),  # which has to tell since when
    ],
)
def test_an_eager_line_is_one_root_for_all_layers_and_once_the_dump_tells_less(
    tmp_path: Path, uses: list[tuple[int, TensorDebugMode, str]], alerts: int, benign: int
) -> None:
    program = Program(tmp_path)
    tensors = iter(range(2, 100))
    for layer, mode, taken_by in uses:
        given, made, taken = (next(tensors) for _ in range(3))
        program.execution("Abs", [1], {given: floats(0)}, line=4)
        program.execution("Log", [given], {made: floats(-INF)}, line=5, layer=layer, mode=mode)
        result = floats(0 if taken_by == "Select" else NAN)
        inputs = [1, made, given] if taken_by == "Select" else [made, given]
        program.execution(taken_by, inputs, {taken: result}, line=6)
    report = diagnose(program.open())
    assert [(root.op_type, root.alerts) for root in report.roots] == [("Log", alerts)]
    assert len(report.benign) == benign


@pytest.mark.parametrize(
    ("takes", "taken", "root"),
    [("Sum", floats(NAN, -INF), "mask"), ("Exp", floats(NAN, 0), "product")],
)
def test_infinity_of_a_mask_is_the_root_of_nan_only_where_a_sum_of_it_is_no_mask(
    tmp_path: Path, takes: str, taken: np.ndarray, root: str
) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "mask")
    program.op("f", "Placeholder", "x")
    program.op("f", "Mul", "product", "mask:0", "x:0")
    program.op("f", takes, "taken", "product:0")
    program.trace("f", "mask", floats(-INF, -INF))
    program.trace("f", "x", floats(0, 1))
    program.trace("f", "product", floats(NAN, -INF))
    program.trace("f", "taken", taken)
    assert [root.op_name for root in diagnose(program.open()).roots] == [root]


def test_what_a_zero_makes_infinite_and_nan_is_one_bug_also_where_nan_hides_it(
    tmp_path: Path,
) -> None:
    """As in ``((x - mean) / scale) ** 2 + log(scale)`` with a constant scale of 0."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "scale")
    program.op("f", "RealDiv", "x_over", "a:0", "scale:0")
    program.op("f", "RealDiv", "mean_over", "b:0", "scale:0")
    program.op("f", "Log", "Log", "scale:0")
    program.op("f", "Sub", "Sub", "x_over:0", "mean_over:0")
    program.op("f", "AddV2", "loss", "Sub:0", "Log:0")
    program.op("f", "Neg", "Neg", "loss:0")
    program.trace("f", "scale", floats(0, 1))
    program.trace("f", "x_over", floats(INF, 1))
    program.trace("f", "mean_over", floats(NAN, 1))
    program.trace("f", "Log", floats(-INF, 1))
    for name in ("Sub", "loss", "Neg"):
        program.trace("f", name, floats(NAN, 1))
    assert [root.op_name for root in diagnose(program.open()).roots] == ["x_over"]


def test_a_row_that_is_masked_completely_is_not(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "mask")
    program.op("f", "Softmax", "Softmax", "mask:0")
    program.trace("f", "mask", floats(-INF, -INF))
    program.trace("f", "Softmax", floats(NAN, NAN))
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.rule, root.certainty) == (
        "Softmax",
        "softmax-of-nothing",
        "proved",
    )


def test_a_written_infinity_is_meant_even_where_it_is_defined_last(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Sub", "Sub", "Reshape:0", "Reshape:0")
    program.op("f", "Reshape", "Reshape", "start:0")
    program.op("f", "Const", "start")
    program.function("f", "__inference_f")
    for name, value in (("start", -INF), ("Reshape", -INF), ("Sub", NAN)):
        program.trace("f", name, floats(value), serial=1)
    program.execution("__inference_f", [], {}, graph_id="f", serial=1)
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.rule) == ("Sub", "infinity-minus-infinity")


def test_a_function_is_bad_by_what_is_inside_of_it(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Abs", "x", "y:0")
    program.op("f", "Log", "Log", "x:0")
    program.trace("f", "x", floats(0))
    program.trace("f", "Log", floats(-INF))
    program.execution("__inference_f_1", [], {1: floats(INF)}, graph_id="f")
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.alerts) == ("Log", 2)


def test_of_calls_side_by_side_a_bad_result_is_that_of_one_of_them(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.function("f", "__inference_f_1", outputs=("Exp",))
    program.op("f", "Abs", "x", "y:0")
    program.op("f", "Sqrt", "Sqrt", "x:0")
    program.op("f", "Exp", "Exp", "Sqrt:0")
    for value in (-1, 1, 4):  # of none of them it is told which call it was
        with np.errstate(invalid="ignore"):
            root = np.sqrt(floats(value))
        program.trace("f", "x", floats(value))
        program.trace("f", "Sqrt", root)
        program.trace("f", "Exp", np.exp(root))
    for number, result in ((1, 2.0), (2, NAN), (3, 3.0)):
        program.execution(
            "__inference_f_1", [], {number: floats(result)}, "f", serial=number, thread=number
        )
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.alerts) == ("Sqrt", 3)


def test_what_comes_out_of_an_optional_went_into_it(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Abs", "x", "y:0")
    program.op("f", "Exp", "Exp", "x:0")
    program.op("f", "OptionalFromValue", "OptionalFromValue", "Exp:0")
    program.trace("f", "x", floats(100))
    program.trace("f", "Exp", floats(INF))
    program.execution("OptionalGetValue", [1], {2: floats(INF)})
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.alerts) == ("Exp", 2)


def test_a_list_is_not_to_blame_for_what_its_loop_was_told_before_its_making(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    function(program)
    for op_type in ("Abs", "RealDiv", "TensorListGetItem"):
        program.op("f", op_type, op_type, *{"RealDiv": ("Abs:0", "Abs:0")}.get(op_type, ("y:0",)))
    for name, value in (("TensorListGetItem", NAN), ("Abs", 0), ("RealDiv", NAN)):
        program.trace("f", name, floats(value))
    program.execution("__inference_f_1", [], {}, graph_id="f")
    roots = diagnose(program.open()).roots
    assert roots[0].op_name == "RealDiv"


def test_log_and_its_gradient_are_one_bug_where_only_they_have_counted_the_zero(
    tmp_path: Path,
) -> None:
    program, given = Program(tmp_path), floats(0.0)
    program.execution("Softmax", [1], {2: floats(0.0)}, mode=TensorDebugMode.CONCISE_HEALTH)
    program.execution("Log", [2], {3: floats(-INF)}, given=(given,))
    program.execution("Reciprocal", [2], {4: floats(INF)}, given=(given,))
    (root,) = diagnose(program.open()).roots
    assert (root.op_type, root.evidence) == ("Log", "1 zero in → 1 -∞ out")
    assert root.chain[0].summary.zero == 1


def test_nan_that_is_selected_away_is_harmless_and_nan_that_is_clipped_away_is_not(
    tmp_path: Path,
) -> None:
    for op_type, verdict in (("SelectV2", "clean"), ("Maximum", "bad")):
        program = Program(tmp_path / op_type)
        function(program)
        program.op("f", "Neg", "Neg", "x:0")
        program.op("f", "Sqrt", "Sqrt", "Neg:0")
        program.op("f", op_type, "last", "Neg:0", "Sqrt:0", "Neg:0")
        program.trace("f", "Neg", floats(-1, 4))
        program.trace("f", "Sqrt", floats(NAN, 2))
        program.trace("f", "last", floats(0, 2))
        assert diagnose(program.open()).verdict == verdict, op_type


def test_nan_in_data_that_a_function_leaves_out_is_harmless(tmp_path: Path) -> None:
    for recorded, verdict in ((True, "clean"), (False, "bad")):
        program = Program(tmp_path / verdict)
        program.execution("IteratorGetNext", [100], {1: floats(NAN, 1)})
        if recorded:
            function(program)
            program.op("f", "Placeholder", "x")
            program.op("f", "SelectV2", "SelectV2", "condition:0", "x:0", "y:0")
            program.trace("f", "SelectV2", floats(0, 1))
        program.execution("__inference_f_1", [1], {2: floats(0, 1)})
        assert diagnose(program.open()).verdict == verdict


def test_unknown_inputs_are_blamed_on_earlier_trouble_only_if_there_was_some(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    program.execution("Mul", [100, 101], {1: floats(NAN)})
    program.execution("Log", [102], {2: floats(NAN)})
    (root,) = diagnose(program.open()).roots
    assert (root.op_type, root.alerts) == ("Mul", 2)
    assert root.certainty == "likely"


def test_the_gradient_of_the_same_zero_is_the_same_bug(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Softmax", "Softmax", "x:0")
    program.op("f", "Log", "Log", "Softmax:0")
    program.op("f", "Reciprocal", "gradient_tape/Reciprocal", "Softmax:0")
    program.trace("f", "Softmax", floats(0, 1))
    program.trace("f", "Log", floats(-INF, 0))
    program.trace("f", "gradient_tape/Reciprocal", floats(INF, 1))
    (root,) = diagnose(program.open()).roots
    assert (root.op_type, root.alerts) == ("Log", 2)


def test_gradients_of_two_ops_that_begin_with_one_gradient_are_two_bugs(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Neg", "Neg", "x:0")
    program.op("f", "Neg", "gradient_tape/Neg/Neg", "dy:0")
    program.trace("f", "gradient_tape/Neg/Neg", floats(1, 1))
    for number in ("", "_1"):
        program.op("f", "Sqrt", f"Sqrt{number}", f"a{number}:0")
        grad = f"gradient_tape/SqrtGrad{number}"
        program.op("f", "SqrtGrad", grad, f"Sqrt{number}:0", "gradient_tape/Neg/Neg:0")
        program.trace("f", f"Sqrt{number}", floats(0, 1))
        program.trace("f", grad, floats(INF, 1))
    roots = diagnose(program.open()).roots
    assert [(root.op_type, root.alerts) for root in roots] == [("SqrtGrad", 1)] * 2


def test_a_line_of_a_library_that_one_line_calls_again_and_again_is_one_bug(tmp_path: Path) -> None:
    """As the step of an optimizer without epsilon, for each variable."""
    for in_library in ("update_step", ""):
        program = Program(tmp_path / (in_library or "own"))
        program.graph("g", "train")
        for layer in range(3):
            for name in ("m", "v"):
                program.op("g", "Placeholder", f"{name}{layer}")
                program.trace("g", f"{name}{layer}", floats(0, layer + 1))
            operands = f"m{layer}:0", f"v{layer}:0"
            program.op("g", "RealDiv", f"step{layer}", *operands, line=7, in_library=in_library)
            program.trace("g", f"step{layer}", floats(float("nan"), 1))
        roots = diagnose(program.open()).roots
        assert len(roots) == (1 if in_library else 3)
        assert sum(root.alerts for root in roots) == 3


@pytest.mark.parametrize(("in_library", "number"), [("__call__", 1), ("divide", 2)])
def test_a_schedule_of_keras_is_one_bug_wherever_it_is_asked(
    tmp_path: Path, in_library: str, number: int
) -> None:
    program = Program(tmp_path)
    program.execution("Cast", [1], {2: floats(0)}, line=3)
    made = {3: floats(NAN)}
    program.execution("RealDiv", [2, 2], made, line=3, in_library=in_library)
    program.graph("g", "train")
    program.op("g", "Placeholder", "steps")
    program.op("g", "RealDiv", "rate", "steps:0", "steps:0", line=8, in_library=in_library)
    program.trace("g", "steps", floats(0))
    program.trace("g", "rate", floats(NAN))
    roots = diagnose(program.open()).roots
    assert len(roots) == number
    assert sum(root.alerts for root in roots) == 2


@pytest.mark.parametrize(("lines", "number"), [((5, 5), 1), ((5, 9), 2)])
def test_functions_of_one_name_share_a_bug_only_where_they_share_its_line(
    tmp_path: Path, lines: tuple[int, int], number: int
) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    for graph, line in zip(("a", "b"), lines, strict=True):
        program.graph(graph, "step", "root")
        program.op(graph, "Softmax", "Softmax", "x:0", line=line)
        program.op(graph, "Log", "Log", "Softmax:0", line=line)
        program.trace(graph, "Softmax", floats(0, 1))
        program.trace(graph, "Log", floats(-INF, 0))
        program.execution("__inference_step_1", [1], {2: floats(-INF)}, graph_id=graph)
    assert len(diagnose(program.open()).roots) == number


def test_infinity_first_and_nan_later_at_one_place_are_told_apart(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "mask")
    program.op("f", "Mul", "scores", "x:0", "x:0")
    program.op("f", "AddV2", "add", "scores:0", "mask:0")
    program.op("f", "Softmax", "Softmax", "add:0")
    for step in range(8):
        broken = step >= 5
        program.trace("f", "mask", floats(0, -INF))
        program.trace("f", "scores", floats(INF if broken else 1, 1))
        program.trace("f", "add", floats(INF if broken else 1, -INF))
        program.trace("f", "Softmax", floats(NAN if broken else 1, 0))
    report = diagnose(program.open())
    assert [root.op_name for root in report.roots] == ["scores"]


def test_infinity_in_a_search_for_shortest_paths_may_stay_and_in_a_product_may_not(
    tmp_path: Path,
) -> None:
    for op_type, verdict in (("Minimum", "clean"), ("Mul", "bad")):
        program = Program(tmp_path / op_type)
        program.execution("StridedSlice", [100], {1: floats(0, INF)})
        program.execution(op_type, [1, 1], {2: floats(0, INF)})
        assert diagnose(program.open()).verdict == verdict, op_type


def test_a_logarithm_of_zero_is_harmless_where_its_exponential_is_taken_again(
    tmp_path: Path,
) -> None:
    for op_type, verdict in (("AddV2", "clean"), ("Mean", "clean"), ("Cumprod", "bad")):
        program = Program(tmp_path / op_type)
        function(program)
        program.op("f", "Cast", "mask", "x:0")
        program.op("f", "Log", "Log", "mask:0")
        program.op("f", op_type, "last", "Log:0", "mask:0")
        program.op("f", "Exp", "Exp", "last:0")
        program.trace("f", "mask", floats(0, 1))
        program.trace("f", "Log", floats(-INF, 0))
        program.trace("f", "last", floats(-INF))
        program.trace("f", "Exp", floats(0))
        assert diagnose(program.open()).verdict == verdict, op_type


@pytest.mark.parametrize(
    ("probabilities", "weights", "verdict"),
    [((0, 1), (1, 2), "clean"), ((0, 1), (1, -2), "bad"), ((0, 3), (1, 2), "bad")],
)
def test_a_product_of_matrices_may_add_up_logarithms_of_probabilities(
    tmp_path: Path, probabilities: tuple[float, ...], weights: tuple[float, ...], verdict: str
) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Cast", "weights", "x:0")
    program.op("f", "Cast", "numbers", "x:0")
    program.op("f", "Log", "Log", "numbers:0")
    program.op("f", "MatMul", "MatMul", "Log:0", "weights:0")
    program.op("f", "Softmax", "Softmax", "MatMul:0")
    program.trace("f", "weights", floats(*weights))
    program.trace("f", "numbers", floats(*probabilities))
    with np.errstate(divide="ignore"):
        program.trace("f", "Log", np.log(floats(*probabilities)))
    program.trace("f", "MatMul", floats(-INF, -2))
    program.trace("f", "Softmax", floats(0, 1))
    assert diagnose(program.open()).verdict == verdict


@pytest.mark.parametrize(("skips", "verdict"), [(False, "bad"), (True, "clean")])
def test_python_that_only_asks_for_nan_has_not_left_it_out(
    tmp_path: Path, skips: bool, verdict: str
) -> None:
    """It may only tell the answer; what it does otherwise after that, shows what it is for."""
    program = Program(tmp_path)
    for number, value in enumerate((1.0, -1.0, 1.0)):
        program.execution("Neg", [100], {10 * number + 1: floats(value)})
        program.execution(
            "Sqrt", [10 * number + 1], {10 * number + 2: floats(NAN if value < 0 else 1)}
        )
        program.execution("IsNan", [10 * number + 2], {})
        if value > 0 or not skips:
            program.execution("AssignSubVariableOp", [200, 201], {}, line=1)
    assert diagnose(program.open()).verdict == verdict


def test_a_line_that_runs_in_a_function_and_eagerly_is_one_bug(tmp_path: Path) -> None:
    for eager_line, roots in ((12, 1), (13, 2)):
        program = Program(tmp_path / str(eager_line))
        function(program)
        program.op("f", "Abs", "Abs", "x:0")
        program.op("f", "Log", "Log", "Abs:0", line=12)
        program.trace("f", "Abs", floats(0))
        program.trace("f", "Log", floats(-INF))
        program.execution("Abs", [100], {1: floats(0)})
        program.execution("Log", [1], {2: floats(-INF)}, line=eager_line)
        assert len(diagnose(program.open()).roots) == roots, eager_line


def test_the_slope_of_a_value_that_a_select_has_hidden_is_the_same_bug(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Placeholder", "x")
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "SelectV2", "SelectV2", "condition:0", "Log:0", "x:0")
    program.op("f", "Reciprocal", "gradient_tape/Reciprocal", "x:0")
    program.trace("f", "Log", floats(-INF, 0))
    program.trace("f", "SelectV2", floats(0, 0))
    program.trace("f", "gradient_tape/Reciprocal", floats(INF, 1))
    (root,) = diagnose(program.open()).roots
    assert (root.op_type, root.alerts) == ("Log", 2)


def test_what_is_wrong_with_a_value_that_came_out_of_infinity_is_a_consequence(
    tmp_path: Path,
) -> None:
    for source, roots in (("Rsqrt", ["Square"]), ("other", ["Square", "RealDiv"])):
        program = Program(tmp_path / source)
        function(program)
        program.op("f", "Abs", "other", "x:0")
        program.op("f", "Abs", "finite", "y:0")
        program.op("f", "Square", "Square", "finite:0")
        program.op("f", "Rsqrt", "Rsqrt", "Square:0")
        program.op("f", "RealDiv", "RealDiv", f"{source}:0", f"{source}:0")
        program.trace("f", "other", floats(0))
        program.trace("f", "finite", floats(1e30))
        program.trace("f", "Square", floats(INF))
        program.trace("f", "Rsqrt", floats(0))
        program.trace("f", "RealDiv", floats(NAN))
        assert [root.op_type for root in diagnose(program.open()).roots] == roots


def test_what_a_comparison_of_nan_leads_to_is_a_consequence_also_where_it_is_left_out(
    tmp_path: Path,
) -> None:
    """The gradient of a maximum divides by how many elements are equal to it: 0, if it is NaN."""
    for left_out in (True, False):
        program = Program(tmp_path / str(left_out))
        function(program)
        program.op("f", "Abs", "Abs", "x:0")
        program.op("f", "Sqrt", "Sqrt", "Abs:0")
        program.op("f", "Equal", "Equal", "Sqrt:0", "Sqrt:0")
        program.op("f", "Cast", "Cast", "Equal:0")
        program.op("f", "RealDiv", "RealDiv", "Cast:0", "Cast:0")
        program.op("f", "IsFinite", "IsFinite", "RealDiv:0")
        program.op("f", "SelectV2", "where", "IsFinite:0", "RealDiv:0", "Cast:0")
        program.trace("f", "Abs", floats(-1, 1))
        for name, value in (("Sqrt", NAN), ("Cast", 0), ("RealDiv", NAN)):
            program.trace("f", name, floats(value))
        program.trace("f", "where", floats(0 if left_out else NAN))
        report = diagnose(program.open())
        assert [finding.op_type for finding in (*report.roots, *report.benign)] == ["Sqrt"]


def test_a_later_root_is_proved_only_where_all_that_it_was_made_from_is_known(
    tmp_path: Path,
) -> None:
    for recorded, certainty in ((True, "proved"), (False, "likely")):
        program = Program(tmp_path / certainty)
        function(program)
        program.op("f", "Abs", "Abs", "x:0")
        program.op("f", "Square", "Square", "Abs:0")
        if recorded:
            program.op("f", "Placeholder", "called")
        program.op("f", "Neg", "Neg", "called:0")
        program.op("f", "Log", "Log", "Neg:0")
        program.trace("f", "Abs", floats(1e30))
        program.trace("f", "Square", floats(INF))
        program.trace("f", "Neg", floats(0))
        program.trace("f", "Log", floats(-INF))
        assert [r.certainty for r in diagnose(program.open()).roots] == ["proved", certainty]


def test_inputs_that_an_eager_op_describes_itself_are_counted(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("Pow", [100, 101], {1: floats(INF, 1)}, given=(floats(0, 1), floats(-1)))
    (root,) = diagnose(program.open()).roots
    assert (root.certainty, root.evidence) == ("proved", "1 zero in → 1 +∞ out")


def test_a_bad_value_that_a_call_keeps_for_its_gradient_was_born_inside(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Placeholder", "x")
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "Mean", "Mean", "Log:0")
    program.op("f", "Identity", "Identity", "Mean:0")
    program.trace("f", "Log", floats(-INF, 0))
    program.trace("f", "Mean", floats(-INF))
    outputs = {1: floats(-INF), 2: floats(-INF, 0)}
    program.execution("__forward_f_1", [100], outputs)
    diagnosis = Diagnosis(program.open())

    kept = TensorEvent("execution", 0, 1)
    assert [link.name for link in diagnosis.links.to(kept)] == ["Log:0", "f (forward):1"]


def test_bad_data_from_a_pipeline_are_bad_only_if_what_comes_out_of_it_does_harm(
    tmp_path: Path,
) -> None:
    for op_type, verdict in (("SelectV2", "clean"), ("Mul", "bad")):
        program = Program(tmp_path / verdict)
        function(program)
        program.graph("map", "Dataset_map_lambda", "root")
        program.op("map", "RealDiv", "RealDiv", "a:0", "b:0")
        program.op("map", "Identity", "Identity", "RealDiv:0")
        program.op("f", "IteratorGetNext", "Next", "iterator:0")
        program.op("f", op_type, "last", "Next:0", "Next:0")
        program.trace("map", "RealDiv", floats(NAN, 1))
        program.trace("f", "Next", floats(NAN, 1))
        program.trace("f", "last", floats(0 if verdict == "clean" else NAN, 1))
        program.execution("__inference_f_1", [100], {2: floats(0)}, graph_id="f")
        report = diagnose(program.open())
        assert report.verdict == verdict
        assert [root.op_type for root in report.roots] == ["RealDiv"] * (verdict == "bad")


def test_infinity_that_python_wrote_into_masked_places_is_meant_and_its_nan_is_not(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path)
    program.execution("SelectV2", [100, 101, 102], {1: floats(-INF, -INF)})
    program.execution("Softmax", [1], {2: floats(NAN, NAN)})
    (root,) = diagnose(program.open()).roots
    assert (root.rule, root.certainty) == ("softmax-of-nothing", "proved")


def test_what_python_gives_after_what_was_bad_is_told_beside_it(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("Sum", [1], {2: floats(-INF)}, given=(floats(-INF, 1),), line=3)
    program.execution("Neg", [2], {3: floats(INF)}, given=(floats(-INF),), line=3)
    program.execution("Mean", [4], {5: floats(NAN)}, given=(floats(NAN, 1),), line=4)
    (root,) = diagnose(program.open()).roots
    assert root.op_type == "Sum"
    assert root.evidence.endswith("; given later, perhaps because of it: Mean:0 at program.py:4")


@pytest.mark.parametrize(("last", "is_told"), [(INF, True), (3.0, False)])
def test_infinity_that_a_result_holds_in_the_end_is_told(
    tmp_path: Path, last: float, is_told: bool
) -> None:
    """As of what a search for shortest paths has not reached."""
    program = Program(tmp_path)
    for place, far in enumerate((INF, INF, last), 1):
        written = floats(INF, 1), floats(INF, 2)
        program.execution(
            "Minimum", [100, 101], {place: floats(far, 1)}, given=written * (place == 1), line=3
        )
    report = diagnose(program.open())
    assert report.verdict == "clean"
    told = "; in the end ∞ is still in Minimum:0 at program.py:3, where it is right if it is meant"
    assert [finding.evidence.endswith(told) for finding in report.benign] == [is_told]


def test_a_constant_of_a_function_is_a_copy_of_the_eager_tensor(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("RealDiv", [100, 101], {1: floats(INF, 2, 3)})
    function(program)
    program.op("f", "Const", "table")
    program.op("f", "Mul", "Mul", "x:0", "table:0")
    program.trace("f", "x", floats(0, 1, 1))
    program.trace("f", "table", floats(INF, 2, 3))
    program.trace("f", "Mul", floats(NAN, 2, 3))
    program.execution("__inference_f_1", [102], {2: floats(NAN)}, graph_id="f")
    (root,) = diagnose(program.open()).roots
    assert root.op_type == "RealDiv"


def test_infinite_bounds_may_be_compared_and_infinite_quotients_may_not(tmp_path: Path) -> None:
    for bound, verdict in (("Minimum", "clean"), ("Mul", "bad")):
        program = Program(tmp_path / verdict)
        function(program)
        program.op("f", "Abs", "Abs", "x:0")
        program.op("f", "Reciprocal", "Reciprocal", "Abs:0")
        program.op("f", bound, "bound", "Reciprocal:0", "Reciprocal:0")
        program.op("f", "Greater", "Greater", "bound:0", "Abs:0")
        program.trace("f", "Abs", floats(0, 1))
        program.trace("f", "Reciprocal", floats(INF, 1))
        program.trace("f", "bound", floats(INF, 1))
        assert diagnose(program.open()).verdict == verdict, bound


def test_masks_of_the_lowest_half_add_up_and_the_highest_overflow(tmp_path: Path) -> None:
    for sign, verdict in ((-1, "clean"), (1, "bad")):
        program = Program(tmp_path / verdict)
        function(program)
        program.op("f", "Abs", "Abs", "x:0")
        program.op("f", "AddV2", "add", "Abs:0", "Abs:0")
        program.op("f", "Softmax", "Softmax", "add:0")
        program.trace("f", "Abs", np.array([sign * 65504, 1], np.float16))
        program.trace("f", "add", np.array([sign * INF, 2], np.float16))
        program.trace("f", "Softmax", np.array([0, 1], np.float16))
        assert diagnose(program.open()).verdict == verdict, sign


def test_what_nothing_uses_is_no_proof_beside_a_root_that_spreads(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.execution("Neg", [1], {2: floats(0, 1)})
    program.execution("Log", [2], {3: floats(-INF, 0)})  # a test of what log(0) gives
    (alone,) = diagnose(program.open()).roots
    program.execution("Abs", [4], {5: floats(-1, 1)})
    program.execution("Sqrt", [5], {6: floats(NAN, 1)})
    program.execution("Square", [6], {7: floats(NAN, 1)})
    looked_at, spreads = diagnose(program.open()).roots
    assert (alone.certainty, looked_at.certainty, spreads.certainty) == (
        "proved",
        "likely",
        "proved",
    )


def test_what_overflows_in_place_of_nan_in_the_data_is_a_consequence(tmp_path: Path) -> None:
    lowest = float(np.finfo(np.float32).min)
    program = Program(tmp_path)
    function(program)
    program.function("f", "__inference_f_1")
    program.op("f", "MaxPool", "MaxPool", "Next:0")
    program.op("f", "Square", "Square", "MaxPool:0")
    program.op("f", "Mean", "Mean", "Square:0")
    program.op("f", "IteratorGetNext", "Next", "iterator:0")  # in a function that is defined last
    given = {"Next": floats(NAN, 1), "MaxPool": floats(lowest, 1), "Square": floats(INF, 1)}
    for name, value in given.items():
        program.trace("f", name, value, serial=1)
    program.trace("f", "Mean", floats(INF), serial=1)
    program.execution("__inference_f_1", [102], {2: floats(INF)}, graph_id="f", serial=1)
    (root,) = diagnose(program.open()).roots
    assert root.op_type == "IteratorGetNext"


def test_nan_of_infinity_that_was_written_down_is_one_root_where_it_arises(tmp_path: Path) -> None:
    program = Program(tmp_path)
    function(program)
    program.op("f", "Const", "logits")
    program.op("f", "OneHot", "labels", "x:0")
    program.op("f", "SoftmaxCrossEntropyWithLogits", "loss", "logits:0", "labels:0", outputs=2)
    program.trace("f", "logits", floats(INF, 1))
    program.trace("f", "labels", floats(0, 1))
    program.trace("f", "loss", floats(NAN))
    program.trace("f", "loss", floats(NAN, 0), slot=1)
    (root,) = diagnose(program.open()).roots
    assert (root.op_name, root.rule, root.alerts) == ("loss", "born-of-infinity", 2)
    assert root.evidence == "1 +∞ of 2 in → 1 NaN of 1 out"


@pytest.mark.parametrize(
    ("logarithm", "expected"),
    [((-INF, 0), ["Softmax"]), ((-INF, -0.5), ["Log"])],
    ids=["of a mask", "of numbers"],
)
def test_a_row_that_two_masks_leave_empty_is_the_bug_of_the_softmax(
    tmp_path: Path, logarithm: tuple[float, float], expected: list[str]
) -> None:
    """One mask is written down, the other one is the logarithm of a triangle of ones."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "AddV2", "scores", "y:0", "Log:0")
    program.op("f", "Const", "mask")
    program.op("f", "SelectV2", "masked", "z:0", "scores:0", "mask:0")
    program.op("f", "Softmax", "Softmax", "masked:0")
    program.op("f", "Mul", "Mul", "Softmax:0", "y:0")
    program.trace("f", "Log", floats(*logarithm))
    program.trace("f", "scores", floats(-INF, 1))
    program.trace("f", "mask", floats(-INF))
    program.trace("f", "masked", floats(-INF, -INF))
    program.trace("f", "Softmax", floats(NAN, NAN))
    program.trace("f", "Mul", floats(NAN, NAN))
    program.execution("__inference_f_1", [1], {2: floats(NAN, NAN)}, graph_id="f")
    assert [root.op_type for root in diagnose(program.open()).roots] == expected


@pytest.mark.parametrize(
    ("terms", "expected"),
    [((-INF, -INF), "Log"), ((-INF, -200), "total")],
    ids=["all of them", "some of them"],
)
def test_a_logarithm_of_exponentials_of_minus_infinity_is_no_root(
    tmp_path: Path, terms: tuple[float, float], expected: str
) -> None:
    """What reduce_logsumexp gives is -∞ because its terms are, although its sum is finite."""
    program = Program(tmp_path)
    function(program)
    program.op("f", "Log", "Log", "x:0")
    for op_type, name, given in (
        ("Sub", "Sub", "Log:0"),
        ("Exp", "Exp", "Sub:0"),
        ("Sum", "Sum", "Exp:0"),
        ("Log", "total", "Sum:0"),
        ("Identity", "Identity", "total:0"),
    ):
        program.op("f", op_type, name, given)
    for name in ("Log", "Sub"):
        program.trace("f", name, floats(*terms))
    program.trace("f", "Exp", floats(0, 0))
    program.trace("f", "Sum", floats(0))
    program.trace("f", "total", floats(-INF))
    program.execution("__inference_f_1", [1], {2: floats(-INF)}, graph_id="f")
    (root,) = diagnose(program.open()).roots
    assert root.op_name == expected


def test_what_comes_out_of_a_collective_bad_another_replica_has_put_in(tmp_path: Path) -> None:
    """Two collectives of one line, in the order in which each replica runs them."""
    program = Program(tmp_path)
    program.function("g", "step")
    made = {"1/Log": 0.5, "1/Exp": 2.0, "0/Log": -INF, "0/Exp": 2.0}
    sums = {"reduce": -INF, "reduce_1": 4.0, "reduce_2": -INF, "reduce_3": 4.0}
    for name, given in zip(sums, made, strict=True):
        program.op("g", given[2:], given)
        program.op("g", "CollectiveReduceV2", name, f"{given}:0", line=3)
    for values in (made, sums):
        for device, (name, value) in zip("1100", values.items(), strict=True):
            program.trace("g", name, floats(value), device=f"/device:CPU:{device}")
    diagnosis = Diagnosis(program.open())
    assert [root.op_name for root in diagnosis.report().roots] == ["0/Log"]
    producers = diagnosis.dataflow.producers(TensorEvent("graph_execution", 5, 0))
    assert [producer.name for producer in producers] == ["1/Exp:0", "0/Exp:0"]


@pytest.mark.parametrize("calls", [1, 2])
def test_an_argument_is_not_of_what_its_own_call_gives_to_a_python_function(
    tmp_path: Path, calls: int
) -> None:
    """As ``y[index]`` with an index that NumPy has chosen by numbers that hold NaN."""
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "f", "root")
    for name in ("x", "y"):
        program.op("f", "Placeholder", name)
    program.op("f", "Log", "Log", "x:0")
    program.op("f", "PyFunc", "PyFunc", "Log:0")
    program.op("f", "Mul", "Mul", "y:0", "y:0")
    program.function("f", "__inference_f_1", "x", "y")
    for call in range(calls):
        for name, values in (("x", (-1, 1)), ("y", (NAN, 2)), ("Log", (NAN, 0)), ("Mul", (NAN, 4))):
            program.trace("f", name, floats(*values), serial=call + 1)
        made = {call + 9: floats(NAN, 4)}
        program.execution("__inference_f_1", [1, 2], made, "f", serial=call + 1)
    roots = diagnose(program.open()).roots
    assert [root.op_type for root in roots] == ["Log", "Placeholder"]
