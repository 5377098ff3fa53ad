"""The layer that an op is of: as recorded, or, of a gradient, that of its forward op."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import LayersOfOps, diagnose, to_text
from tfdbg_tui.query import parse, tensor_rows

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A model of two dense layers in float16, one in an encoder, and their gradients."""
    program = Program(tmp_path)
    for number, outer, name in ((1, 0, "model"), (2, 1, "encoder"), (3, 2, "wide"), (4, 1, "head")):
        program.layer(number, outer, name, "Dense" if number > 2 else "Functional", "float16")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "Placeholder", "x")
    program.op("f", "MatMul", "model/encoder/wide/MatMul", "x:0", layer=3)
    program.op("f", "Rsqrt", "model/encoder/wide/Rsqrt", "model/encoder/wide/MatMul:0", layer=3)
    program.op("f", "Sqrt", "Sqrt", "model/encoder/wide/Rsqrt:0", layer=4)
    program.op("f", "Mean", "loss/Mean", "Sqrt:0")
    gradients = (
        ("MatMul", "model/encoder/wide/MatMul/MatMul", "x:0"),  # by its name
        ("RsqrtGrad", "model/encoder/wide/RsqrtGrad", "y:0"),  # by its scope
        ("SqrtGrad", "SqrtGrad", "Sqrt:0"),  # by what it takes
        ("RealDiv", "loss/truediv", "y:0"),
    )
    for op_type, name, given in gradients:
        program.op("f", op_type, f"gradient_tape/{name}", given)
    program.trace("f", "model/encoder/wide/MatMul", floats(1.0))
    program.trace("f", "gradient_tape/model/encoder/wide/MatMul/MatMul", floats(np.inf))
    program.execution("Exp", [1], {2: floats(1.0)}, layer=4)
    return program.open()


def test_gradients_are_of_the_layers_of_their_forward_ops(run: Run) -> None:
    layers = LayersOfOps(run)
    found = {name: layers.of(op) for name, op in run.graphs["f"].ops.items()}
    assert {name: layer.path for name, layer in found.items() if layer} == {
        "model/encoder/wide/MatMul": "model/encoder/wide",
        "model/encoder/wide/Rsqrt": "model/encoder/wide",
        "Sqrt": "model/head",
        "gradient_tape/model/encoder/wide/MatMul/MatMul": "model/encoder/wide",
        "gradient_tape/model/encoder/wide/RsqrtGrad": "model/encoder/wide",
        "gradient_tape/SqrtGrad": "model/head",
    }


def test_a_finding_names_its_layer(run: Run) -> None:
    report = diagnose(run)
    assert "layer      model > encoder > wide (Dense, float16)" in to_text(report)
    assert report.to_json()["roots"][0]["layer"] == {
        "path": "model/encoder/wide",
        "class": "Dense",
        "dtype_policy": "float16",
        "compute_dtype": "float16",
    }


@pytest.mark.parametrize(
    ("outside", "expected"),
    [(0, "model/encoder/wide"), (1, "model/encoder/wide"), (4, None)],  # none, around it, another
)
def test_a_finding_names_the_layer_whose_result_its_op_takes(
    tmp_path: Path, outside: int, expected: str | None
) -> None:
    program = Program(tmp_path)
    for number, outer, name in ((1, 0, "model"), (2, 1, "encoder"), (3, 2, "wide"), (4, 1, "head")):
        program.layer(number, outer, name, "Dense", "float16")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "MatMul", "MatMul", "x:0", layer=3)
    program.op("f", "Neg", "Neg", "MatMul:0", layer=outside)
    program.op("f", "Exp", "Exp", "Neg:0", layer=outside)
    for name, value in (("MatMul", -1e3), ("Neg", 1e3), ("Exp", np.inf)):
        program.trace("f", name, floats(value))
    report = diagnose(program.open())
    (root,) = report.roots
    assert (root.input_layer and root.input_layer.path) == expected
    said = "takes      the result of model > encoder > wide (Dense, float16)" in to_text(report)
    assert said == bool(expected)


def test_a_gradient_outside_of_layers_names_the_layer_that_it_leads_to(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.layer(1, 0, "head", "Dense", "float16")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "BiasAdd", "head/BiasAdd", "x:0", layer=1)
    program.op("f", "Square", "loss/Square", "head/BiasAdd:0")
    program.op("f", "Mul", "gradient_tape/loss/Square/mul", "scaled:0")
    for name, value in (("head/BiasAdd", 1.0), ("gradient_tape/loss/Square/mul", np.inf)):
        program.trace("f", name, floats(value))
    report = diagnose(program.open())
    (root,) = report.roots
    assert root.layer is None
    assert root.input_layer.path == "head"
    assert "makes      the gradient for the result of head (Dense, float16)" in to_text(report)


def test_the_gradient_of_a_gradient_is_not_that_for_the_result_of_a_layer(tmp_path: Path) -> None:
    """As of the norm in a gradient penalty."""
    program = Program(tmp_path)
    program.layer(1, 0, "critic", "Conv2D", "float32")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "Conv2D", "critic/Conv2D", "x:0", layer=1)
    back = "gradient_tape/critic/Conv2D/Conv2DBackpropInput"
    program.op("f", "Conv2DBackpropInput", back, "critic/Conv2D:0", layer=1)
    program.op("f", "Sqrt", "norm/Sqrt", f"{back}:0")
    program.op("f", "SqrtGrad", "gradient_tape/norm/SqrtGrad", "norm/Sqrt:0", "dy:0")
    program.trace("f", back, floats(0.0))
    program.trace("f", "norm/Sqrt", floats(0.0))
    program.trace("f", "gradient_tape/norm/SqrtGrad", floats(np.inf))
    (root,) = diagnose(program.open()).roots
    assert (root.op_type, root.input_layer) == ("SqrtGrad", None)


def test_the_mean_over_a_batch_names_the_layer_that_predicted(tmp_path: Path) -> None:
    """As in Keras' losses: difference, square, mean, weights of the samples, sum."""
    program = Program(tmp_path)
    program.layer(1, 0, "price", "Dense")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "BiasAdd", "BiasAdd", "x:0", layer=1)
    made = ["BiasAdd", "Sub", "Square", "Mean", "Mul", "Sum"]
    for before, op_type in pairwise(made):
        program.op("f", op_type, op_type, f"{before}:0")
    for name in made:
        program.trace("f", name, floats(np.inf if name == "Sum" else 1e38))
    (root,) = diagnose(program.open()).roots
    assert (root.layer, root.input_layer.path) == (None, "price")


@pytest.mark.parametrize(("op_type", "expected"), [("Cast", "score"), ("Tanh", None)])
def test_the_gradient_of_what_hands_on_names_the_layer_before(
    tmp_path: Path, op_type: str, expected: str | None
) -> None:
    program = Program(tmp_path)
    program.layer(1, 0, "score", "Dot", "float16")
    program.layer(2, 0, "output", "Activation", "float32")
    program.graph("root", "")
    program.graph("f", "step", "root")
    program.op("f", "MatMul", "score/MatMul", "x:0", layer=1)
    program.op("f", op_type, f"output/{op_type}", "score/MatMul:0", layer=2)
    gradient = f"gradient_tape/output/{op_type}/mul"
    program.op("f", "Mul", gradient, "scaled:0")
    for name, value in (("score/MatMul", 1.0), (gradient, np.inf)):
        program.trace("f", name, floats(value))
    (root,) = diagnose(program.open()).roots
    assert root.layer.path == "output"
    assert (root.input_layer and root.input_layer.path) == expected


def test_a_gradient_in_a_loop_is_of_the_layer_of_its_forward_op(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.layer(1, 0, "rnn", "SimpleRNN")
    program.layer(2, 1, "cell", "SimpleRNNCell")
    program.graph("root", "")
    for graph_id in ("f", "cond", "body", "body_grad"):
        program.graph(graph_id, graph_id, "root" if graph_id == "f" else "f")
    program.op("f", "While", "rnn/while", "x:0", layer=1, calls=("cond", "body"))
    gradient = "gradient_tape/rnn/while"
    calls = "cond", "body_grad"
    program.op("f", "StatelessWhile", f"{gradient}/rnn/while_grad", "x:0", calls=calls)
    program.op("body", "Tanh", "rnn/while/cell/Tanh", "x:0", layer=2)
    name = f"{gradient}/gradients/rnn/while/cell/Tanh_grad/TanhGrad"
    program.op("body_grad", "TanhGrad", name, "x:0", "y:0")
    run = program.open()
    layer = LayersOfOps(run).of(run.graphs["body_grad"].ops[name])
    assert (layer and layer.path) == "rnn/cell"


def test_a_bug_in_several_layers_names_them_all(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.graph("root", "")
    program.graph("f", "step", "root")
    for number, name in ((1, "first"), (2, "second"), (3, "healthy")):
        program.layer(number, 0, name, "Scale")
        program.op("f", "Placeholder", f"{name}/x")
        program.op("f", "Square", f"{name}/Square", f"{name}/x:0", layer=number)
    for name, value in (("first", 1e30), ("second", 1e30), ("healthy", 1.0)):
        program.trace("f", f"{name}/x", floats(value))
        program.trace("f", f"{name}/Square", floats(np.inf if value > 1 else 1.0))
    report = diagnose(program.open())
    (root,) = report.roots
    assert (root.layer.path, [layer.path for layer in root.other_layers]) == ("first", ["second"])
    assert report.to_json()["roots"][0]["other_layers"][0]["path"] == "second"
    assert "also in    second (Scale)" in to_text(report)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("layer=encoder", 2),  # what is in it too
        ("layer=encoder/*", 2),
        ("layer=model/encoder/wide", 2),
        ("layer=head", 1),
        ("layer=model", 3),
        ("layer=enc", 0),
        ("!layer=encoder", 1),
        ("layer~^head bad", 0),
    ],
)
def test_filters_know_layers(run: Run, query: str, count: int) -> None:
    rows = list(tensor_rows(run, parse(query)))
    assert len(rows) == count
    assert all(row.values()["layer"].startswith("model/") for row in rows)


def test_layers_are_in_the_order_of_the_model(run: Run) -> None:
    assert [layer.path for layer in run.layers] == [
        "model",
        "model/encoder",
        "model/encoder/wide",
        "model/head",
    ]
