"""Embedding tables and hand-written metrics."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def unit_embeddings():
    """The row of the padding word is zeros and is divided by its length."""
    table = tf.Variable(np.vstack([np.zeros((1, 4)), np.ones((5, 4))]).astype("float32"))

    @tf.function
    def similarity(ids):
        vectors = tf.gather(table, ids)
        units = vectors / tf.norm(vectors, axis=-1, keepdims=True)  # BUG
        return tf.matmul(units, units, transpose_b=True)

    similarity(tf.constant([[1, 2, 0], [3, 0, 0]]))


@buggy("ResourceGather", "ReadVariableOp", "GatherV2", kind="input")
def table_with_a_bad_row():
    """Pretrained vectors hold a row of NaN, and only the third batch has that word."""
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    vectors[6] = np.nan
    table = tf.Variable(vectors)
    w = tf.Variable(tf.ones([3, 1]))

    @tf.function
    def train_step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.embedding_lookup(table, ids) @ w)  # BUG
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for ids in ([0, 1], [2, 3], [5, 6], [0, 2]):
        train_step(tf.constant(ids))


@buggy("Mean")
def mean_of_selected_errors():
    """The mean over the rows of one class, in a batch without it."""
    errors = tf.random.uniform([6])
    classes = tf.constant([0, 1, 0, 1, 0, 0])

    @tf.function
    def mean_error(kind):
        return tf.reduce_mean(tf.boolean_mask(errors, classes == kind))  # BUG

    for kind in range(3):
        mean_error(tf.constant(kind))


@buggy("RealDiv")
def f1_score():
    """Precision and recall are both 0, so their harmonic mean is 0 / 0."""
    truth = tf.constant([1.0, 0.0, 1.0, 0.0])
    predicted = tf.constant([0.0, 1.0, 0.0, 1.0])

    @tf.function
    def f1(truth, predicted):
        hits = tf.reduce_sum(truth * predicted)
        precision = hits / tf.reduce_sum(predicted)
        recall = hits / tf.reduce_sum(truth)
        return 2 * precision * recall / (precision + recall)  # BUG

    f1(truth, predicted)


@healthy
def embedding_with_sparse_gradients():
    """Some words twice, some never; Adam."""
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Embedding(20, 4), tf.keras.layers.Flatten()]
    )
    model.add(tf.keras.layers.Dense(1))
    model.compile("adam", "mse")
    model.fit(np.array([[1, 1, 2], [3, 1, 0]] * 4), np.ones(8), batch_size=4, verbose=0)


@healthy
def maximum_of_an_empty_selection():
    """The maximum of nothing is -∞, and a floor of 0 replaces it."""
    x = tf.constant([1.0, 2.0])
    peak = tf.function(lambda x: tf.maximum(tf.reduce_max(tf.boolean_mask(x, x > 5.0)), 0.0))
    peak(x)
