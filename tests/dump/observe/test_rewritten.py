"""TensorFlow's graph optimizer changes numbers: a dump must not keep it from that."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "epsilon beside 1": lambda x: tf.math.log(1.0 - x + 1e-9),
    "epsilon beside a number": lambda x: tf.math.log(x - x * 1.0 + 1e-9),
    "logarithm of a softmax": lambda x: tf.math.log(tf.nn.softmax(x * 200.0)),
    "the largest root": lambda x: tf.reduce_max(tf.sqrt(x - 0.5), axis=0),
    "a cast constant": lambda x: tf.math.log(1.0 - x + tf.cast(1e-9, tf.float32)),
    "a computed constant": lambda x: tf.math.log(1.0 - x + tf.fill([1, 1], 1e-5) * 1e-4),
    "epsilon after an identity": lambda x: tf.math.log(tf.identity(1.0 - x) + 1e-9),
    "constants that cancel": lambda x: 1.0 / (x * 1e-9 + 1.0 - 1.0),
    "constants whose product is infinite": lambda x: (x - 0.5) * 1e20 * 1e20,
    "a quotient by constants": lambda x: (x - 0.5) / 1e-20 / 1e-20,
    "logarithm of a softmax that is no variable": (
        lambda x: tf.math.log(tf.stop_gradient(tf.nn.softmax(x * 200.0)))
    ),
    "logarithms that are joined": (
        lambda x: tf.concat([tf.math.log(tf.nn.softmax(x * c)) for c in (200.0, 300.0)], 0) * 1.0
    ),
    "the place of the largest sigmoid": (
        lambda x: tf.cast(tf.argmax(tf.sigmoid(x * 100.0 + 100.0), 1), tf.float32)
    ),
    "the place of the largest of none": (
        lambda x: tf.cast(tf.argmax(tf.nn.relu(x - 2.0), 1), tf.float32)
    ),
    "a pool of NaN": (
        lambda x: tf.nn.max_pool2d(tf.nn.relu(tf.sqrt(x[:, None, :, None] - 2.0)), 1, 1, "VALID")
    ),
    "the opposite of a comparison": (
        lambda x: tf.where(tf.logical_not(tf.sqrt(x - 2.0) < 1.0), x, 2.0 * x)
    ),
    "a leaky maximum": lambda x: tf.maximum(x - 0.5, (x - 0.5) * 2.0),
}
OTHER_MODES = ("CONCISE_HEALTH", "FULL_HEALTH", "FULL_TENSOR", "SHAPE")
IN_ALL_MODES = "epsilon beside 1", "logarithm of a softmax", "the place of the largest sigmoid"
CASES = [
    *((name, "ADAPTIVE") for name in PROGRAMS),
    *((name, mode) for name in IN_ALL_MODES for mode in OTHER_MODES),
]


def results(compute: Callable[[Any], Any]) -> list[Any]:
    """Return what functions give for few and for many elements, with a gradient, and a session."""

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(compute(x))
        return loss, tape.gradient(loss, x, unconnected_gradients="zero")

    some = np.array([[0.5, 1.0, 0.0]], np.float32)
    many = np.repeat(some, 3000, axis=1)
    found = [tf.function(compute)(x).numpy() for x in (tf.constant(some), tf.constant(many))]
    found += [part.numpy() for part in step(tf.constant(some))]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, None])
        found.append(session.run(compute(x), {x: some}))
    return found


@functools.cache
def undisturbed(name: str) -> list[Any]:
    """Return the results without a dump."""
    return results(PROGRAMS[name])


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_results_are_those_without_a_dump(tmp_path: Path, name: str, mode: str) -> None:
    expected = undisturbed(name)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    try:
        found = results(PROGRAMS[name])
    finally:
        tfdbg_tui.disable_dump_debug_info()
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_others_take_as_well_is_on_record(tmp_path: Path) -> None:
    @tf.function
    def compute(x: Any) -> Any:
        alone, shared = 1.0 - x, 2.0 - x
        return tf.math.log(alone + 1e-9), shared + 1e-9, shared * 2.0

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    compute(tf.constant([0.5]))
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    names = {row.op_name for row in run.graph_executions}
    assert {"sub_1", "add", "add_1", "mul"} <= names
    assert "sub" not in names


def test_an_epsilon_may_still_be_fed(tmp_path: Path) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        epsilon = tf.constant(1e-9)
        loss = 1.0 - tf.compat.v1.placeholder_with_default(0.5, []) + epsilon
        assert session.run(loss) == 0.5
        assert session.run(loss, {epsilon: 2.0}) == 2.5
    tfdbg_tui.disable_dump_debug_info()


def test_a_graph_that_tensorflow_leaves_as_it_is(tmp_path: Path) -> None:
    def logarithm() -> Any:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x = tf.compat.v1.placeholder(tf.float32, [2])
            return session.run(tf.math.log(tf.nn.softmax(x)), {x: [0.0, 200.0]})

    assert logarithm()[0] == -np.inf
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    assert logarithm()[0] == -np.inf
    tfdbg_tui.disable_dump_debug_info()
