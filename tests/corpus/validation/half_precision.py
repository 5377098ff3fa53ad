"""float16: what overflows, what underflows, and what is made to."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def gradient_underflows_before_it_is_scaled():
    """Gradients of 1e-9 are 0 in float16, and so is the largest of them, which divides them."""
    x = tf.cast(tf.random.normal([8, 3]), tf.float16)
    w = tf.Variable(tf.ones([3, 1], tf.float16))

    @tf.function
    def train_step(scale):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(x @ w)) * tf.cast(scale, tf.float16)
        gradient = tape.gradient(loss, w)
        step = gradient / tf.reduce_max(tf.abs(gradient))  # BUG
        w.assign_sub(tf.cast(0.01, tf.float16) * step)
        return loss

    for scale in (1.0, 1e-3, 1e-9):
        train_step(tf.constant(scale))


@buggy("RealDiv")
def bias_correction_in_half_precision():
    """0.9999 is 1 in float16, so the bias correction 1 - 0.9999 ** step is 0."""
    w = tf.Variable([1.0, -2.0, 0.5], dtype=tf.float16)
    average = tf.Variable(tf.zeros([3], tf.float16))
    decay = tf.constant(0.9999, tf.float16)

    @tf.function
    def average_weights(step):
        average.assign(decay * average + (1 - decay) * w)
        return average / (1 - decay ** tf.cast(step, tf.float16))  # BUG

    for step in range(1, 3):
        w.assign_sub(tf.cast([0.1, 0.1, 0.1], tf.float16))
        average_weights(tf.constant(step))


@buggy("Mul")
def box_areas_in_half_precision():
    """The area of a box in pixels, 640 by 400, is above 65504."""
    boxes = tf.constant([[10.0, 20.0, 50.0, 80.0], [0.0, 0.0, 640.0, 400.0]])
    others = tf.constant([[12.0, 25.0, 60.0, 70.0], [20.0, 10.0, 630.0, 380.0]])

    @tf.function
    def overlap(a, b):
        a, b = tf.cast(a, tf.float16), tf.cast(b, tf.float16)
        size = tf.minimum(a[:, 2:], b[:, 2:]) - tf.maximum(a[:, :2], b[:, :2])
        size = tf.cast(tf.maximum(size, 0), tf.float32)
        shared = size[:, 0] * size[:, 1]
        first = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])  # BUG
        second = tf.reduce_prod(tf.cast(b[:, 2:] - b[:, :2], tf.float32), axis=1)
        return shared / (tf.cast(first, tf.float32) + second - shared)

    overlap(boxes, others)


@healthy
def loss_scale_that_finds_its_value():
    """A loss scale starts too high: gradients are ∞, the step is skipped and the scale halved."""
    x = tf.cast(tf.random.normal([16, 4]), tf.float16)
    w = tf.Variable(tf.ones([4, 1]))
    scale, good = tf.Variable(2.0**16), tf.Variable(0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ tf.cast(w, tf.float16)) ** 2)
            scaled = loss * tf.cast(scale, tf.float16)
        gradient = tape.gradient(scaled, w) / scale
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.1 * gradient)
            good.assign_add(1)
        else:
            scale.assign(scale / 2.0)
        return loss

    for _ in range(12):
        train_step()
    assert good > 2
    assert np.isfinite(w.numpy()).all()


@healthy
def lowest_half_added_twice():
    """Two masks of the lowest float16 add up to -∞; the softmax of the rest is right."""

    class Attention(tf.keras.layers.Layer):
        def call(self, scores, causal, padding):
            lowest = tf.constant(np.finfo(np.float16).min, tf.float16)
            scores = scores + tf.where(causal, tf.zeros_like(lowest), lowest)
            scores = scores + tf.where(padding, tf.zeros_like(lowest), lowest)
            return tf.nn.softmax(scores)

    causal = tf.linalg.band_part(tf.ones([4, 4], tf.bool), -1, 0)
    padding = tf.constant([[True, True, False, False]])
    attention = Attention(dtype="mixed_float16")
    weights = tf.function(attention)(tf.random.normal([4, 4]), causal, padding)
    np.testing.assert_allclose(tf.reduce_sum(tf.cast(weights, tf.float32), 1), 1.0, atol=1e-2)
