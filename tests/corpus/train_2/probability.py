"""Densities, policies and sampling."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def normalised_weights_of_particles():
    """All particles are far off: their likelihoods underflow and their sum is 0."""
    particles = tf.random.normal([16])

    @tf.function
    def weigh(observation):
        likelihood = tf.exp(-0.5 * (particles - observation) ** 2 / 0.1**2)
        return likelihood / tf.reduce_sum(likelihood)  # BUG

    weigh(tf.constant(0.2))
    weigh(tf.constant(30.0))


@buggy("Lgamma")
def beta_density():
    """A concentration from a ReLU is 0: the logarithm of the gamma function has a pole there."""
    layer = tf.keras.layers.Dense(2, "relu", kernel_initializer="zeros")

    @tf.function
    def log_density(x, target):
        a, b = tf.unstack(layer(x), axis=1)
        normaliser = tf.math.lgamma(a) - tf.math.lgamma(a + b)  # BUG
        return (a - 1) * tf.math.log(target) + (b - 1) * tf.math.log(1 - target) - normaliser

    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(log_density(tf.ones([4, 3]), tf.fill([4], 0.3)))
    tape.gradient(loss, layer.trainable_variables)


@buggy("Log")
def box_muller():
    """The radius sqrt(-2 · log(u)) with a u of 0."""
    u = tf.constant([0.5, 0.0, 0.9])
    v = tf.constant([0.1, 0.2, 0.3])
    radius = tf.sqrt(-2.0 * tf.math.log(u))  # BUG
    tf.reduce_mean(radius * tf.cos(2 * np.pi * v))


@buggy("Log")
def normalising_flow():
    """The log of a Jacobian whose scale went through 0 and below."""
    scale = tf.Variable([0.3, 0.05])

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            z = x * scale
            log_jacobian = tf.reduce_sum(tf.math.log(scale))  # BUG
            loss = tf.reduce_mean(tf.reduce_sum(0.5 * z**2, axis=1)) - 0.01 * log_jacobian
        scale.assign_sub(tape.gradient(loss, scale))

    for _ in range(3):
        train_step(tf.random.normal([8, 2]) * 2.0)


@healthy
def impossible_actions():
    """Impossible actions have logits of -∞; their probability is 0 and they are never drawn."""
    logits = tf.Variable(tf.random.normal([2, 4]))
    legal = tf.constant([[True, True, False, True], [True, False, False, False]])

    @tf.function
    def act():
        masked = tf.where(legal, logits, -np.inf)
        with tf.GradientTape() as tape:
            tape.watch(logits)
            probs = tf.nn.softmax(tf.where(legal, logits, -np.inf))
            loss = tf.reduce_sum(probs[:, 0])
        return tf.random.categorical(masked, 1), tape.gradient(loss, logits)

    act()
