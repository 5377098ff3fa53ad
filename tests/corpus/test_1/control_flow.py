"""Loops in loops, retraced functions, folds and fractals."""

from __future__ import annotations

from functools import partial

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Mean")
def retraced_for_an_empty_batch():
    """A function is traced for each shape; the third one is an empty batch, whose mean is NaN."""
    total = tf.Variable(0.0)

    @tf.function
    def add_batch(batch):
        centred = batch - 0.5
        total.assign_add(tf.reduce_mean(tf.square(centred)))  # BUG

    values = np.linspace(0.0, 1.0, 7).astype("float32")
    for low, high in ((0, 4), (4, 7), (7, 11), (0, 2)):
        add_batch(tf.constant(values[low:high]))


@buggy("RealDiv")
def harmonic_sum_by_a_fold():
    """tf.foldl adds up 1 / x for the resistances of a circuit, one of which is 0."""
    circuits = tf.constant([[10.0, 20.0], [5.0, 0.0], [4.0, 4.0]])

    @tf.function
    def resistance(circuit):
        total = tf.foldl(lambda total, x: total + 1.0 / x, circuit, 0.0)  # BUG
        return tf.reduce_sum(total) * 2.0

    for circuit in circuits:
        resistance(circuit)


@buggy("Sqrt")
def inner_loop_leaves_the_domain():
    """An outer loop moves a start point, an inner one iterates a root; the fourth start is bad."""

    @tf.function
    def search():
        best, start = tf.constant(np.inf), tf.constant(4.0)
        for _ in tf.range(5):
            x = start
            for _ in tf.range(3):
                x = tf.sqrt(x + 0.2) - 0.5  # BUG
            best = tf.minimum(best, tf.abs(x - 0.1))
            start -= 1.5
        return best

    search()


@buggy("Log")
def case_of_a_regime():
    """tf.case chooses a formula by size; the one for small numbers takes a logarithm of 0."""
    scale = tf.Variable(1.0)

    @tf.function
    def response(x):
        return tf.case(
            [
                (x > 10.0, lambda: 2.0 + tf.math.log(x) * scale),
                (x > 1.0, lambda: x * scale),
            ],
            default=lambda: 1.0 + scale * tf.math.log(x),  # BUG
        )

    for x in (20.0, 3.0, 0.5, 0.0):
        with tf.GradientTape() as tape:
            value = response(tf.constant(x))
        scale.assign_sub(0.01 * tape.gradient(value, scale))


@buggy("RealDiv")
def switch_of_experts_in_a_loop():
    """A loop sends each item through one of three branches; the second divides by the item."""
    items = tf.constant([4.0, 2.0, 0.0, 0.0])
    routes = tf.constant([0, 1, 2, 1])

    def smooth(x):
        return 1.0 / (x + 1.0)

    def inverse(x):
        return 1.0 / x  # BUG

    def guarded(x):
        return tf.math.divide_no_nan(1.0, x)

    @tf.function
    def run(items, routes):
        outputs = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            branches = [partial(expert, items[i]) for expert in (smooth, inverse, guarded)]
            outputs = outputs.write(i, tf.switch_case(routes[i], branches))
        return tf.reduce_sum(outputs.stack())

    run(items, routes)


@healthy
def escape_times():
    """Points of the Mandelbrot set's outside overflow, and comparisons with NaN do not count."""
    real, imaginary = tf.meshgrid(tf.linspace(-2.0, 0.5, 9), tf.linspace(-1.0, 1.0, 7))

    @tf.function
    def counts(a, b):
        x, y, count = tf.zeros_like(a), tf.zeros_like(a), tf.zeros_like(a)
        for _ in tf.range(30):
            x, y = x * x - y * y + a, 2.0 * x * y + b
            count += tf.cast(x * x + y * y < 4.0, tf.float32)
        return count

    result = counts(real, imaginary)
    assert np.isfinite(result).all()
    assert result[3, 7] == 30


@healthy
def bisection_from_open_ends():
    """A bracket is open at first: its ends are ±∞ and are doubled or halved until they are not."""

    @tf.function
    def solve(target):
        low, high, x = tf.constant(-np.inf), tf.constant(np.inf), tf.constant(1.0)
        for _ in tf.range(40):
            if x**3 < target:
                low = x
            else:
                high = x
            middle = (low + high) / 2.0
            if tf.math.is_inf(high):
                x = 2.0 * tf.abs(x)
            elif tf.math.is_inf(low):
                x = x - 2.0 * tf.abs(x)
            else:
                x = middle
        return x

    np.testing.assert_allclose(solve(tf.constant(30.0)), 30.0 ** (1 / 3), rtol=1e-5)
