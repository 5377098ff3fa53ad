"""Embedding tables and hand-written metrics."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def co_occurrence_counts():
    """GloVe's target is the logarithm of a count, and words that never met have 0."""
    counts = tf.constant([[4.0, 0.0], [1.0, 9.0]])
    words = tf.Variable(tf.random.normal([2, 3]))
    contexts = tf.Variable(tf.random.normal([2, 3]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            target = tf.math.log(counts)  # BUG
            weight = tf.minimum(1.0, counts / 10.0)
            error = tf.matmul(words, contexts, transpose_b=True) - target
            loss = tf.reduce_sum(weight * error**2)
        gradients = tape.gradient(loss, [words, contexts])
        words.assign_sub(0.1 * gradients[0])
        contexts.assign_sub(0.1 * gradients[1])

    train_step()


@buggy("RealDiv")
def bag_of_words():
    """The mean of the vectors of a document in which all words are unknown."""
    layer = tf.keras.layers.Embedding(10, 4)

    @tf.function
    def encode(ids):
        known = tf.cast(ids > 0, tf.float32)[:, :, None]
        return tf.reduce_sum(layer(ids) * known, axis=1) / tf.reduce_sum(known, axis=1)  # BUG

    encode(tf.constant([[3, 4, 0], [0, 0, 0]]))


@buggy("RealDiv")
def coefficient_of_determination():
    """R² divides by the variance of targets that are all the same."""
    y = tf.fill([8], 3.0)
    predicted = y + tf.random.normal([8])
    residual = tf.reduce_sum((y - predicted) ** 2)
    r2 = 1.0 - residual / tf.reduce_sum((y - tf.reduce_mean(y)) ** 2)  # BUG
    tf.print(r2, output_stream="file:///dev/null")


@buggy("Max")
def hardest_negative():
    """A batch without negatives: the maximum of nothing is -∞, and it goes into the loss."""
    w = tf.Variable([[1.0], [2.0]])
    x = tf.random.normal([4, 2])

    @tf.function
    def train_step(negative):
        with tf.GradientTape() as tape:
            scores = tf.squeeze(x @ w, 1)
            hardest = tf.reduce_max(tf.boolean_mask(scores, negative))  # BUG
            loss = tf.square(hardest - tf.reduce_mean(scores))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    train_step(tf.constant([True, False, True, False]))
    train_step(tf.constant([False] * 4))


@healthy
def intersection_over_union():
    """divide_no_nan for classes that are in neither picture."""
    truth = tf.one_hot([0, 1, 1], 4)
    predicted = tf.one_hot([0, 1, 0], 4)

    @tf.function
    def iou(a, b):
        overlap = tf.reduce_sum(a * b, axis=0)
        return tf.math.divide_no_nan(overlap, tf.reduce_sum(tf.maximum(a, b), axis=0))

    iou(truth, predicted)


@healthy
def top_scores_of_masked_items():
    """Items that were seen are set to -∞ before the best ones are taken."""
    items = tf.Variable(tf.random.normal([6, 3]))

    @tf.function
    def recommend(user, seen):
        scores = tf.linalg.matvec(items, user)
        scores = tf.tensor_scatter_nd_update(scores, seen[:, None], tf.fill([2], -np.inf))
        return tf.math.top_k(scores, 3)

    recommend(tf.random.normal([3]), tf.constant([1, 4]))
