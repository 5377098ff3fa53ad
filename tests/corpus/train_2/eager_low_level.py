"""Scripts without tf.function."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def page_rank_with_dangling_node():
    """A node without links divides its rank by 0 links."""
    links = tf.constant([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    rank = tf.fill([1, 3], 1 / 3)
    transition = links / tf.reduce_sum(links, axis=1, keepdims=True)  # BUG
    for _ in range(3):
        rank = 0.15 / 3 + 0.85 * rank @ transition


@buggy("Reciprocal")
def harmonic_mean():
    """The reciprocal of a speed of 0."""
    speeds = tf.constant([[30.0, 60.0], [0.0, 50.0]])
    slowness = tf.math.reciprocal(speeds)  # BUG
    mean = 1.0 / tf.reduce_mean(slowness, axis=1)
    tf.reduce_sum(mean * slowness[:, 0])


@buggy("Mul")
def product_of_likelihoods():
    """1 / p² of tiny probabilities: a product of large numbers overflows."""
    weights = tf.fill([3], 1e15)
    total = tf.constant(1.0)
    for w in weights:
        total = total * w * 1e3  # BUG
    tf.reduce_sum(weights / total)


@buggy("Digamma")
def gamma_distribution_fit():
    """Newton's steps for a gamma distribution's shape leave the positive numbers: a pole at 0."""
    shape = tf.Variable(2.0)
    for observed in (0.5, -9.0, 0.5):
        gradient = tf.math.digamma(shape) - observed  # BUG
        shape.assign(tf.maximum(shape - 0.5 * gradient, 0.0))


@buggy("Exp")
def log_add_exp_by_hand():
    """log(exp(a) + exp(b)) of scores in the hundreds."""
    a, b = tf.constant([1.0, 250.0]), tf.constant([2.0, 240.0])
    first, second = tf.exp(a), tf.exp(b)  # BUG
    tf.math.log(first + second) - a


@buggy("AddV2")
def opposite_infinities():
    """The bounds of an open interval are added up."""
    low = tf.constant([-np.inf, 0.0])
    high = tf.constant([np.inf, 1.0])
    middle = 0.5 * (low + high)  # BUG
    tf.reduce_max(middle)


@healthy
def comparison_with_infinity():
    """Bounds of ±∞ are only compared with."""
    x = tf.constant([1.0, -4.0, 8.0])
    low, high = tf.constant(-np.inf), tf.constant(np.inf)
    tf.reduce_all(tf.logical_and(x > low, x < high))
    tf.clip_by_value(x, low, high)


@healthy
def empty_tensors():
    """Sums, products and concatenations of nothing."""
    empty = tf.zeros([0, 3])
    tf.reduce_sum(empty, axis=0)
    tf.reduce_prod(empty, axis=0)
    tf.concat([empty, tf.ones([1, 3])], axis=0) * 2.0
    tf.nn.softmax(empty)
