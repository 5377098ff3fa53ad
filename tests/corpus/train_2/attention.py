"""Attention and its masks."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Sub")
def masked_softmax_by_hand():
    """A row that is all -∞ has a maximum of -∞, and -∞ - -∞ is NaN."""
    scores = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    mask = tf.constant([[True, True, False], [False, False, False]])

    @tf.function
    def masked_softmax(scores, mask):
        scores = tf.where(mask, scores, float("-inf"))
        shifted = scores - tf.reduce_max(scores, axis=1, keepdims=True)  # BUG
        e = tf.exp(shifted)
        return e / tf.reduce_sum(e, axis=1, keepdims=True)

    masked_softmax(scores, mask)


@buggy("RealDiv")
def scaled_by_depth_of_zero():
    """The depth of a head is computed with an integer division that gives 0."""
    x = tf.random.normal([1, 4, 6])
    heads = 8
    depth = 6 // heads

    @tf.function
    def attend(x):
        scores = tf.matmul(x, x, transpose_b=True)
        scores = scores / tf.sqrt(tf.cast(depth, tf.float32))  # BUG
        return tf.nn.softmax(scores) @ x

    attend(x)


@buggy("Einsum")
def half_precision_heads():
    """Query times key by einsum in float16, in a Keras layer under a mixed policy."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")

    class Heads(tf.keras.layers.Layer):
        def call(self, x):
            heads = tf.reshape(x * 100, [-1, 4, 2, 8])
            scores = tf.einsum("bqhd,bkhd->bhqk", heads, heads)  # BUG
            weights = tf.nn.softmax(scores)
            return tf.reshape(tf.einsum("bhqk,bkhd->bqhd", weights, heads), [-1, 4, 16])

    model = tf.keras.Sequential([tf.keras.Input((4, 16)), Heads()])
    model(tf.random.normal([2, 4, 16]))


@buggy("RealDiv")
def cosine_attention():
    """Keys are divided by their length, and the padding's is 0."""
    keys = tf.concat([tf.random.normal([1, 3, 4]), tf.zeros([1, 2, 4])], axis=1)
    queries = tf.random.normal([1, 2, 4])

    @tf.function
    def attend(queries, keys):
        unit_keys = keys / tf.norm(keys, axis=-1, keepdims=True)  # BUG
        unit_queries = queries / tf.norm(queries, axis=-1, keepdims=True)
        return tf.nn.softmax(10.0 * tf.matmul(unit_queries, unit_keys, transpose_b=True))

    attend(queries, keys)


@buggy("RealDiv")
def weights_renormalised_after_the_mask():
    """The mask is applied after the softmax; a row without keys is 0 / 0."""
    scores = tf.random.normal([3, 4])
    keep = tf.sequence_mask([4, 2, 0], 4, dtype=tf.float32)
    weights = tf.nn.softmax(scores) * keep
    weights = weights / tf.reduce_sum(weights, axis=1, keepdims=True)  # BUG
    weights @ tf.ones([4, 2])


@healthy
def relative_position_buckets():
    """T5's buckets take the logarithm of 0 in the branch that tf.where throws away."""
    distance = tf.abs(tf.range(6)[:, None] - tf.range(6)[None, :])

    @tf.function
    def buckets(distance):
        scaled = tf.math.log(tf.cast(distance, tf.float32) / 2.0) / 3.0
        far = 2.0 + scaled
        return tf.where(distance < 2, tf.cast(distance, tf.float32), far)

    buckets(distance)


@healthy
def padding_mask_of_minus_infinity():
    """Padding is masked with -∞ by tf.where, and each row has a key left."""
    table = tf.Variable(tf.random.normal([10, 4]))
    ids = tf.constant([[3, 4, 0, 0], [5, 0, 0, 0]])

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            x = tf.gather(table, ids)
            scores = tf.matmul(x, x, transpose_b=True)
            scores = tf.where((ids > 0)[:, None, :], scores, -np.inf)
            loss = tf.reduce_mean(tf.matmul(tf.nn.softmax(scores), x))
        return tape.gradient(loss, table)

    step(ids)
