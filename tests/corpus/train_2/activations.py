"""Hand-written activations and their inverses."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def tanh_by_exponentials():
    """(exp(x) - exp(-x)) / (exp(x) + exp(-x)) for large x."""
    x = tf.random.normal([8, 8]) * 80

    def tanh(x):
        up, down = tf.exp(x), tf.exp(-x)  # BUG
        return (up - down) / (up + down)

    tf.reduce_mean(tf.function(tanh)(x))


@buggy("Exp")
def naive_log_sum_exp():
    """log(sum(exp(x))) without taking the maximum out."""
    scores = tf.constant(np.linspace(-20, 120, 12).reshape(3, 4).astype("float32"))
    total = tf.math.log(tf.reduce_sum(tf.exp(scores), axis=1))  # BUG
    scores - total[:, None]


@buggy("Log")
def inverse_softplus():
    """log(expm1(x)) of a scale of 0, when a parameter is set from a given standard deviation."""
    scales = tf.constant([0.5, 0.0, 2.0])
    raw = tf.Variable(tf.zeros([3]))

    @tf.function
    def initialise(scales):
        raw.assign(tf.math.log(tf.math.expm1(scales)))  # BUG

    initialise(scales)
    tf.nn.softplus(raw)


@buggy("Exp")
def selu_with_where():
    """The branch for negative numbers is computed for all: exp overflows, its gradient is NaN."""
    x = tf.Variable([[-1.0, 2.0, 130.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            negative = 1.67 * (tf.exp(x) - 1.0)  # BUG
            y = tf.where(x > 0, 1.05 * x, negative)
            loss = tf.reduce_sum(y)
        x.assign_sub(tape.gradient(loss, x))
        return loss

    step()


@buggy("RealDiv")
def capsule_squash():
    """The squash of a zero vector divides 0 by a length of 0."""
    capsules = tf.nn.relu(tf.constant([[[1.0, 2.0], [-1.0, -3.0]], [[0.5, 0.1], [2.0, 2.0]]]))

    @tf.function
    def squash(s):
        length = tf.sqrt(tf.reduce_sum(s * s, axis=-1, keepdims=True))
        unit = s / length  # BUG
        return unit * length**2 / (1 + length**2)

    squash(capsules)


@buggy("Asin")
def asin_of_rounded_product():
    """The product of a unit vector with itself is a bit more than 1, and asin is NaN there."""
    directions = tf.constant(np.random.default_rng(0).normal(size=(50, 3)).astype("float32"))
    units = directions / tf.norm(directions, axis=1, keepdims=True)
    angles = tf.asin(tf.reduce_sum(units * units, axis=1))  # BUG
    tf.reduce_sum(angles)


@buggy("Log")
def squashed_gaussian():
    """log(1 - tanh(u)²), the correction of a squashed action, where tanh is rounded to 1."""
    u = tf.Variable([[0.1, 11.0], [-0.4, 0.9]])

    @tf.function
    def log_probability():
        a = tf.tanh(u)
        density = -0.5 * u**2
        correction = tf.math.log(1 - a**2)  # BUG
        return tf.reduce_sum(density - correction)

    with tf.GradientTape() as tape:
        value = log_probability()
    tape.gradient(value, u)


@healthy
def softmax_of_far_logits():
    """Probabilities of exactly 0 and 1, which nobody takes the logarithm of."""
    x = tf.Variable([[1e4, -1e4, 0.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.nn.softmax(x) - [[0.0, 1.0, 0.0]]))
        return tape.gradient(loss, x)

    step()


@healthy
def log_sigmoid_of_far_logits():
    """The ready-made log sigmoid has no overflow."""
    x = tf.constant([[-500.0, 500.0]])
    tf.function(tf.math.log_sigmoid)(x)
    tf.reduce_logsumexp(x * 10, axis=1)
