"""Densities, their parameters, and hidden states."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def hidden_markov_model_in_probability_space():
    """An observation that is next to impossible leaves a forward message of zeros: 0 / 0."""
    transition = tf.constant([[0.9, 0.1], [0.2, 0.8]])
    means = tf.Variable([0.0, 3.0])
    observations = tf.constant([0.1, 2.9, 3.2, 0.3, 45.0, 0.2])

    @tf.function
    def evidence():
        densities = tf.exp(-0.5 * tf.square(observations[:, None] - means)) / np.sqrt(2 * np.pi)

        def step(carried, density):
            message = tf.linalg.matvec(transition, carried[0], transpose_a=True) * density
            total = tf.reduce_sum(message)
            return message / total, total  # BUG

        _, totals = tf.scan(step, densities, (tf.constant([0.5, 0.5]), tf.constant(1.0)))
        return tf.reduce_sum(tf.math.log(totals))

    evidence()


@buggy("Digamma")
def evidence_without_the_prior_count():
    """A Dirichlet's parameters are ReLU outputs without the usual + 1: digamma has a pole at 0."""
    x = tf.random.normal([12, 3])
    labels = tf.one_hot(tf.range(12) % 3, 3)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(3, "relu")])
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            evidence = model(x) + 0.2 * labels
            total = tf.reduce_sum(evidence, axis=1, keepdims=True)
            expected = tf.math.digamma(total) - tf.math.digamma(evidence)  # BUG
            loss = tf.reduce_mean(tf.reduce_sum(labels * expected, axis=1))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    train_step()


@buggy("BesselI0")
def concentration_of_angles():
    """A von Mises density's normaliser overflows as the concentration is fitted."""
    angles = tf.constant([0.01, -0.02, 0.005, 0.0])
    log_concentration = tf.Variable(1.0)

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            concentration = tf.exp(log_concentration)
            normaliser = 2.0 * np.pi * tf.math.bessel_i0(concentration)  # BUG
            log_density = concentration * tf.cos(angles) - tf.math.log(normaliser)
            loss = -tf.reduce_mean(log_density)
        log_concentration.assign_sub(rate * tape.gradient(loss, log_concentration))
        return loss

    for _ in range(10):
        train_step(tf.constant(1.0))


@buggy("RealDiv")
def component_collapses_onto_a_point():
    """Expectation maximisation: a component is left with one point, and its variance is 0."""
    x = tf.constant([0.0, 0.4, 0.9, 1.3, 50.0])
    means, variances = tf.Variable([0.5, 40.0]), tf.Variable([1.0, 30.0])

    @tf.function
    def iterate():
        squared = tf.square(x[:, None] - means)
        scores = -0.5 * (squared / variances + tf.math.log(variances + 1e-12))  # BUG
        shares = tf.nn.softmax(scores, axis=1)
        counts = tf.reduce_sum(shares, axis=0)
        new = tf.reduce_sum(shares * x[:, None], axis=0) / counts
        variances.assign(tf.reduce_sum(shares * tf.square(x[:, None] - new), axis=0) / counts)
        means.assign(new)

    for _ in range(4):
        iterate()


@healthy
def hidden_markov_model_with_logarithms():
    """Start and transitions hold zeros, so their logarithms hold -∞; the evidence is finite."""
    transition = tf.math.log(tf.constant([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]]))
    start = tf.math.log(tf.constant([1.0, 0.0, 0.0]))
    means = tf.Variable([0.0, 1.0, 2.0])
    observations = tf.constant([0.1, 0.4, 1.2, 1.9, 2.2])

    @tf.function
    def evidence():
        density = -0.5 * tf.square(observations[:, None] - means)
        message = start + density[0]
        for t in tf.range(1, 5):
            message = tf.reduce_logsumexp(message[:, None] + transition, axis=0) + density[t]
        return tf.reduce_logsumexp(message)

    assert np.isfinite(evidence())


@healthy
def entropy_of_allowed_actions():
    """Logits of forbidden actions are -∞; p · log(p) is taken where p > 0 only."""
    logits = tf.Variable(tf.random.normal([5, 4]))
    allowed = tf.constant([[True, True, False, True]] * 3 + [[True, False, False, False]] * 2)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            log_p = tf.nn.log_softmax(tf.where(allowed, logits, -np.inf))
            log_p = tf.where(allowed, log_p, 0.0)
            p = tf.where(allowed, tf.exp(log_p), 0.0)
            entropy = -tf.reduce_sum(p * log_p, axis=1)
            loss = -tf.reduce_mean(entropy)
        gradient = tape.gradient(loss, logits)
        logits.assign_sub(gradient)
        return gradient

    assert np.isfinite(train_step()).all()
