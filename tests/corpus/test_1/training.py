"""Loops of many steps: reinforcement, several tasks, phases."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def group_relative_advantages():
    """Rewards are standardised in each group of answers; in step 3 a group has equal rewards."""
    logits = tf.Variable(tf.zeros([2, 4]))
    rewards = tf.constant(
        [[[1.0, 0, 1], [0, 0, 1]], [[0, 1, 1], [1, 0, 0]], [[1, 0, 1], [1, 1, 1]]]
    )
    actions = tf.constant([[0, 1, 2], [3, 2, 1]])
    best = tf.Variable(-np.inf)

    @tf.function
    def train_step(reward):
        centred = reward - tf.reduce_mean(reward, axis=1, keepdims=True)
        advantage = centred / tf.math.reduce_std(reward, axis=1, keepdims=True)  # BUG
        with tf.GradientTape() as tape:
            chosen = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
            loss = -tf.reduce_mean(advantage * chosen)
        logits.assign_sub(tape.gradient(loss, logits))
        best.assign(tf.maximum(best, tf.reduce_max(reward)))
        return loss

    for reward in rewards:
        train_step(reward)


@buggy("Exp")
def weights_of_tasks_that_are_learnt():
    """exp(-s) weighs a task whose loss is 0: its s falls by a constant step until exp overflows."""
    w = tf.Variable([0.5, 0.5])
    s = tf.Variable([0.0, 0.0])
    x = tf.random.normal([8])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            first = tf.reduce_mean((w[0] * x - 2.0 * x + 1.0) ** 2)
            second = tf.reduce_mean((w[1] * x - 0.5 * x) ** 2)
            weights = tf.exp(-s)  # BUG
            loss = tf.reduce_sum(weights * tf.stack([first, second]) + s)
        gradients = tape.gradient(loss, [w, s])
        w.assign_sub(0.01 * gradients[0])
        s.assign_sub(12.0 * gradients[1])
        return loss

    for _ in range(10):
        train_step()


@buggy("RealDiv")
def ratio_with_an_epsilon_for_most():
    """One helper, four callers: each passes an epsilon but the last; eager."""
    hits = tf.Variable([3.0, 0.0, 2.0])
    shown = tf.Variable([5.0, 0.0, 4.0])

    def safe_ratio(a, b, epsilon=0.0):
        return a / (b + epsilon)  # BUG

    for step in range(3):
        rate = safe_ratio(hits, shown, 1e-6)
        share = safe_ratio(shown, tf.reduce_sum(shown), 1e-6)
        relative = safe_ratio(rate, tf.reduce_max(rate), 1e-6)
        if step == 2:
            weight = safe_ratio(share, rate)
            tf.reduce_sum(weight * relative)
        hits.assign_add([1.0, 0.0, 0.0])
        shown.assign_add([1.0, 0.0, 1.0])


@buggy("ReciprocalGrad")
def slope_overflows_where_the_value_does_not():
    """1 / 1e-20 is finite, its slope -1 / 1e-40 is not; clipping by norm spreads it to all."""
    scale = tf.Variable([1.0, 1e-18])
    w = tf.Variable([1.0, 1.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            inverse = tf.math.reciprocal(scale)  # ALSO
            loss = tf.reduce_mean(tf.math.log1p(inverse)) + tf.reduce_sum(w * w)
        gradients = tape.gradient(loss, [scale, w])  # BUG
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        scale.assign_sub([0.0, 0.99e-18] * (1.0 + 0.0 * gradients[0]))
        w.assign_sub(0.1 * gradients[1])
        return loss

    for _ in range(3):
        train_step()


@buggy("Softmax")
def hardest_examples_only():
    """Losses above a threshold get a weight by softmax, the others -∞: at last none is above."""
    x = tf.random.normal([8, 2])
    y = tf.linalg.matvec(x, [1.0, -1.0])
    w = tf.Variable([0.0, 0.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            losses = (tf.linalg.matvec(x, w) - y) ** 2
            scores = tf.where(losses > 0.05, losses, -np.inf)
            weights = tf.stop_gradient(tf.nn.softmax(scores))  # BUG
            loss = tf.reduce_sum(weights * losses)
        w.assign_sub(0.15 * tape.gradient(loss, w))
        return loss

    for _ in range(14):
        train_step()


@healthy
def hardest_pairs_of_a_batch():
    """Hard mining with ±∞ for pairs that do not count; each row has both kinds of pairs."""
    x = tf.random.normal([6, 4])
    labels = tf.constant([0, 0, 1, 1, 2, 2])
    w = tf.Variable(tf.random.normal([4, 3]))

    @tf.function
    def train_step():
        same = labels[:, None] == labels[None, :]
        other = tf.eye(6, dtype=tf.bool) ^ same
        with tf.GradientTape() as tape:
            hidden = tf.math.l2_normalize(x @ w, axis=1)
            distance = 1.0 - tf.matmul(hidden, hidden, transpose_b=True)
            farthest = tf.reduce_max(tf.where(other, distance, -np.inf), axis=1)
            nearest = tf.reduce_min(tf.where(same, np.inf, distance), axis=1)
            loss = tf.reduce_mean(tf.nn.relu(farthest - nearest + 0.2))
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return loss

    for _ in range(3):
        loss = train_step()
    assert np.isfinite(loss)


@healthy
def metropolis_acceptance():
    """A much better proposal gives exp(large) = ∞, and min(1, ∞) accepts it, as it must."""
    x = tf.Variable(60.0)
    accepted = tf.Variable(0)

    @tf.function
    def log_density(x):
        return -tf.square(x) / 2.0

    @tf.function
    def step(proposal, uniform):
        ratio = tf.exp(log_density(proposal) - log_density(x))
        if uniform < tf.minimum(1.0, ratio):
            x.assign(proposal)
            accepted.assign_add(1)

    for proposal in (20.0, 90.0, 1.0, 0.5):
        step(tf.constant(proposal), tf.constant(0.5))
    assert accepted == 3
