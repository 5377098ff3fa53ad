"""Scripts without tf.function."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def k_means_with_an_empty_cluster():
    """No point is nearest to one of the centres: its new centre is 0 / 0."""
    points = tf.constant([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1]])
    centres = tf.Variable([[0.0, 0.0], [5.0, 5.0], [90.0, 90.0]])
    for _ in range(2):
        distances = tf.reduce_sum((points[:, None] - centres[None]) ** 2, axis=2)
        nearest = tf.one_hot(tf.argmin(distances, axis=1), 3)
        totals = tf.matmul(nearest, points, transpose_a=True)
        centres.assign(totals / tf.reduce_sum(nearest, axis=0)[:, None])  # BUG


@buggy("Cumprod")
def compound_growth():
    """A cumulated product of growth factors overflows."""
    factors = tf.fill([40], 12.0)
    worth = tf.math.cumprod(factors)  # BUG
    worth / tf.reduce_max(worth)


@healthy
def geometric_mean():
    """The geometric mean of values with a 0 among them is exp(-∞) = 0, rightly."""
    values = tf.constant([[2.0, 8.0, 4.0], [3.0, 0.0, 9.0]])
    tf.exp(tf.reduce_mean(tf.math.log(values), axis=1))


@buggy("RealDiv")
def variable_is_bad_since_the_last_step():
    """An inverse scale of 0 is stored in a variable at the end of a step and used in the next."""
    scale = tf.Variable([1.0, 1.0])
    peak = tf.Variable([0.0, 0.0])
    for signal in ([3.0, 0.0], [1.0, 2.0], [2.0, 2.0]):
        scaled = tf.constant(signal) * scale
        peak.assign(tf.maximum(peak, tf.abs(scaled)))
        scale.assign(1.0 / peak)  # BUG


@buggy("Exp")
def growth_curve_fit():
    """Plain gradient descent on the rate of an exponential growth goes too far."""
    t = tf.linspace(0.0, 10.0, 11)
    y = tf.exp(0.3 * t)
    rate = tf.Variable(0.1)
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.exp(rate * t) - y) ** 2)  # BUG
        rate.assign_sub(0.05 * tape.gradient(loss, rate))


@buggy("Sub")
def difference_of_infinities():
    """Two constant limits of +∞ are subtracted."""
    upper = tf.constant([1.0, np.inf, 3.0])
    lower = tf.constant([0.0, np.inf, 1.0])
    width = upper - lower  # BUG
    tf.reduce_sum(width)


@healthy
def divide_without_nan():
    """divide_no_nan, xlogy and xdivy at their zeros."""
    zeros = tf.zeros([3])
    tf.math.divide_no_nan(tf.constant([1.0, 0.0, 2.0]), zeros)
    tf.math.xlogy(zeros, zeros)
    tf.math.xdivy(zeros, zeros)


@healthy
def masked_minimum():
    """Masked positions are set to +∞ for a minimum."""
    x = tf.constant([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]])
    mask = tf.constant([[True, False, True], [True, True, True]])
    tf.reduce_min(tf.where(mask, x, float("inf")), axis=1)
