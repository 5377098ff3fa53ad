"""How far a healthy run is from the limits of its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import TensorEvent, diagnose, to_text
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path


def test_of_what_may_grow_the_number_closest_to_the_limit_of_its_type(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    tensors: dict[str, tuple[str, np.floating[Any]]] = {
        "large": ("MatMul", np.float32(1e9)),
        "close": ("MatMul", np.float16(600.0)),
        "constant": ("Const", np.float16(3e4)),
        "mask": ("Select", np.finfo(np.float16).min),
        "gradient_tape/close/MatMul": ("MatMul", np.float16(6e4)),
    }
    for name, (op_type, _) in tensors.items():
        made.op("f", op_type, name)
    for part in (0.5, 1.0, 0.25):
        for name, (_, value) in tensors.items():
            number = value if name == "mask" else value * part
            made.trace("f", name, np.full(4, number, value.dtype), extremes=True)
    report = diagnose(made.open())
    found = report.headroom
    assert found is not None
    assert (found.event, found.largest, found.dtype) == (
        TensorEvent("graph_execution", 6, 0),
        600.0,
        "float16",
    )
    told = (
        "  closest    to the limit of its type: 600 of 6.55e+04 (float16), close:0. Not looked at:"
    )
    assert told in to_text(report)
    assert report.to_json()["headroom"]["limit"] == 65504


def closest(made: Program, numbers: dict[str, float]) -> tuple[str, float]:
    """Returns the tensor that is told where these numbers were computed, and its number."""
    for name, number in numbers.items():
        made.trace("f", name, floats(number), extremes=True)
    found = diagnose(made.open()).headroom
    assert found is not None
    return found.name, found.largest


def test_what_a_metric_of_keras_adds_up_is_left_out(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "AddV2", "count", line=3, in_library="update_state")
    made.op("f", "Mean", "loss", line=3)
    assert closest(made, {"count": 640.0, "loss": 2.0}) == ("loss:0", 2.0)


def test_a_sum_of_constants_is_left_out(tmp_path: Path) -> None:
    """A mean divides by such a sum of weights: it counts the examples."""
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Const", "one")
    made.op("f", "Shape", "shape", "x:0")
    made.op("f", "Fill", "weights", "shape:0", "one:0")
    made.op("f", "Sum", "count", "weights:0", "axes:0")
    made.op("f", "Mul", "weighed", "weights:0", "x:0")
    made.op("f", "Sum", "loss", "weighed:0", "axes:0")
    assert closest(made, {"count": 640.0, "loss": 2.0}) == ("loss:0", 2.0)


def test_what_is_selected_of_a_constant_is_left_out(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "Const", "lowest")
    made.op("f", "SelectV2", "masked", "where:0", "x:0", "lowest:0")
    made.op("f", "SelectV2", "chosen", "where:0", "x:0", "y:0")
    assert closest(made, {"masked": 2e38, "chosen": 2.0}) == ("chosen:0", 2.0)


def test_the_number_of_a_step_is_left_out(tmp_path: Path) -> None:
    """Adam makes a floating-point number of it."""
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "AddV2", "iteration", dtype="int32", line=3)
    made.op("f", "Cast", "adam/Cast", "iteration:0", line=3)
    made.op("f", "Mean", "loss", line=3)
    assert closest(made, {"adam/Cast": 640.0, "loss": 2.0}) == ("loss:0", 2.0)


def test_the_number_of_a_step_is_left_out_of_eager_programs(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.execution("Cast", [], {1: floats(640.0)}, line=9, in_library="update_step", extremes=True)
    made.execution("Cast", [], {2: floats(2.0)}, line=8, extremes=True)
    found = diagnose(made.open()).headroom
    assert found is not None
    assert (found.event.index, found.largest) == (1, 2.0)


def test_what_variables_begin_with_is_left_out(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "__inference_f_9", "root")
    made.graph("first", "__inference_initialize_variables_12", "root")
    made.op("first", "Cast", "number_of_units", line=3)
    made.op("f", "MatMul", "logits", line=4)
    for graph, name, number in (("first", "number_of_units", 1484.0), ("f", "logits", 2.0)):
        made.trace(graph, name, floats(number), extremes=True)
    found = diagnose(made.open()).headroom
    assert found is not None
    assert (found.name, found.largest) == ("logits:0", 2.0)


def test_where_nothing_was_measured_there_is_none(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    made.op("f", "MatMul", "x")
    made.trace("f", "x", np.ones(4, np.float32))
    assert diagnose(made.open()).headroom is None


def test_eager_tensors_without_a_type_are_held_against_float32(tmp_path: Path) -> None:
    made = Program(tmp_path)
    concise = TensorDebugMode.CONCISE_HEALTH  # like healthy tensors of eager code in ADAPTIVE
    for place, largest in enumerate((3.0, 2e5, 7.0)):
        made.execution("Mul", [], {place: floats(largest)}, mode=concise, line=9, extremes=True)
    report = diagnose(made.open())
    assert report.headroom is not None
    assert (report.headroom.event, report.headroom.dtype) == (TensorEvent("execution", 1, 0), None)
    told = " ".join(to_text(report).split())
    assert "type: 2e+05 of 3.4e+38 (float32, type not on record)" in told
