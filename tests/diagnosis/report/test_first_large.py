"""What overflows in a gradient, or in what is made of one, leads back to what was large first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tests.diagnosis.report.dumped import first_root  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MARK = "# large first"


def squared_gradient(loss: Callable[[Any, Any], Any], x: Any, *, steps: int = 1) -> None:
    weights = tf.Variable([[0.5], [-0.25]])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(x, weights)
        gradient = tape.gradient(value, weights)
        weights.assign_sub(1e-30 * gradient)
        return value, tf.reduce_sum(tf.square(gradient))

    for number in range(steps):
        with tfdbg_tui.step(number):
            step(x if number == steps - 1 else tf.ones_like(x))


def divided(x: Any, weights: Any) -> Any:
    product = tf.matmul(x, weights) / 1e-22  # large first
    return tf.reduce_mean(tf.abs(product))


def multiplied(x: Any, weights: Any) -> Any:
    value = tf.reduce_mean(tf.abs(tf.matmul(x, weights)))
    return 3e22 * value  # large first


def raised(x: Any, weights: Any) -> Any:
    power = tf.exp(40.0 * tf.abs(tf.matmul(x, weights)) + 40.0)  # large first
    return tf.reduce_mean(power)


@pytest.mark.parametrize("loss", [divided, multiplied, raised])
def test_the_line_is_that_of_what_was_large_first(
    tmp_path: Path, loss: Callable[[Any, Any], Any]
) -> None:
    root = first_root(tmp_path, lambda: squared_gradient(loss, tf.ones([3, 2])))
    assert root.op_type == "Square"
    assert MARK in root.location.code
    assert "it overflows at test_first_large.py" in root.evidence
    assert root.chain[0].op_type in ("Mul", "RealDiv", "Exp")


def test_data_that_are_large_are_told(tmp_path: Path) -> None:
    def loss(x: Any, weights: Any) -> Any:
        return tf.reduce_mean(tf.abs(tf.matmul(x, weights)))

    root = first_root(tmp_path, lambda: squared_gradient(loss, tf.fill([3, 2], 1e25)))
    assert "what was large first is Fill" in root.evidence


def test_an_exponential_is_told_with_what_it_was_given_above_zero(tmp_path: Path) -> None:
    def loss(x: Any, weights: Any) -> Any:
        sizes = tf.reduce_sum(tf.abs(weights)) * tf.constant([80.0, -900.0])
        return tf.reduce_sum(tf.exp(sizes))

    root = first_root(tmp_path, lambda: squared_gradient(loss, tf.ones([3, 2])))
    assert "(at most 60 in → up to 1.14e+26 out)" in root.evidence


def test_a_training_that_diverges_is_at_no_line_of_its_layers(tmp_path: Path) -> None:
    def program() -> None:
        weights = tf.Variable(tf.fill([2, 2], 0.5))

        @tf.function
        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                value = tf.reduce_mean(tf.matmul(tf.matmul(x, weights), weights) ** 2.0)
            gradient = tape.gradient(value, weights)
            weights.assign_sub(gradient / tf.sqrt(tf.reduce_sum(tf.square(gradient))) * 1e4)
            weights.assign_sub(gradient)

        for number in range(8):
            with tfdbg_tui.step(number):
                step(tf.ones([3, 2]))

    assert "large first" not in first_root(tmp_path, program).evidence


def test_what_overflows_in_the_forward_pass_is_where_it_was(tmp_path: Path) -> None:
    def program() -> None:
        squared_gradient(lambda x, w: tf.reduce_sum(tf.square(x @ w)), tf.fill([3, 2], 1e30))

    assert "large first" not in first_root(tmp_path, program).evidence


@pytest.mark.parametrize(
    ("before", "at", "is_far"),
    [(1.0, 9, True), (1.0, 1, True), (1e19, 9, False), (0.0, 9, False)],
)
def test_one_batch_of_data_is_to_blame_if_it_is_far_from_those_before(
    tmp_path: Path, before: float, at: int, *, is_far: bool
) -> None:
    """One step before is enough where no data are as large as that."""

    def program() -> None:
        weights = tf.Variable([[0.5], [-0.25]])

        @tf.function
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                product = tf.matmul(x, tf.stop_gradient(weights))
                value = tf.reduce_sum(tf.square(product)) + tf.reduce_sum(weights)
            weights.assign_sub(0.01 * tape.gradient(value, weights))
            return value

        for number in range(10):
            with tfdbg_tui.step(number):
                step(tf.constant([[1e21 if number == at else before, 0.0]]))

    root = first_root(tmp_path, program)
    assert root.step == at  # step 9 is not measured if nothing is bad
    assert (root.rule == "batch-far-from-others") is is_far
    assert ("in all steps measured before" in root.evidence) is is_far
