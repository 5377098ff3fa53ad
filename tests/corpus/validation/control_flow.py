"""Loops, conditions, recursion, and functions that are called from several places."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def continued_fraction():
    """A recursion unrolls 1 / (a + ...): one of the inner denominators is 0."""
    coefficients = tf.constant([[3.0, 1.0], [2.0, 1.0], [1.0, -1.0], [1.0, 1.0]])

    def evaluate(depth):
        if depth == 3:
            return coefficients[depth]
        return coefficients[depth] + 1.0 / evaluate(depth + 1)  # BUG

    @tf.function
    def value():
        return tf.reduce_sum(1.0 / (1.0 + 1.0 / evaluate(0)))

    value()


@buggy("RealDiv")
def secant_method_after_convergence():
    """The last two iterates are equal, so the secant has no slope: 0 / 0."""

    def f(x):
        return x * x - 2.0

    @tf.function
    def solve(before, x):
        for _ in tf.range(12):
            slope = (f(x) - f(before)) / (x - before)  # BUG
            before, x = x, x - f(x) / slope
        return x

    solve(tf.constant(1.0), tf.constant(2.0))


@buggy("Log")
def one_function_two_callers():
    """A compiled helper takes logarithms for two callers: one adds 1 before, the other does not."""
    counts = tf.constant([[3.0, 0.0, 1.0], [2.0, 5.0, 1.0]])

    @tf.function
    def to_logarithm(x):
        return tf.math.log(x)  # BUG

    @tf.function
    def smoothed(x):
        return tf.reduce_mean(to_logarithm(x + 1.0), axis=1)

    @tf.function
    def raw(x):
        return tf.reduce_mean(to_logarithm(x), axis=1)

    @tf.function
    def features(x):
        return tf.stack([smoothed(x), smoothed(x * 2.0), raw(x)], axis=1)

    tf.reduce_sum(features(counts))


@buggy("RealDiv")
def running_mean_over_a_data_set():
    """A loop over a data set in a graph divides by the number of batches before counting one."""
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant([4.0, 6.0, 5.0, 9.0])).batch(2)

    @tf.function
    def largest_deviation(dataset):
        largest, total, count = tf.constant(-np.inf), tf.constant(0.0), tf.constant(0.0)
        for batch in dataset:
            mean = total / count  # BUG
            largest = tf.maximum(largest, tf.reduce_max(batch - mean))
            total += tf.reduce_mean(batch)
            count += 1.0
        return largest

    largest_deviation(dataset)


@buggy("Log")
def branch_that_is_taken_late():
    """In a loop over steps, a condition switches to a logarithmic rule once it is too late."""
    w = tf.Variable([2.0, 1.0, 0.5])

    @tf.function
    def anneal(w, steps):
        value = tf.zeros_like(w)
        for step in tf.range(steps):
            if step < 4:
                value = value + tf.math.log1p(w)
            else:
                value = value + tf.math.log(w)  # BUG
                w = tf.nn.relu(w - 0.25)
        return tf.reduce_sum(value)

    for steps in (3, 5, 9):
        with tf.GradientTape() as tape:
            loss = anneal(w, tf.constant(steps))
        tape.gradient(loss, w)


@healthy
def dynamic_time_warping():
    """The border of the cost table is ∞, and minima never take it."""
    a, b = tf.constant([0.0, 1.0, 2.0, 1.0]), tf.constant([0.0, 0.0, 1.0, 2.0, 1.0])

    @tf.function
    def distance(a, b):
        row = tf.concat([[0.0], tf.fill([5], np.inf)], axis=0)
        for i in tf.range(4):
            costs = tf.abs(a[i] - b)
            left = tf.constant(np.inf)
            new = tf.TensorArray(tf.float32, 6).write(0, np.inf)
            for j in tf.range(5):
                left = costs[j] + tf.minimum(left, tf.minimum(row[j], row[j + 1]))
                new = new.write(j + 1, left)
            row = new.stack()
        return row[-1]

    assert distance(a, b) == 0.0


@healthy
def rows_that_failed_are_dropped():
    """A function answers NaN for what it cannot solve, and its caller drops those rows."""
    coefficients = tf.constant([[1.0, -3.0, 2.0], [1.0, 0.0, 1.0], [1.0, 2.0, 1.0]])

    def root(row):
        a, b, c = tf.unstack(row)
        inside = b * b - 4.0 * a * c
        return tf.cond(
            inside >= 0.0, lambda: (-b + tf.sqrt(inside)) / (2.0 * a), lambda: tf.constant(np.nan)
        )

    @tf.function
    def mean_root(coefficients):
        roots = tf.map_fn(root, coefficients)
        return tf.reduce_mean(tf.boolean_mask(roots, tf.math.is_finite(roots)))

    assert mean_root(coefficients) == 0.5


@healthy
def running_best_in_a_scan():
    """The best score so far starts at -∞ in tf.scan, and its first improvement is ∞ but capped."""
    scores = tf.constant([0.3, 0.1, 0.7, 0.5])

    @tf.function
    def improvements(scores):
        best = tf.scan(tf.maximum, scores, initializer=tf.constant(-np.inf))
        before = tf.concat([[-np.inf], best[:-1]], axis=0)
        return tf.minimum(best - before, 1.0)

    np.testing.assert_allclose(improvements(scores), [1.0, 0.0, 0.4, 0.0], atol=1e-6)
