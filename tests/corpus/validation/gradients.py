"""Ways to differentiate: recomputation, Jacobians, loops, slopes of one's own."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("SqrtGrad")
def recomputed_block():
    """A block is recomputed in the backward pass, where the root of a dead unit has no slope."""
    x = tf.constant([[1.0, -2.0], [0.5, 1.0]])
    w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])

    @tf.recompute_grad
    def block(x):
        return tf.sqrt(tf.nn.relu(x))  # ALSO

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(x @ w))
        w.assign_sub(0.1 * tape.gradient(loss, w))  # BUG
        return loss

    train_step()


@buggy("RealDiv")
def jacobian_of_unit_vectors():
    """tape.batch_jacobian of x / |x|, with a vector of zeros among them."""
    x = tf.Variable([[3.0, 4.0], [0.0, 0.0]])

    @tf.function
    def jacobian():
        with tf.GradientTape() as tape:
            squared = tf.reduce_sum(x * x, axis=1, keepdims=True)
            unit = x / tf.sqrt(squared)  # BUG
        return tape.batch_jacobian(unit, x)

    jacobian()


@buggy("SqrtGrad")
def gradient_through_map_fn():
    """The backward loop of tf.map_fn meets a row whose length is 0."""
    x = tf.Variable([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            lengths = tf.map_fn(lambda row: tf.norm(row) + 1.0, x)  # ALSO
            loss = tf.reduce_sum(tf.math.log(lengths))
        x.assign_sub(0.1 * tape.gradient(loss, x))  # BUG
        return loss

    train_step()


@buggy("RealDiv")
def straight_through_with_a_slope():
    """A custom gradient divides by 1 - y², and a unit saturates while it is trained."""

    @tf.custom_gradient
    def arctanh_target(y):
        def gradient(upstream):
            return upstream / (1.0 - tf.square(y))  # BUG

        return tf.clip_by_value(y, -0.99, 0.99), gradient

    w = tf.Variable([0.5, 1.0])

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(arctanh_target(tf.tanh(w)) * [0.0, -1.0])
        w.assign_sub(rate * tape.gradient(loss, w))
        return loss

    for rate in (0.1, 1.0, 8.0, 1.0):
        train_step(tf.constant(rate))


@healthy
def recomputed_block_away_from_zero():
    """The same kind of block, with softplus in place of the ReLU; second derivatives, too."""
    x = tf.constant([[1.0, -2.0], [0.5, 1.0]])
    w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])

    @tf.recompute_grad
    def block(x):
        return tf.sqrt(tf.nn.softplus(x))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(x @ w))
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()


@healthy
def safe_angle_gradients():
    """acos and sqrt at their ends, both kept inside by where before and after."""
    cosine = tf.Variable([1.0, 0.5, -1.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            inside = tf.abs(cosine) < 1.0
            safe = tf.where(inside, cosine, 0.0)
            angle = tf.where(inside, tf.acos(safe), np.pi * tf.cast(cosine < 0.0, tf.float32))
            loss = tf.reduce_sum(angle)
        gradient = tape.gradient(loss, cosine)
        cosine.assign_sub(0.01 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()
