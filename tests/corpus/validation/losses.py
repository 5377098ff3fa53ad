"""Losses of particular trades."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def itakura_saito_divergence():
    """The ratio of a silent bin to its model is 0, and the divergence takes its logarithm."""
    rng = np.random.default_rng(0)
    spectrum = rng.gamma(1.0, 1.0, size=(6, 10)).astype("float32")
    spectrum[:, 0] = 0.0
    w = tf.Variable(rng.uniform(0.5, 1.0, size=(6, 2)).astype("float32"))
    h = tf.Variable(rng.uniform(0.5, 1.0, size=(2, 10)).astype("float32"))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            ratio = spectrum / (w @ h + 1e-6)
            loss = tf.reduce_mean(ratio - tf.math.log(ratio) - 1.0)  # BUG
        for variable, gradient in zip((w, h), tape.gradient(loss, [w, h]), strict=True):
            variable.assign(tf.maximum(variable - 0.01 * gradient, 1e-3))
        return loss

    for _ in range(2):
        train_step()


@buggy("Cosh")
def log_cosh_of_an_outlier():
    """log(cosh(error)) by hand: the hyperbolic cosine overflows for an outlier in batch 3."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(24, 2)).astype("float32")
    y = x.sum(1, keepdims=True)
    y[20] = 250.0

    def log_cosh(y_true, y_pred):
        return tf.reduce_mean(tf.math.log(tf.cosh(y_pred - y_true)))  # BUG

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", log_cosh, jit_compile=False)
    model.fit(x, y, batch_size=8, shuffle=False, epochs=1, verbose=0)


@buggy("Pow")
def tweedie_deviance():
    """A negative power of a premium that a ReLU has set to 0."""
    claims = tf.constant([0.0, 0.0, 120.0, 40.0])
    x = tf.constant([[1.0, 0.2], [1.0, -3.0], [1.0, 2.0], [1.0, 0.7]])
    w = tf.Variable([0.5, 1.0])

    @tf.function
    def deviance(power=1.5):
        premium = tf.nn.relu(tf.linalg.matvec(x, w))
        first = claims * tf.pow(premium, 1.0 - power) / (1.0 - power)  # BUG
        second = tf.pow(premium, 2.0 - power) / (2.0 - power)
        return tf.reduce_mean(second - first)

    with tf.GradientTape() as tape:
        loss = deviance()
    tape.gradient(loss, w)


@buggy("Exp")
def cox_partial_likelihood():
    """Risk scores of a survival model grow by training until their exp overflows."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 3)).astype("float32") * 8.0
    order = np.argsort(-x[:, 0])
    x = tf.constant(x[order])
    observed = tf.constant((np.arange(20) % 3 > 0).astype("float32"))
    w = tf.Variable([[0.01], [0.0], [0.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            risk = tf.squeeze(x @ w, axis=1)
            at_risk = tf.math.log(tf.cumsum(tf.exp(risk)))  # BUG
            loss = -tf.reduce_mean((risk - at_risk) * observed)
        w.assign_sub(4.0 * tape.gradient(loss, w))
        return loss

    for _ in range(8):
        train_step()


@buggy("RealDiv")
def ranking_gain_without_relevant_documents():
    """The gain of the best order is 0 for a query that nothing answers: 0 / 0."""
    relevance = tf.constant([[3.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 2.0, 1.0]])
    scores = tf.constant([[0.1, 0.7, 0.3, 0.2], [0.9, 0.1, 0.3, 0.4], [0.5, 0.2, 0.1, 0.9]])
    discounts = 1.0 / (tf.math.log(tf.range(2.0, 6.0)) / np.log(2.0))

    def gain(relevance):
        return tf.reduce_sum((2.0**relevance - 1.0) * discounts, axis=1)

    @tf.function
    def mean_gain(relevance, scores):
        ranked = tf.gather(relevance, tf.argsort(scores, direction="DESCENDING"), batch_dims=1)
        best = tf.sort(relevance, direction="DESCENDING")
        return tf.reduce_mean(gain(ranked) / gain(best))  # BUG

    mean_gain(relevance, scores)


@buggy("Pow")
def earth_movers_distance_of_equal_histograms():
    """The root of a mean that is 0 has an infinite slope when a prediction is perfect."""
    target = tf.constant([[0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.3, 0.4]])
    logits = tf.Variable([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.1]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            difference = tf.cumsum(target - tf.nn.softmax(logits), axis=1)
            squared = tf.reduce_mean(tf.abs(difference) ** 2, axis=1)
            loss = tf.reduce_mean(tf.pow(squared, 0.5))  # ALSO
        logits.assign_sub(tape.gradient(loss, logits))  # BUG
        return loss

    for _ in range(2):
        train_step()


@healthy
def temporal_classification_of_characters():
    """CTC works with logarithms of 0 throughout; loss and gradient are finite."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4, 12, 3)).astype("float32")
    labels = tf.constant([[1, 2, 0], [3, 3, 1], [2, 0, 0], [1, 3, 2]])
    dense = tf.keras.layers.Dense(5)
    dense.build((None, None, 3))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            losses = tf.nn.ctc_loss(
                labels,
                dense(x),
                label_length=[2, 3, 1, 3],
                logit_length=[12] * 4,
                logits_time_major=False,
                blank_index=0,
            )
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, dense.trainable_variables)
        dense.kernel.assign_sub(0.1 * gradients[0])
        return loss

    first = train_step()
    assert np.isfinite(first)
    assert train_step() < first


@healthy
def hazards_by_running_log_sum():
    """tf.math.cumulative_logsumexp and log_softmax of scores that are far apart."""
    risk = tf.Variable([900.0, -800.0, 300.0, 0.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            at_risk = tf.math.cumulative_logsumexp(risk)
            loss = tf.reduce_mean(at_risk - risk) - tf.reduce_mean(tf.nn.log_softmax(risk))
        gradient = tape.gradient(loss, risk)
        risk.assign_sub(gradient)
        return gradient

    assert np.isfinite(train_step()).all()
