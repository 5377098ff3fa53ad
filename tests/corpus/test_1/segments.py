"""Products over segments, counts of words, sets."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("UnsortedSegmentProd")
def odds_multiplied_per_user():
    """The odds of all events of a user are multiplied; one user has many of them."""
    users = tf.constant([0] * 4 + [1] * 45 + [2] * 3)
    w = tf.Variable([1.5, 8.0, 2.0])

    @tf.function
    def score():
        odds = tf.gather(w, users)
        product = tf.math.unsorted_segment_prod(odds, users, 3)  # BUG
        return tf.reduce_mean(product / (1.0 + product))

    with tf.GradientTape() as tape:
        loss = score()
    w.assign_sub(tape.gradient(loss, w))


@buggy("RealDiv")
def word_that_never_comes_first():
    """Rows of a table of word pairs are normalised, and the last word has no successor."""
    text = tf.constant("the cat sat on the mat")

    @tf.function
    def surprise(text):
        words, ids = tf.unique(tf.strings.split(text))
        pairs = tf.stack([ids[:-1], ids[1:]], axis=1)
        size = tf.size(words)
        counts = tf.scatter_nd(pairs, tf.ones(tf.size(ids) - 1), [size, size])
        shares = counts / tf.reduce_sum(counts, axis=1, keepdims=True)  # BUG
        return tf.reduce_sum(shares * shares)

    surprise(text)


@buggy("Mul")
def maximum_of_an_empty_segment_is_scaled():
    """Temperatures per room in Celsius: a room without sensor has the lowest float, times 1.8."""
    rooms = tf.constant([0, 0, 1, 3])
    readings = tf.random.uniform([3, 4], 18.0, 24.0)

    @tf.function
    def warmest(reading):
        celsius = tf.math.segment_max(reading, rooms)
        sentinel = tf.math.unsorted_segment_max(reading, rooms, 4)
        fahrenheit = sentinel * 1.8 + 32.0  # BUG
        return tf.reduce_mean(fahrenheit) + tf.reduce_max(celsius)

    for reading in readings:
        warmest(reading)


@healthy
def labels_spread_over_a_graph():
    """Connected parts by the smallest label of the neighbours; ∞ where there is none."""
    senders = tf.constant([0, 1, 3, 1, 2, 4])
    receivers = tf.constant([1, 2, 4, 0, 1, 3])

    @tf.function
    def parts():
        labels = tf.range(6.0)
        for _ in tf.range(4):
            sent = tf.gather(labels, senders)
            received = tf.tensor_scatter_nd_min(tf.fill([6], np.inf), receivers[:, None], sent)
            labels = tf.minimum(labels, received)
        return labels

    np.testing.assert_allclose(parts(), [0, 0, 0, 3, 3, 5])
