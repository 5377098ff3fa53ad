"""Conditions, loops and functions that call functions."""

from __future__ import annotations

import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def log_in_a_branch():
    """The branch that is taken for cold inputs has a logarithm of 0."""

    @tf.function
    def response(x):
        if tf.reduce_sum(x) > 10:
            return tf.sqrt(x)
        return tf.math.log(x)  # BUG

    for x in ([4.0, 9.0], [1.0, 0.0]):
        response(tf.constant(x))


@buggy("Mul")
def factorial_overflows():
    """40! is above the largest float32."""

    @tf.function
    def factorial(n):
        result, i = tf.constant(1.0), tf.constant(1.0)
        while i <= n:
            result = result * i  # BUG
            i += 1.0
        return 1.0 / result - result

    factorial(tf.constant(40.0))


@buggy("RealDiv")
def newton_iteration():
    """Newton's method starts where the derivative is 0."""

    def body(x, step):
        value, slope = x**3 - 2.0 * x + 2.0, 3.0 * x**2
        return x - value / slope, step + 1  # BUG

    @tf.function
    def solve(x):
        return tf.while_loop(lambda x, step: step < 4, body, [x, 0])

    solve(tf.constant(0.0))


@buggy("RealDiv")
def three_functions_deep():
    """The bad division is in the innermost of three tf.functions; the gradient is outside."""
    w = tf.Variable([2.0, 0.0])

    @tf.function
    def share(x):
        return x / w  # BUG

    @tf.function
    def layer(x):
        return tf.nn.relu(share(x) - 1.0)

    @tf.function
    def model(x):
        return tf.reduce_sum(layer(x) * 0.5)

    with tf.GradientTape() as tape:
        loss = model(tf.constant([1.0, 3.0]))
    tape.gradient(loss, w)


@buggy("Rsqrt")
def map_over_rows():
    """tf.map_fn runs a function that fails for one row."""
    rows = tf.constant([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])

    def unit(row):
        return row * tf.math.rsqrt(tf.reduce_sum(row * row))  # BUG

    tf.function(lambda rows: tf.map_fn(unit, rows))(rows)


@buggy("Log")
def argument_of_a_function():
    """One function makes the zeros, another one takes their logarithm, as in the tutorial."""

    @tf.function
    def model(x):
        return tf.nn.softmax(x * 300.0)

    @tf.function
    def loss(probs, labels):
        return -tf.reduce_mean(labels * tf.math.log(probs))  # BUG

    x = tf.Variable(tf.random.normal([4, 3]))
    for _ in range(2):
        with tf.GradientTape() as tape:
            value = loss(model(x), tf.one_hot([0, 1, 2, 0], 3))
        x.assign_sub(tape.gradient(value, x))


@healthy
def branch_that_would_divide_by_zero():
    """The bad branch is there, and not taken."""

    @tf.function
    def mean(total, count):
        if count > 0:
            return total / count
        return tf.zeros_like(total)

    for count in (0.0, 2.0):
        mean(tf.constant(5.0), tf.constant(count))


@healthy
def best_score_starts_at_infinity():
    """An eager early-stopping loop starts with a best loss of +∞."""
    best = tf.Variable(float("inf"))
    w = tf.Variable(1.0)
    for _ in range(4):
        loss = tf.square(w - 0.2)
        if loss < best:
            best.assign(loss)
        w.assign_sub(0.2 * (w - 0.2))
