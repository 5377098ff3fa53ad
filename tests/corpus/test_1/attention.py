"""Attention without softmax, with caches, experts and pointers."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def logarithmic_distance_bias():
    """A bias of -2 · log(distance): a word's distance to itself is 0, and its bias +∞."""
    query, key = tf.unstack(tf.random.normal([2, 5, 4]))
    positions = tf.range(5.0)
    strength = tf.Variable(-2.0)

    @tf.function
    def weights():
        distance = tf.abs(positions[:, None] - positions[None, :])
        bias = strength * tf.math.log(distance)  # BUG
        return tf.nn.softmax(tf.matmul(query, key, transpose_b=True) + bias)

    tf.reduce_mean(weights())


@buggy("LogSoftmax")
def tour_that_has_visited_everything():
    """Visited cities have a score of -∞; the loop goes on for one step when none is left."""
    cities = tf.random.uniform([4, 2])
    w = tf.Variable(tf.eye(2))

    @tf.function
    def train_step(steps):
        with tf.GradientTape() as tape:
            visited, current = tf.zeros([4], tf.bool), tf.constant([0.5, 0.5])
            total = tf.constant(0.0)
            for _ in tf.range(steps):
                scores = -tf.reduce_sum(((cities - current) @ w) ** 2, axis=1)
                scores = tf.where(visited, -np.inf, scores)
                log_p = tf.nn.log_softmax(scores)  # BUG
                chosen = tf.argmax(log_p, output_type=tf.int32)
                total += log_p[chosen]
                visited = visited | (tf.range(4) == chosen)
                current = cities[chosen]
        w.assign_add(0.01 * tape.gradient(total, w))
        return total

    for steps in (2, 3, 5):
        train_step(tf.constant(steps))


@buggy("Fill", "AssignVariableOp", "ReadVariableOp", kind="input")
def cache_filled_with_nan():
    """Rows of a cache that are not written yet are NaN; their weight is 0, and 0 · NaN is NaN."""
    x = tf.random.normal([3, 4])
    cache = tf.Variable(tf.fill([6, 4], np.nan))  # BUG

    @tf.function
    def decode(position, query):
        cache.scatter_nd_update([[position]], query[None, :])
        known = tf.range(6) <= position
        keys = tf.where(known[:, None], cache, tf.zeros_like(cache))
        scores = tf.where(known, tf.linalg.matvec(keys, query), -1e9)
        weights = tf.nn.softmax(scores)
        return tf.linalg.matvec(cache, weights, transpose_a=True)  # ALSO

    for position in range(3):
        decode(tf.constant(position), x[position])


@buggy("RealDiv")
def expert_without_tokens():
    """The mean of the words that are sent to an expert; in the second batch one gets none."""
    batches = tf.random.normal([3, 6, 4])
    router = tf.Variable(tf.random.normal([4, 3]))
    bias = tf.Variable([0.0, 0.0, 0.0])

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            logits = x @ router + bias
            sent = tf.one_hot(tf.argmax(logits, axis=1), 3)
            centres = tf.matmul(sent, x, transpose_a=True) / tf.reduce_sum(sent, 0)[:, None]  # BUG
            importance = tf.reduce_mean(tf.nn.softmax(logits), axis=0)
            spread = tf.reduce_sum(importance**2)
            loss = tf.reduce_mean((sent @ centres - x) ** 2) + spread
        router.assign_sub(0.1 * tape.gradient(loss, router))
        bias.assign_add([0.0, 5.0, -50.0])
        return loss

    for batch in batches:
        train_step(batch)


@buggy("RealDiv")
def decay_that_is_divided_out():
    """Linear attention in parallel: keys are divided by a product of decays that underflows."""
    length = 96
    query, key, value = tf.unstack(tf.random.normal([3, length, 4]))
    raw = tf.Variable(tf.random.normal([length, 4]) - 1.0)

    @tf.function
    def attend():
        decay = tf.math.cumprod(tf.sigmoid(raw), axis=0)
        scaled = key / decay  # BUG
        state = tf.cumsum(scaled[:, :, None] * value[:, None, :], axis=0)
        return tf.einsum("td,tde->te", query * decay, state)

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(attend() ** 2)
    tape.gradient(loss, raw)


@healthy
def window_of_neighbours():
    """A band of scores is kept, all others are -∞, in two heads and a trained layer."""
    x = tf.random.normal([2, 8, 4])
    kernel = tf.Variable(tf.random.normal([3, 2, 4, 2]))
    band = tf.linalg.band_part(tf.ones([8, 8]), 1, 1)
    bias = tf.math.log(band)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            query, key, value = tf.unstack(tf.einsum("btd,nhdk->nbhtk", x, kernel))
            scores = tf.einsum("bhtk,bhsk->bhts", query, key) + bias
            output = tf.einsum("bhts,bhsk->bhtk", tf.nn.softmax(scores), value)
            loss = tf.reduce_mean(output**2)
        gradient = tape.gradient(loss, kernel)
        kernel.assign_sub(0.1 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()


@healthy
def streaming_log_sum():
    """log-sum-exp over chunks starts at -∞ and is merged by maximum and log1p."""
    chunks = tf.random.normal([5, 16]) * 200.0

    @tf.function
    def total(chunks):
        running = tf.constant(-np.inf)
        for chunk in chunks:
            new = tf.reduce_logsumexp(chunk)
            high, low = tf.maximum(running, new), tf.minimum(running, new)
            running = high + tf.math.log1p(tf.exp(low - high))
        return running

    np.testing.assert_allclose(total(chunks), tf.reduce_logsumexp(chunks), rtol=1e-5)
