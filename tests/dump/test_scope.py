"""Recording limited to layers, functions and source lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tfdbg_tui.dump.scope import Scope

tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tensorflow


class Encoder(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.ones([2, 2]))
        self.bias = tf.Variable(tf.ones([2]))

    def __call__(self, x: Any) -> Any:
        return tf.nn.elu(tf.nn.bias_add(tf.matmul(x, self.weights), self.bias))


class Head(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.ones([2, 1]))

    def __call__(self, x: Any) -> Any:
        return tf.matmul(tf.nn.relu(x), self.weights)


class Model(tf.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.head = Head()

    def __call__(self, x: Any) -> Any:
        return self.head(tf.math.log(self.encoder(x) - 2.5))  # NaN where the encoder gives less


def total(x: Any) -> Any:
    return tf.reduce_sum(x)


def step(model: Model, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = total(model(x))
    return loss, tape.gradient(loss, model.trainable_variables)


LOG = Model.__call__.__code__.co_firstlineno + 1
HEAD = {"Relu", "MatMul"}
ENCODER = {"Elu", "BiasAdd", "MatMul"}
GRADIENTS = {"ReluGrad", "EluGrad"}


def recorded(directory: Path, x: Any, *, graph: bool, **limits: Any) -> tfdbg_tui.Run:
    model = Model()
    run = tf.function(step) if graph else step
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1, **limits)
    try:
        run(model, x)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return open_run(directory)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(
    ("limits", "types"),
    [
        ({"layers": "head"}, HEAD | {"ReluGrad"}),
        ({"layers": "mod*/enc*"}, ENCODER | {"EluGrad"}),
        ({"functions": "total,tot"}, {"Sum"}),
        ({"lines": f"test_scope.py:{LOG}"}, ENCODER | HEAD | {"Log"}),
        ({"layers": "head,other", "lines": f"dump/test_scope.py:{LOG}..{LOG + 1}"}, HEAD),
    ],
    ids=["layer", "path", "function", "line", "two"],
)
def test_what_is_within_the_limits_is_recorded(
    tmp_path: Path, limits: dict[str, str], types: set[str], *, graph: bool
) -> None:
    """Of layers also the gradients, which are computed elsewhere."""
    run = recorded(tmp_path, tf.ones([3, 2]), graph=graph, **limits)
    found = {e.op_type for e in run.executions}
    found |= {run.graphs[s.graph_id].ops[s.op_name].op_type for s in run.site_numbers}
    assert found & (HEAD | ENCODER | GRADIENTS | {"Log", "Sum"}) == types
    assert any("_step_" in name for name in found) == graph  # calls are told, to know the causes
    assert set(run.files.limits) == {f"{name}={limit}" for name, limit in limits.items()}


def test_what_comes_from_outside_of_a_limit_is_not_blamed_on_what_is_inside(tmp_path: Path) -> None:
    run = recorded(tmp_path, tf.zeros([3, 2]), graph=False, layers="head")
    report = diagnose(run)
    assert report.verdict == "bad"
    (root,) = report.roots
    assert (root.op_type, root.rule, root.certainty) == (
        "Relu",
        "from-outside-of-limits",
        "observed",
    )
    assert "layers=head" in root.evidence
    assert "layers=head" in report.gaps[0].text


def test_a_limit_that_nothing_is_within_is_told(tmp_path: Path) -> None:
    report = diagnose(recorded(tmp_path, tf.zeros([3, 2]), graph=True, layers="haed"))
    assert report.verdict == "incomplete"
    assert "Nothing that ran is within" in report.gaps[0].text


@pytest.mark.parametrize("limit", [{"layers": "a,,b"}, {"lines": "train.py:9..3"}, {"lines": ":"}])
def test_a_limit_that_says_nothing_is_refused(limit: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(limit))):
        Scope(**limit)


def test_a_module_in_a_list_is_named_with_its_number() -> None:
    scope = Scope(layers="blocks[0],encoder*")
    assert scope.has_layer(["model", "blocks[0]"])
    assert not scope.has_layer(["model", "blocks[1]"])
    assert scope.has_layer(["encoder_2", "blocks[1]"])


def test_gradients_of_other_layers_are_left_out(tmp_path: Path) -> None:
    """Keras casts what a layer takes outside of the layer's own name scope."""
    given = made = tf.keras.Input((2,))
    for name in ("first", "second", "third"):
        made = tf.keras.layers.Dense(2, "relu", name=name, dtype="mixed_bfloat16")(made)
    model = tf.keras.Model(given, made)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        return tape.gradient(loss, model.trainable_variables)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, layers="first")
    step(tf.ones([3, 2]))
    tfdbg_tui.disable_dump_debug_info()
    recorded = {trace.op_name for trace in open_run(tmp_path).graph_executions}
    assert any("gradient_tape" in name for name in recorded)
    assert not {name for name in recorded if "second" in name or "third" in name}
