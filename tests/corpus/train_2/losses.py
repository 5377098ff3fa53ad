"""Hand-written losses."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def kl_divergence():
    """p · log(p / q) with a p of 0 is 0 · log(0)."""
    p = tf.constant([[0.0, 0.4, 0.6], [0.1, 0.1, 0.8]])
    q = tf.nn.softmax(tf.random.normal([2, 3]))

    @tf.function
    def divergence(p, q):
        ratio = p / q
        return tf.reduce_sum(p * tf.math.log(ratio), axis=1)  # BUG

    tf.reduce_mean(divergence(p, q))


@buggy("Pow")
def focal_loss_gradient():
    """(1 - p) ** 0.5 has an infinite slope where p is 1; the forward pass is healthy."""
    logits = tf.Variable([[30.0], [0.5], [-1.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            p = tf.sigmoid(logits)
            weight = tf.pow(1 - p, 0.5)  # ALSO
            loss = -tf.reduce_mean(weight * tf.math.log(p + 1e-7))
        logits.assign_sub(0.1 * tape.gradient(loss, logits))  # BUG
        return loss

    train_step()


@buggy("Log")
def poisson_likelihood():
    """The rate comes from a ReLU and is 0 for some rows."""
    rng = np.random.default_rng(3)
    counts = rng.poisson(2, size=(32, 1)).astype("float32")
    x = rng.normal(size=(32, 4)).astype("float32")

    def poisson(y_true, rate):
        return tf.reduce_mean(rate - y_true * tf.math.log(rate))  # BUG

    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, "relu")])
    model.compile("adam", loss=poisson)
    model.fit(x, counts, batch_size=16, epochs=1, verbose=0)


@buggy("Lgamma")
def negative_binomial():
    """lgamma has a pole at 0, and a count of 0 with a dispersion of 0 gets there."""
    counts = tf.constant([0.0, 3.0, 1.0, 0.0])
    dispersion = tf.nn.relu(tf.constant([-1.0, 0.5, 2.0, 1.5]))
    combined = counts + dispersion
    a = tf.math.lgamma(combined)  # BUG
    tf.reduce_sum(a - tf.math.lgamma(counts + 1))


@buggy("RealDiv")
def cosine_distance():
    """A row of zeros has no direction: 0 / 0."""
    a = tf.constant([[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]])
    b = tf.Variable(tf.random.normal([3, 2]))

    @tf.function
    def loss():
        dot = tf.reduce_sum(a * b, axis=1)
        lengths = tf.norm(a, axis=1) * tf.norm(b, axis=1)
        return 1 - tf.reduce_mean(dot / lengths)  # BUG

    with tf.GradientTape() as tape:
        value = loss()
    tape.gradient(value, b)


@buggy("Exp")
def perplexity():
    """exp of a summed, not averaged, loss overflows."""
    logits = tf.random.normal([64, 20])
    labels = tf.range(64) % 20
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    tf.exp(tf.reduce_sum(losses))  # BUG


@buggy("Log")
def log_of_linear_output():
    """The model's last layer has no activation, so the logarithm meets negative numbers."""
    x = tf.random.normal([16, 3])
    layer = tf.keras.layers.Dense(1)

    @tf.function
    def nll(x):
        likelihood = layer(x)
        return -tf.reduce_mean(tf.math.log(likelihood))  # BUG

    with tf.GradientTape() as tape:
        loss = nll(x)
    tape.gradient(loss, layer.trainable_variables)


@healthy
def huber_with_large_errors():
    """Large, finite errors of either sign."""
    x = tf.random.normal([16, 3]) * 1e6

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            error = tf.abs(x)
            loss = tf.reduce_mean(tf.where(error < 1, 0.5 * tf.square(x), error - 0.5))
        return tape.gradient(loss, x)

    step(x)


@healthy
def clipped_cross_entropy():
    """The probabilities are clipped before the logarithm."""
    logits = tf.Variable(tf.random.normal([8, 4]) * 100)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            probs = tf.clip_by_value(tf.nn.softmax(logits), 1e-7, 1.0)
            loss = -tf.reduce_mean(tf.math.log(probs)[:, 0])
        return tape.gradient(loss, logits)

    step()
