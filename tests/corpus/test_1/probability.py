"""Sampling, decisions and chains."""

from __future__ import annotations

import itertools

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def kumaraswamy_sampling():
    """The exponent 1 / b of a sample, where b is a softplus that has underflowed to 0."""
    raw = tf.Variable([[0.3, 0.5], [0.1, -120.0]])
    uniform = tf.random.uniform([4, 2], minval=0.1, maxval=0.9)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            a, b = tf.nn.softplus(raw[0]), tf.nn.softplus(raw[1])
            power = 1.0 / b  # BUG
            sample = tf.pow(1.0 - tf.pow(1.0 - uniform, power), 1.0 / a)
            loss = tf.reduce_mean((sample - 0.5) ** 2)
        raw.assign_sub(tape.gradient(loss, raw))
        return loss

    train_step()


@buggy("Reciprocal", "Log")
def tag_that_no_way_leads_to():
    """A tag cannot be reached: its log-sum-exp is rightly -∞, but its slope is 0 · 1 / 0."""
    transition = tf.constant([[0.0, -np.inf, 0.5], [0.2, 0.0, -np.inf], [-np.inf, 0.1, 0.0]])
    emissions = tf.Variable(tf.random.normal([3, 3]))
    sentences = tf.cast(
        [[[1, 1, 1], [1, 0, 1], [1, 1, 1]], [[1, 0, 0], [1, 0, 1], [1, 1, 1]]], tf.bool
    )

    @tf.function
    def train_step(allowed):
        with tf.GradientTape() as tape:
            scores = tf.where(allowed, emissions, -np.inf)
            message = scores[0]
            for t in range(1, 3):
                through = message[:, None] + transition
                message = tf.reduce_logsumexp(through, axis=0) + scores[t]  # BUG
            loss = -tf.reduce_logsumexp(message)
        emissions.assign_sub(0.1 * tape.gradient(loss, emissions))  # ALSO
        return loss

    for sentence in sentences:
        train_step(sentence)


@buggy("RealDiv")
def expected_improvement_at_a_known_point():
    """A Gaussian process is sure of points that it has seen: (mean - best) / 0."""
    best = tf.Variable(-np.inf)
    seen = tf.Variable(tf.zeros([5]))
    values = tf.constant([0.1, 0.6, 0.4, 0.9, 0.2])

    @tf.function
    def improvement():
        mean = tf.where(seen > 0, values, 0.5)
        deviation = 1.0 - seen
        z = (mean - best) / deviation  # BUG
        density = tf.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        share = 0.5 * (1.0 + tf.math.erf(z / np.sqrt(2.0)))
        return (mean - best) * share + deviation * density

    for point in (1, 3, 0):
        seen.scatter_nd_update([[point]], [1.0])
        best.assign(tf.maximum(best, values[point]))
        tf.argmax(improvement())


@buggy("Cholesky")
def covariance_that_is_not_positive():
    """A learnt covariance has a correlation above 1; its Cholesky factor is NaN."""
    x = tf.random.normal([8, 1]) + 0.1 * tf.random.normal([8, 2])
    log_scale = tf.Variable([0.0, 0.0])
    correlation = tf.Variable(0.5)

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            scale = tf.exp(log_scale)
            matrix = tf.stack([[1.0, correlation], [correlation, 1.0]])
            covariance = matrix * scale[:, None] * scale[None, :]
            factor = tf.linalg.cholesky(covariance)  # BUG
            white = tf.linalg.triangular_solve(factor, tf.transpose(x))
            loss = tf.reduce_mean(white**2) + tf.linalg.logdet(covariance)
        gradients = tape.gradient(loss, [log_scale, correlation])
        log_scale.assign_sub(0.1 * gradients[0])
        correlation.assign_sub(rate * gradients[1])
        return loss

    for rate in (0.01, 0.1, 1.0, 0.1):
        train_step(tf.constant(rate))


@buggy("Pow")
def return_to_go_with_inverse_discount():
    """Returns by a cumulated sum: rewards are divided by powers of the discount, 0.5 ** 200."""
    rewards = tf.random.uniform([200])
    steps = tf.range(200.0)

    @tf.function
    def returns(rewards):
        forward = tf.pow(0.5, steps)
        back = tf.pow(0.5, -steps)  # BUG
        return tf.cumsum(rewards * forward, reverse=True) * back

    baseline = tf.Variable(0.0)
    for _ in range(2):
        baseline.assign(0.9 * baseline + 0.1 * tf.reduce_mean(returns(rewards)))


@healthy
def counts_as_unnormalised_logits():
    """log(0) = -∞ is the right logit of a word that never follows; it is never drawn."""
    counts = tf.constant([[0.0, 3.0, 1.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])

    @tf.function
    def chain(word):
        words = tf.TensorArray(tf.int32, 8)
        for t in tf.range(8):
            logits = tf.math.log(tf.gather(counts, word))
            word = tf.random.categorical(logits[None, :], 1, dtype=tf.int32, seed=4)[0, 0]
            words = words.write(t, word)
        return words.stack()

    words = chain(tf.constant(0)).numpy()
    assert all(counts[a, b] > 0 for a, b in itertools.pairwise(words))


@healthy
def clipped_policy_ratio():
    """A policy's ratio is exp of a clipped difference; log probabilities of -∞ are masked."""
    allowed = tf.constant([[True, True, False], [True, False, True]])
    actions = tf.constant([1, 2])
    logits = tf.Variable([[3.0, -40.0, 9.0], [0.0, 5.0, -60.0]])
    old = tf.constant([-0.5, -1.5])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            log_p = tf.nn.log_softmax(tf.where(allowed, logits, -np.inf))
            chosen = tf.gather(log_p, actions, batch_dims=1)
            ratio = tf.exp(tf.clip_by_value(chosen - old, -20.0, 2.0))
            advantage = tf.constant([1.0, -0.5])
            loss = -tf.reduce_mean(
                tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 0.8, 1.2) * advantage)
            )
        gradient = tape.gradient(loss, logits)
        logits.assign_sub(gradient)
        return gradient

    assert np.isfinite(train_step()).all()
