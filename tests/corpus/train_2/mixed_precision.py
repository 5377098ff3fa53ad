"""float16 and bfloat16."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Cast")
def double_to_single():
    """A density in float64 is too large for float32."""
    log_density = tf.constant([1.0, 100.0, 3.0], tf.float64)

    @tf.function
    def weights(log_density):
        density = tf.cast(tf.exp(log_density), tf.float32)  # BUG
        return density / tf.reduce_sum(density)

    weights(log_density)


@buggy("Log")
def smallest_number_underflows():
    """log(p + 1e-8) in float16 is log(p + 0)."""
    logits = tf.cast(tf.constant([[30.0, 0.0], [1.0, 2.0]]), tf.float16)

    @tf.function
    def loss(logits):
        p = tf.nn.softmax(logits)
        return -tf.reduce_mean(tf.math.log(p + 1e-8))  # BUG

    loss(logits)


@buggy("Pow")
def cube_in_gelu():
    """The tanh form of GELU cubes its input in float16."""
    x = tf.cast(tf.constant([[0.5, -3.0, 60.0]]), tf.float16)
    w = tf.Variable(tf.ones([3, 1], tf.float16))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            z = x * tf.transpose(w)
            cube = tf.pow(z, 3)  # BUG
            y = 0.5 * z * (1 + tf.tanh(0.8 * (z + 0.045 * cube)))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, w)

    step()


@buggy("MatMul")
def wide_layer():
    """A product over 4096 inputs overflows float16."""
    x = tf.cast(tf.ones([2, 4096]), tf.float16)
    kernel = tf.cast(tf.ones([4096, 2]) * 20, tf.float16)

    @tf.function
    def layer(x):
        return tf.nn.relu(tf.matmul(x, kernel) - 1)  # BUG

    layer(x)


@buggy("RealDiv")
def adam_in_half_precision():
    """Weights in float16: the squared gradients and epsilon underflow, and Adam divides by 0."""
    w = tf.Variable(tf.ones([4], tf.float16))
    optimizer = tf.keras.optimizers.Adam(0.01, epsilon=1e-8)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * tf.constant([1e-3, 1.0, 2.0, 1e-4], tf.float16))
        gradient = tape.gradient(loss, w)
        optimizer.apply_gradients([(gradient, w)])  # BUG

    train_step()


@healthy
def loss_scaling_skips_a_step():
    """The dynamic loss scale starts too high; Keras sees ∞ in the gradients and skips the step."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    layers = [tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1, dtype="float32")]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers])
    inner = tf.keras.optimizers.SGD(0.01)
    optimizer = tf.keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**24)
    model.compile(optimizer, "mse")
    model.fit(x, x.sum(1), batch_size=8, epochs=2, verbose=0)


@healthy
def statistics_in_single_precision():
    """float16 activations, whose mean and variance are taken in float32."""
    x = tf.cast(tf.random.normal([4, 256]) * 200, tf.float16)

    @tf.function
    def normalise(x):
        rows = tf.cast(x, tf.float32)
        mean, variance = tf.nn.moments(rows, axes=[1], keepdims=True)
        return tf.cast((rows - mean) * tf.math.rsqrt(variance + 1e-6), tf.float16)

    normalise(x)
