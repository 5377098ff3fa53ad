"""Updates: first and second order, by Keras and by hand."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def first_moment_without_decay():
    """beta_1 = 1 leaves 1 - beta_1 ** step = 0, which Keras' Adam divides by."""
    w = tf.Variable([1.0, -2.0, 3.0])
    optimizer = tf.keras.optimizers.Adam(0.01, beta_1=1.0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])  # BUG
        return loss

    for _ in range(3):
        train_step()


@buggy("Square")
def pixels_up_to_255():
    """Pictures are not scaled to [0, 1], and the rate is the usual 0.1: it diverges in fit."""
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 256, size=(48, 6, 6, 1)).astype("float32")
    targets = pictures.mean(axis=(1, 2)) / 255.0
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6, 6, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(4),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", jit_compile=False)
    model.fit(pictures, targets, batch_size=4, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def curvature_after_convergence():
    """A quasi-Newton method divides by (change of slope) · (step), both 0 once it is there."""
    matrix = tf.constant([[2.0, 0.0], [0.0, 2.0]])
    x = tf.Variable([3.0, -1.0])
    inverse = tf.Variable(tf.eye(2))

    def slope():
        with tf.GradientTape() as tape:
            value = 0.5 * tf.tensordot(x, tf.linalg.matvec(matrix, x), 1)
        return tape.gradient(value, x)

    @tf.function
    def iterate():
        before = slope()
        step = -tf.linalg.matvec(inverse, before)
        rate = -tf.tensordot(before, step, 1) / (
            tf.tensordot(step, tf.linalg.matvec(matrix, step), 1) + 1e-12
        )
        x.assign_add(rate * step)
        change = slope() - before
        rho = 1.0 / tf.tensordot(change, rate * step, 1)  # BUG
        left = tf.eye(2) - rho * rate * step[:, None] * change[None, :]
        outer = rho * rate**2 * step[:, None] * step[None, :]
        inverse.assign(left @ inverse @ tf.transpose(left) + outer)

    for _ in range(4):
        iterate()


@buggy("Exp")
def exponentiated_gradient():
    """Multiplicative weights: a rate that suits small losses overflows with the tenth one."""
    weights = tf.Variable(tf.fill([4], 0.25))
    losses = tf.random.uniform([12, 4]) * tf.concat([tf.ones([9, 1]), tf.fill([3, 1], 40.0)], 0)

    @tf.function
    def update(gains):
        grown = weights * tf.exp(5.0 * gains)  # BUG
        weights.assign(grown / tf.reduce_sum(grown))

    for gains in losses:
        update(gains)


@healthy
def sharpness_aware_steps():
    """Two gradients a step, one by a perturbation along the unit gradient, safely normalised."""
    x = tf.random.normal([16, 3])
    w = tf.Variable(tf.zeros([3, 1]))

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ w) ** 2)
        return tape.gradient(loss, w)

    @tf.function
    def train_step():
        first = slope()
        shift = 0.05 * tf.math.divide_no_nan(first, tf.norm(first))
        w.assign_add(shift)
        second = slope()
        w.assign_sub(shift + 0.1 * second)

    for _ in range(3):
        train_step()
    assert np.isfinite(w.numpy()).all()


@healthy
def bounds_that_are_open():
    """Weights are clipped into bounds of which some are ∞, after each step."""
    lower = tf.constant([0.0, -np.inf, -1.0])
    upper = tf.constant([np.inf, np.inf, 1.0])
    w = tf.Variable([1.0, 2.0, 0.0], constraint=lambda v: tf.clip_by_value(v, lower, upper))
    optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - [-3.0, 5.0, 4.0]) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        w.assign(w.constraint(w))

    for _ in range(3):
        train_step()
    np.testing.assert_allclose(w, [0.0, 5.0, 1.0])
