"""Hand-written losses."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def cross_entropy_of_softmax():
    """The softmax of far-apart logits holds zeros, and their logarithm is -∞."""
    logits = tf.constant(np.random.default_rng(0).normal(scale=60, size=(16, 5)).astype("float32"))
    labels = tf.one_hot(tf.range(16) % 5, 5)

    @tf.function
    def loss(logits, labels):
        probs = tf.nn.softmax(logits)
        return -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(probs), axis=1))  # BUG

    loss(logits, labels)


@buggy("Log")
def binary_cross_entropy_of_sigmoid():
    """A sigmoid of 1 exactly makes log(1 - p) infinite; all eager."""
    x = tf.random.normal([32, 4])
    y = tf.cast(x[:, 0] > 0, tf.float32)
    w = tf.Variable(tf.ones([4, 1]) * 12)
    for _ in range(3):
        p = tf.squeeze(tf.sigmoid(x @ w), 1)
        first = y * tf.math.log(tf.maximum(p, 1e-7))
        second = (1 - y) * tf.math.log(1 - p)  # BUG
        loss = -tf.reduce_mean(first + second)
        w.assign_sub(0.1 * tf.ones_like(w) * loss)


@buggy("RealDiv")
def percentage_error():
    """The mean absolute percentage error divides by targets that are 0."""
    x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
    y = np.maximum(x.sum(1, keepdims=True), 0)

    def percentage(y_true, y_pred):
        return tf.reduce_mean(tf.abs((y_true - y_pred) / y_true))  # BUG

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", percentage)
    model.fit(x, y, batch_size=32, epochs=1, verbose=0)


@buggy("Log")
def entropy_bonus():
    """p · log(p) of a one-hot policy is 0 · -∞."""
    logits = tf.Variable([[0.0, 200.0, -50.0], [1.0, 2.0, 3.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(logits)
            log_p = tf.math.log(p)  # BUG
            loss = tf.reduce_sum(p * log_p)
        return tape.gradient(loss, logits)

    step()


@buggy("Exp")
def gaussian_likelihood():
    """A network that gives the log of the variance makes exp(-log variance) overflow."""
    x = tf.random.normal([16, 2])
    y = tf.random.normal([16])
    heads = tf.Variable([[1.0, -40.0], [0.5, -30.0]])

    @tf.function
    def likelihood(x, y):
        mean, log_variance = tf.unstack(x @ heads * 3.0, axis=1)
        precision = tf.exp(-log_variance)  # BUG
        return tf.reduce_mean(log_variance + tf.square(y - mean) * precision)

    with tf.GradientTape() as tape:
        loss = likelihood(x, y)
    tape.gradient(loss, heads)


@buggy("RealDiv")
def dice_of_empty_mask():
    """The Dice score of an empty mask against an empty prediction is 0 / 0."""
    truth = tf.constant(np.stack([np.eye(8), np.zeros((8, 8))]).astype("float32"))
    predicted = tf.round(truth * 0.9)

    @tf.function
    def dice(a, b):
        overlap = tf.reduce_sum(a * b, axis=[1, 2])
        total = tf.reduce_sum(a, axis=[1, 2]) + tf.reduce_sum(b, axis=[1, 2])
        return 1 - tf.reduce_mean(2 * overlap / total)  # BUG

    dice(truth, predicted)


@buggy("Log1p")
def squared_log_error():
    """log1p of a prediction below -1 is NaN."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(64, 4)).astype("float32")
    y = np.abs(x.sum(1)).astype("float32")
    w = tf.Variable(tf.ones([4]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            predicted = tf.linalg.matvec(x, w)
            error = tf.math.log1p(predicted) - tf.math.log1p(y)  # BUG
            loss = tf.reduce_mean(tf.square(error))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    for _ in range(2):
        train_step()


@healthy
def cross_entropy_with_extreme_logits():
    """The ready-made cross entropy takes any logits."""
    logits = tf.Variable([[1e5, -1e5, 0.0], [-3e4, 9e6, 2.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            losses = tf.nn.softmax_cross_entropy_with_logits(tf.eye(3)[:2], logits)
            loss = tf.reduce_mean(losses)
        return tape.gradient(loss, logits)

    step()


@healthy
def entropy_by_xlogy():
    """Zero probabilities are fine for xlogy."""
    p = tf.constant([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    entropy = tf.function(lambda p: -tf.reduce_sum(tf.math.xlogy(p, p), axis=1))
    entropy(p)
