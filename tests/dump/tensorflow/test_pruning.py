"""A program under the writer computes what it computes without, and nothing else.

Each program here has an op that would raise and that TensorFlow prunes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.tensorflow import pruning  # noqa: E402
from tfdbg_tui.dump.tensorflow.function_defs import EFFECTS  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfdbg_tui.dump.tensorflow.function_defs import Computed, Slots

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def failing(x: Any) -> Any:
    """Return an element that is not there."""
    return tf.gather(x, tf.size(x) + 10)


def pair(x: Any) -> Any:
    return failing(x), tf.exp(x)


@program
def op(x: Any) -> Any:
    failing(x)
    return tf.exp(x)


@program
def op_with_state(x: Any) -> Any:
    tf.random.uniform([-tf.size(x)])
    return tf.exp(x)


@program
def output_of_a_function(x: Any) -> Any:
    return tf.function(pair)(x)[1]


@program
def argument_of_a_function(x: Any) -> Any:
    return tf.function(lambda a, b: (a + 1.0, tf.exp(b)))(failing(x), x)[1]


@program
def output_of_a_function_with_state(x: Any) -> Any:
    @tf.function
    def inner(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return pair(x)

    return inner(x)[1]


@program
def output_of_a_branch(x: Any) -> Any:
    return tf.cond(x[0] > 0.0, lambda: pair(x), lambda: (x[0], x))[1]


@program
def output_of_a_case(x: Any) -> Any:
    return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: (x[0], x), lambda: pair(x)])[1]


@program
def variable_of_a_loop(x: Any) -> Any:
    def body(i: Any, y: Any, z: Any) -> Any:
        bad, y = pair(y)
        return i + 1, y, z + bad

    return tf.while_loop(lambda i, *_: i < 2, body, [0, x, 0.0])[1]


@program
def variable_of_a_loop_between_calls(x: Any) -> Any:
    inner = tf.function(pair)

    def body(i: Any, y: Any, z: Any) -> Any:
        bad, y = inner(y)
        return i + 1, y, z + bad

    bad, x = inner(x)
    x = tf.while_loop(lambda i, *_: i < 2, body, [0, x, bad])[1]
    x = tf.while_loop(lambda i, *_: i < 2, body, [0, x, bad])[1]
    return inner(x)[1]


@program
def gradient_that_is_not_asked_for(x: Any) -> Any:
    @tf.custom_gradient
    def product(a: Any, b: Any) -> Any:
        return a * b, lambda upstream: (tf.exp(upstream), failing(upstream) + b)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(product)(x, tf.stop_gradient(x))
    return tape.gradient(y, x)


@program
def output_of_a_function_of_a_dataset(x: Any) -> Any:
    dataset = tf.data.Dataset.from_tensors(x).map(lambda x: tf.function(pair)(x)[1])
    return next(iter(dataset))


@pytest.mark.parametrize("mode", ["ADAPTIVE", "NO_TENSOR", "FULL_TENSOR"])
def test_what_nothing_uses_is_not_computed(tmp_path: Path, mode: str) -> None:
    x = tf.ones([3])
    for name, function in PROGRAMS.items():
        expected = tf.function(function)(x)
        tfdbg_tui.enable_dump_debug_info(str(tmp_path / name), mode, -1)
        try:
            value = tf.function(function)(x)
        finally:
            tfdbg_tui.disable_dump_debug_info()
        assert value.numpy().tobytes() == expected.numpy().tobytes(), name
        run = open_run(str(tmp_path / name))
        assert not run.omissions, name
        types = {trace.op_type for trace in run.graph_executions}
        assert "Exp" in types, name
        assert not types & {"GatherV2", "RandomUniform"}, name


def test_a_loop_computes_what_is_used_in_a_later_iteration() -> None:
    def body(i: Any, x: Any, total: Any) -> Any:
        return i + 1, tf.tanh(x, "tanh"), total + tf.sin(x, "sin")

    float32 = tf.TensorSpec([])
    made = tf.function(body).get_concrete_function(tf.TensorSpec([], tf.int32), float32, float32)
    for is_loop_body, expected in ((False, {1}), (True, {1, 2})):
        uses = pruning.uses(made.function_def, _no_function, is_loop_body=is_loop_body)
        assert {name: uses[name] - {EFFECTS} for name in ("tanh", "sin")} == {
            "tanh": expected,
            "sin": {2},
        }


def _no_function(name: str, used: Slots) -> Computed:
    raise AssertionError(name)
