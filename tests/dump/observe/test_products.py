"""Products that no record keeps from being fused with the addition of a bias."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import looks  # noqa: E402
from tfdbg_tui.dump.tensorflow import recomputed  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

BATCH, WIDTH = 512, 600
"""So many elements are neither handed over whole nor counted by the graph."""
PRODUCTS = {"Conv2D", "DepthwiseConv2dNative", "MatMul"}

Variables = dict[str, Any]


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    tfdbg_tui.disable_dump_debug_info()


def new_variables() -> Variables:
    shapes = {
        **{"filter": [3, 3, 2, 2], "bias": [2], "depthwise": [3, 3, 2, 1], "depthwise_bias": [2]},
        **{"weights": [32, WIDTH], "weights_bias": [WIDTH], "head": [WIDTH, 10], "head_bias": [10]},
    }
    generator = tf.random.Generator.from_seed(1)
    return {name: tf.Variable(generator.normal(shape) * 0.1) for name, shape in shapes.items()}


def new_step(v: Variables, batch: int | None) -> Callable[[Any], Any]:
    """Return a training step of which the gradient of a part is a function of its own."""

    @tf.function(input_signature=[tf.TensorSpec([batch, 4, 4, 2], tf.float32)])
    def features(image: Any) -> Any:
        x = tf.nn.bias_add(tf.nn.conv2d(image, v["filter"], 1, "SAME"), v["bias"])
        y = tf.nn.depthwise_conv2d(tf.nn.relu(x), v["depthwise"], [1] * 4, "SAME")
        flat = tf.reshape(tf.nn.bias_add(y, v["depthwise_bias"]), [-1, 32])
        hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(flat, v["weights"]), v["weights_bias"]))
        return tf.matmul(hidden, v["head"]) + v["head_bias"]

    def step(image: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(features(image)))
        return loss, tape.gradient(loss, list(v.values()))

    return step


@pytest.mark.parametrize("mode", ["ADAPTIVE", "CONCISE_HEALTH"])
@pytest.mark.parametrize("batch", ["512", ""])
def test_tensorflow_fuses_what_it_does_without_a_dump(
    tmp_path: Path, preloaded: Preloaded, mode: str, batch: str
) -> None:
    result = preloaded.run(FUSED, tmp_path, mode, batch)
    assert result.returncode == 0, result.stderr
    plain, dumped = json.loads(result.stdout)
    assert len(plain) == 2
    assert dumped == plain


FUSED = """
import inspect, json, sys
import tensorflow as tf
from tensorflow.python.eager.context import context
import tfdbg_tui

root, mode, batch = sys.argv[1:]
batch = int(batch) if batch else None


def fused():
    v = {
        "filter": tf.Variable(tf.ones([3, 3, 2, 2])), "bias": tf.Variable(tf.ones([2])),
        "weights": tf.Variable(tf.ones([32, 600])), "weights_bias": tf.Variable(tf.ones([600])),
    }

    @tf.function(input_signature=[tf.TensorSpec([batch, 4, 4, 2])])
    def step(image):
        with tf.GradientTape() as tape:
            x = tf.nn.bias_add(tf.nn.conv2d(image, v["filter"], 1, "SAME"), v["bias"])
            flat = tf.reshape(tf.nn.relu(x), [-1, 32])
            y = tf.nn.bias_add(tf.matmul(flat, v["weights"]), v["weights_bias"])
            loss = tf.reduce_mean(tf.square(y))
        return tape.gradient(loss, v)

    current = context()
    current.enable_run_metadata()
    step(tf.ones([512, 4, 4, 2]))
    metadata = inspect.unwrap(type(current).export_run_metadata)(current)  # with ops of ours
    current.disable_run_metadata()
    ops = (node.op for graph in metadata.partition_graphs for node in graph.node)
    return sorted(op for op in ops if "FusedMatMul" in op or "FusedConv2D" in op)


plain = fused()
tfdbg_tui.enable_dump_debug_info(root, mode, -1)
print(json.dumps([plain, fused()]))
"""


BAD: dict[str, Callable[[Any, Variables], Any]] = {
    "nothing": lambda image, v: None,
    "an element of the data": lambda image, v: np.put(image, 7, np.nan),
    "all data": lambda image, v: image.fill(np.nan),
    "infinite data": lambda image, v: np.put(image, 7, np.inf),
    "some weights": lambda image, v: v["weights"][:, 5].assign(np.full(32, np.nan)),
    "all weights": lambda image, v: v["weights"].assign(np.full([32, WIDTH], np.nan)),
    "a filter": lambda image, v: v["filter"].assign(np.full([3, 3, 2, 2], np.nan)),
    "a bias": lambda image, v: v["weights_bias"][7].assign(np.nan),
    "an infinite bias": lambda image, v: v["bias"][1].assign(-np.inf),
}


def data_for(what: str, variables: Variables) -> Any:
    image = np.ones([BATCH, 4, 4, 2], np.float32)
    BAD[what](image, variables)
    return tf.constant(image)


def recorded(root: Path, mode: str, what: str, batch: int | None) -> Any:
    variables = new_variables()
    image = data_for(what, variables)
    tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    step = new_step(variables, batch)
    for _ in range(2):
        step(image)
    tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.open_run(root)


def counts(traces: Iterable[Any]) -> dict[tuple[str, int], list[Any]]:
    """Return size, NaN, -∞ and +∞ in each execution of each tensor of graphs."""
    found: dict[tuple[str, int], list[Any]] = {}
    for trace in traces:
        summary = trace.summary
        told = summary.size, summary.nan, summary.neg_inf, summary.pos_inf
        found.setdefault((trace.op_name, trace.output_slot), []).append(told)
    return found


def whole_tensors(root: Path, batch: int | None) -> dict[str, Any]:
    """Return the counts of whole tensors, by what is bad: of one dump, which looks at all alike."""
    variables = new_variables()
    healthy = {name: variable.numpy() for name, variable in variables.items()}
    step = new_step(variables, batch)
    tfdbg_tui.enable_dump_debug_info(str(root), "FULL_TENSOR", -1)
    for number, what in enumerate(BAD):
        for name, value in healthy.items():
            variables[name].assign(value)
        image = data_for(what, variables)
        with tfdbg_tui.step(number):
            step(image)
    tfdbg_tui.disable_dump_debug_info()
    traces = list(tfdbg_tui.open_run(root).graph_executions)
    return {
        what: counts(trace for trace in traces if trace.step == number)
        for number, what in enumerate(BAD)
    }


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[int | None, dict[str, Any]]:
    """The counts of whole tensors, by the size of the batch that the function is traced for."""
    return {
        batch: whole_tensors(tmp_path_factory.mktemp("whole"), batch) for batch in (BATCH, None)
    }


@pytest.mark.parametrize("what", BAD)
def test_what_is_bad_in_a_product_is_on_record(
    tmp_path: Path, what: str, expected: dict[int | None, dict[str, Any]]
) -> None:
    """Of both modes with both kinds of batches, but each of what is bad with two of the four."""
    batches = (BATCH, None) if [*BAD].index(what) % 2 else (None, BATCH)
    for mode, batch in zip(("ADAPTIVE", "CONCISE_HEALTH"), batches, strict=True):
        run = recorded(tmp_path / mode, mode, what, batch)
        found = counts(run.graph_executions)
        assert {"MatMul", "Conv2D", "depthwise"} <= {name for name, _ in found}
        for tensor, told in found.items():
            assert told == expected[batch][what][tensor] * 2, (mode, tensor)
        assert not PRODUCTS & {execution.op_type for execution in run.executions}


def test_a_sum_may_be_infinite_where_the_product_is_not(tmp_path: Path) -> None:
    @tf.function
    def dense(x: Any, bias: Any) -> Any:
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, tf.ones([32, WIDTH], x.dtype)), bias))

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    dense(tf.fill([BATCH, 32], tf.cast(6e36, tf.bfloat16)), tf.cast([2e38] * WIDTH, tf.bfloat16))
    tfdbg_tui.disable_dump_debug_info()
    found = counts(tfdbg_tui.open_run(tmp_path).graph_executions)
    size = BATCH * WIDTH
    assert found["MatMul", 0] == [(size, 0, 0, 0)]
    assert found["BiasAdd", 0] == [(size, 0, 0, size)]


def test_extremes_of_a_product_are_those_that_the_op_has(tmp_path: Path) -> None:
    run = recorded(tmp_path, "ADAPTIVE", "nothing", BATCH)
    first = {t.op_name: t.summary for t in reversed(run.graph_executions)}
    v = new_variables()
    x = tf.nn.conv2d(tf.ones([BATCH, 4, 4, 2]), v["filter"], 1, "SAME")
    ends = first["Conv2D"].minimum, first["Conv2D"].maximum
    np.testing.assert_allclose(ends, (np.min(x), np.max(x)), rtol=1e-5)


def test_a_product_is_computed_again_no_more_often_than_it_tells_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []

    def counting(op: Any) -> Callable[..., Any]:
        def compute(*arrays: Any) -> Any:
            computed.append(op.type)
            return recomputed.recompute(op)(*arrays)

        return compute

    monkeypatch.setattr(looks, "recompute", counting)
    step = new_step(new_variables(), BATCH)
    image = np.ones([BATCH, 4, 4, 2], np.float32)
    bad = image.copy()
    bad[3] = np.nan
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1, magnitudes_every=0)
    step(image)
    assert not computed
    for _ in range(10):
        step(bad)
    assert set(computed) == {*PRODUCTS, "DepthwiseConv2dNative"}
    computed.clear()
    for _ in range(3):
        step(bad)
        step(np.full_like(image, np.nan))
    assert not computed
