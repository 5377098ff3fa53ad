"""Densities, policies and sampling."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def policy_gradient():
    """The probability of the action that was taken has become 0."""
    logits = tf.Variable([[0.0, 0.0], [150.0, 0.0]])

    @tf.function
    def train_step(actions, rewards):
        with tf.GradientTape() as tape:
            probs = tf.nn.softmax(logits)
            taken = tf.gather(probs, actions, batch_dims=1)
            loss = -tf.reduce_mean(tf.math.log(taken) * rewards)  # BUG
        logits.assign_sub(0.1 * tape.gradient(loss, logits))

    train_step(tf.constant([0, 1]), tf.constant([1.0, 2.0]))


@buggy("Exp")
def importance_ratio():
    """PPO's ratio of new and old probabilities, after a step that was too large."""
    old = tf.constant([-0.5, -120.0, -1.0])
    mean = tf.Variable(1.0)

    @tf.function
    def surrogate(advantages):
        new = -0.5 * tf.square(mean * tf.constant([0.1, 0.2, 0.3]))
        ratio = tf.exp(new - old)  # BUG
        return -tf.reduce_mean(ratio * advantages)

    with tf.GradientTape() as tape:
        loss = surrogate(tf.constant([1.0, 0.0, -1.0]))
    mean.assign_sub(0.1 * tape.gradient(loss, mean))


@buggy("Log")
def log_of_survival():
    """log(1 - cdf) far in the tail, where the cdf is rounded to 1."""
    x = tf.constant([0.5, 3.0, 9.0])

    @tf.function
    def log_survival(x):
        cdf = 0.5 * (1.0 + tf.math.erf(x / 2.0**0.5))
        return tf.math.log(1.0 - cdf)  # BUG

    log_survival(x)


@buggy("RealDiv")
def precision_of_a_dead_unit():
    """A variance from a ReLU is 0, and its inverse weighs an average; eager."""
    variances = tf.nn.relu(tf.constant([0.5, -0.2, 1.0]))
    precision = 1.0 / variances  # BUG
    weights = precision / tf.reduce_sum(precision)
    tf.reduce_sum(weights * [1.0, 2.0, 3.0])


@healthy
def beam_search_scores():
    """All beams but the first start with -∞."""
    table = tf.math.log_softmax(tf.random.normal([5, 5]))

    @tf.function
    def search():
        scores = tf.constant([0.0, -np.inf, -np.inf])
        words = tf.zeros([3], tf.int32)
        for _ in tf.range(3):
            candidates = tf.reshape(scores[:, None] + tf.gather(table, words), [-1])
            scores, best = tf.math.top_k(candidates, 3)
            words = best % 5
        return scores

    search()
