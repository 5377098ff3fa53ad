"""Programs whose gradient is bad at a line of the forward pass, which is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS: list[Callable[[], Any]] = []
_variables: dict[str, Any] = {}


def of_line(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS.append(function)
    return function


def var(*values: Any) -> Any:
    """Returns the variable of these values; the first time, outside of a function."""
    if str(values) not in _variables:
        _variables[str(values)] = tf.Variable(list(values))
    return _variables[str(values)]


@of_line
def euclid() -> Any:
    x = var(0.0, 0.0)
    with tf.GradientTape() as t:
        y = tf.math.reduce_euclidean_norm(x)  # FORWARD
        z = y * 2.0
    return t.gradient(z, x) + 1.0


@of_line
def norm() -> Any:
    x = var(0.0, 0.0)
    with tf.GradientTape() as t:
        y = tf.norm(x)  # FORWARD
    g = t.gradient(y, x)
    return g * 0.5


@of_line
def sqrt_twice() -> Any:
    x = var(0.0, 1.0)
    with tf.GradientTape() as t:
        a = tf.sqrt(x + 1.0)
        b = tf.sqrt(x)  # FORWARD
        y = tf.reduce_sum(a + b)
    return t.gradient(y, x) * 0.5


@of_line
def sqrt_sqrt() -> Any:
    x = var(0.0, 1.0)
    with tf.GradientTape() as t:
        a = tf.sqrt(x)
        b = tf.sqrt(a)  # FORWARD
        y = tf.reduce_sum(b)
    return t.gradient(y, x) * 0.5


@of_line
def power() -> Any:
    x = var(0.0, 1.0)
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.pow(x, 0.5))  # FORWARD
    return t.gradient(y, x) * 0.5


@of_line
def atan2() -> Any:
    x = var(0.0, 1.0)
    y = var(0.0, 1.0)
    with tf.GradientTape() as t:
        a = tf.atan2(y, x)  # FORWARD
        loss = tf.reduce_sum(a)
    return t.gradient(loss, x) * 0.5


@of_line
def where_log() -> Any:
    x = var(0.0, 1.0)
    with tf.GradientTape() as t:
        a = tf.where(x > 0, tf.math.log(x), 0.0)  # FORWARD
        loss = tf.reduce_sum(a)
    return t.gradient(loss, x) * 0.5


@of_line
def where_div() -> Any:
    x = var(0.0, 1.0)
    with tf.GradientTape() as t:
        a = tf.where(x > 0, 1.0 / x, 0.0)  # FORWARD
        loss = tf.reduce_sum(a)
    return t.gradient(loss, x) * 0.5


@of_line
def acos() -> Any:
    x = var(1.0, 0.5)
    with tf.GradientTape() as t:
        loss = tf.reduce_sum(tf.acos(x))  # FORWARD
    return t.gradient(loss, x) * 0.5


@of_line
def pairwise() -> Any:
    x = var(*[[0.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    with tf.GradientTape() as t:
        d = x[:, None] - x[None]
        dist = tf.sqrt(tf.reduce_sum(tf.square(d), -1))  # FORWARD
        loss = tf.reduce_mean(dist)
    return t.gradient(loss, x) * 0.5


@of_line
def std() -> Any:
    x = var(1.0, 1.0, 1.0)
    with tf.GradientTape() as t:
        loss = tf.math.reduce_std(x)  # FORWARD
    return t.gradient(loss, x) * 0.5


@of_line
def custom() -> Any:
    @tf.custom_gradient
    def f(v: Any) -> Any:
        def grad(dy: Any) -> Any:
            return dy / v  # FORWARD

        return v * 2.0, grad

    x = tf.constant([0.0, 1.0])
    with tf.GradientTape() as t:
        t.watch(x)
        loss = tf.reduce_sum(f(x))
    return t.gradient(loss, x) * 0.5


@of_line
def jacobian() -> Any:
    x = tf.constant([0.0, 1.0])
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.sqrt(x)  # FORWARD
    return t.jacobian(y, x, experimental_use_pfor=False) * 0.5


@of_line
def vectorized_jacobian() -> Any:
    x = tf.constant([0.0, 1.0])
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.sqrt(x)  # FORWARD
    return t.jacobian(y, x) * 0.5


@of_line
def vectorized_map() -> Any:
    def share(row: Any) -> Any:
        return row / tf.reduce_sum(row)  # FORWARD

    return tf.vectorized_map(share, tf.constant([[0.0, 0.0], [1.0, 3.0]])) * 0.5


@of_line
def vectorized_map_in_another() -> Any:
    def share(row: Any) -> Any:
        return tf.vectorized_map(lambda x: x / tf.reduce_sum(row), row)  # FORWARD

    return tf.vectorized_map(share, tf.constant([[0.0, 0.0], [1.0, 3.0]])) * 0.5


@of_line
def gradient_of_each() -> Any:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.sqrt(x)  # FORWARD
        return t.gradient(y, x)

    return tf.vectorized_map(slope, tf.constant([0.0, 4.0])) * 0.5


@of_line
def second_order() -> Any:
    x = tf.constant([0.0, 1.0])
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.reduce_sum(x**1.5)  # FORWARD
        g = t.gradient(y, x)
        s = tf.reduce_sum(g)
    return t2.gradient(s, x) * 0.5


@of_line
def keras_like() -> Any:
    w = var(*[[1.0], [1.0]])

    class Cos(tf.Module):
        def __call__(self, a: Any) -> Any:
            return tf.norm(a @ w - 2.0, axis=-1)  # FORWARD

    m = Cos()
    with tf.GradientTape() as t:
        loss = tf.reduce_mean(m(tf.ones([3, 2])))
    return t.gradient(loss, w) * 0.1


@of_line
def of_arguments() -> Any:
    @tf.function
    def slope(x: Any, y: Any) -> Any:
        with tf.GradientTape() as t:
            t.watch(x)
            z = tf.math.atan2(x, y)  # FORWARD
        return t.gradient(z, x)

    return slope(tf.zeros([2]), tf.zeros([2])) * 0.5


@of_line
def computed_again() -> Any:
    w = var(0.0, 2.0)

    @tf.recompute_grad
    def block(x: Any) -> Any:
        return tf.math.log(x * w)  # FORWARD

    with tf.GradientTape() as t:
        loss = tf.reduce_sum(block(tf.ones([2])))
    return t.gradient(loss, w) * 0.5


@of_line
def function_computed_again_by_xla() -> Any:
    w = var(0.0, 2.0)

    @tf.function
    def root(x: Any) -> Any:
        return tf.sqrt(x * w)  # FORWARD

    @tf.function(jit_compile=True)
    def slope() -> Any:
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(tf.recompute_grad(root)(tf.ones([2])))
        return t.gradient(loss, w)

    return slope() * 0.5


@of_line
def recomputed() -> Any:
    x = var(0.0, 1.0)

    def root(v: Any) -> Any:
        return tf.sqrt(v)  # FORWARD

    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.recompute_grad(root)(x))
    return t.gradient(y, x)
