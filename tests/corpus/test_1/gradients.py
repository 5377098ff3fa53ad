"""Backward passes of ops that look harmless."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def clipped_after_the_exponential():
    """min(exp(x), 1e4) is finite; its gradient is 0 · ∞ where exp overflows, in a later step."""
    x = tf.constant([[1.0, 2.0], [3.0, 1.0]])
    w = tf.Variable([[2.0], [3.0]])

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            speed = tf.minimum(tf.exp(x @ w), 1e4)  # BUG
            loss = -tf.reduce_mean(speed)
        w.assign_sub(rate * tape.gradient(loss, w))
        return loss

    for rate in (1e-6, 1e-2, 1e-2):
        train_step(tf.constant(rate))


@buggy("RsqrtGrad")
def slope_of_an_inverse_root():
    """1 / sqrt(1e-30) is 1e15, and its slope is half the cube of that: 1e45."""
    variance = tf.Variable([1.0, 1e-30])
    x = tf.constant([0.5, 1e-3])
    with tf.GradientTape() as tape:
        z = x * tf.math.rsqrt(variance)  # ALSO
        loss = tf.reduce_mean(z)
    gradient = tape.gradient(loss, variance)  # BUG
    variance.assign_sub(1e-3 * gradient)


@buggy("SqrtGrad")
def gradient_of_a_recursive_block():
    """A residual block is called three times; the last one sees units that are all dead."""
    w = [tf.Variable(tf.eye(2)), tf.Variable(tf.eye(2)), tf.Variable(-tf.eye(2))]
    x = tf.constant([[1.0, 2.0], [0.5, 1.0]])

    def block(x, kernel):
        hidden = tf.nn.relu(x @ kernel)
        size = tf.sqrt(tf.reduce_sum(hidden, axis=1, keepdims=True))  # ALSO
        return hidden / (size + 1.0) + 0.1 * size

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            hidden = x
            for kernel in w:
                hidden = block(hidden, kernel)
            loss = tf.reduce_mean(hidden)
        for kernel, gradient in zip(w, tape.gradient(loss, w), strict=True):  # BUG
            kernel.assign_sub(0.1 * gradient)
        return loss

    train_step()


@buggy("SqrtGrad")
def eager_distance_between_views():
    """An eager loop trains two views to be equal; once they are, their distance has no slope."""
    a, b = tf.Variable([1.0, 0.0]), tf.constant([0.0, 0.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            distance = tf.norm(a - b)  # ALSO
            loss = tf.square(distance) + 0.1 * distance
        gradient = tape.gradient(loss, a)  # BUG
        a.assign(tf.maximum(a - gradient, 0.0))


@healthy
def maximum_after_the_root():
    """The slope of sqrt at 0 is multiplied by a gradient of exactly 0, and TensorFlow gives 0."""
    x = tf.Variable([0.0, 4.0, 0.0, 1.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.maximum(tf.sqrt(x), 0.5))
        gradient = tape.gradient(loss, x)
        x.assign_sub(0.1 * gradient)
        return gradient

    np.testing.assert_allclose(train_step(), [0.0, 0.25, 0.0, 0.5])


@healthy
def gradient_penalty_with_epsilon():
    """Second derivatives of a penalty on the length of a gradient that is 0 for one input."""
    x = tf.constant([[1.0, -1.0], [0.0, 0.0]])
    w = tf.Variable([[0.5, -0.5], [0.25, 1.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = tf.reduce_sum(tf.nn.softplus(x @ w) * x)
            slope = inner.gradient(score, x)
            length = tf.sqrt(tf.reduce_sum(slope**2, axis=1) + 1e-12)
            loss = tf.reduce_mean((length - 1.0) ** 2)
        gradient = outer.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()
