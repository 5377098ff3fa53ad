"""Words, categories, segments and sums over many indices."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def inverse_document_frequency():
    """A word of the vocabulary that is in no document: documents / 0."""
    documents = tf.constant(["a good film", "a bad film", "good good"])
    vocabulary = ["a", "good", "bad", "film", "awful"]
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(5)), default_value=-1
    )

    @tf.function
    def weights(documents):
        words = table.lookup(tf.strings.split(documents).to_tensor())
        counts = tf.reduce_sum(tf.one_hot(words, 5), axis=1)
        present = tf.reduce_sum(tf.cast(counts > 0, tf.float32), axis=0)
        rarity = tf.math.log(tf.cast(tf.shape(documents)[0], tf.float32) / present)  # BUG
        return counts * rarity

    tf.reduce_sum(weights(documents))


@buggy("RealDiv")
def mean_target_of_a_category():
    """The mean target of each category, one of which has no row in the second batch."""
    categories = tf.constant([[0, 1, 2, 1], [0, 0, 2, 2], [2, 1, 0, 0]])
    targets = tf.random.uniform([3, 4])
    table = tf.Variable([0.5, 0.5, 0.5])

    @tf.function
    def update(categories, targets):
        sums = tf.math.unsorted_segment_sum(targets, categories, 3)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(targets), categories, 3)
        table.assign(0.9 * table + 0.1 * sums / counts)  # BUG
        return tf.gather(table, categories)

    for c, t in zip(categories, targets, strict=True):
        update(c, t)


@buggy("Einsum")
def third_order_interaction_of_timestamps():
    """Products of three features, and the features are times in microseconds."""
    x = tf.constant([[0.5, 1.2], [1.61e15, 1.62e15]])
    kernel = tf.Variable(tf.ones([2, 2, 2]))

    @tf.function
    def interaction(x):
        second = tf.einsum("bi,bj->bij", x, x)
        third = tf.einsum("bij,bk->bijk", second, x)  # BUG
        return tf.einsum("bijk,ijk->b", third, kernel)

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(interaction(x))
    tape.gradient(loss, kernel)


@healthy
def best_score_per_user():
    """tensor_scatter_nd_max into -∞; users without any score are left out at the end."""
    users, scores = tf.constant([[0], [2], [0], [3]]), tf.constant([0.2, -1.5, 0.9, 0.4])

    @tf.function
    def mean_best(users, scores):
        best = tf.tensor_scatter_nd_max(tf.fill([5], -np.inf), users, scores)
        seen = best > -np.inf
        total = tf.reduce_sum(tf.where(seen, best, 0.0))
        return total / tf.reduce_sum(tf.cast(seen, tf.float32))

    assert np.isfinite(mean_best(users, scores))
