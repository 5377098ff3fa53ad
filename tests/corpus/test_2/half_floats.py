"""Half precision: what fits into float32 and not into float16."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def exponential_layer_in_mixed_precision():
    """A rate is exp of a dense layer under mixed_float16: exp(12) is above 65504."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")

    class Rate(tf.keras.layers.Layer):
        def call(self, x):
            return tf.exp(x)  # BUG

    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    x[9] = 6.0
    inputs = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    outputs = tf.keras.layers.Dense(1, dtype="float32")(Rate()(hidden))
    model = tf.keras.Model(inputs, outputs)
    model.compile("sgd", "mae")
    model.predict(x, batch_size=8, verbose=0)


@buggy("Sum")
def brightness_summed_in_half():
    """The sum over a picture of 200 x 400 pixels in float16."""
    picture = tf.cast(tf.fill([200, 400, 1], 0.9), tf.float16)

    @tf.function
    def brightness(picture):
        total = tf.reduce_sum(picture)  # BUG
        return total / tf.cast(80.0, tf.float16)

    brightness(picture[:50])
    brightness(picture)


@buggy("Conv2D")
def convolution_of_raw_pixels():
    """Pixels up to 255 in a convolution over many channels, in float16 and eager."""
    pixels = tf.cast(tf.fill([1, 4, 4, 32], 250.0), tf.float16)
    kernel = tf.ones([3, 3, 32, 2], tf.float16)
    y = tf.nn.conv2d(pixels, kernel, 1, "SAME")  # BUG
    tf.nn.relu(y - tf.reduce_mean(y))


@buggy("RealDiv")
def adam_by_hand_in_half():
    """An epsilon of 1e-8 is 0 in float16, and a weight without a gradient gives 0 / 0."""
    w = tf.Variable(tf.ones([3], tf.float16))
    m = tf.Variable(tf.zeros([3], tf.float16))
    v = tf.Variable(tf.zeros([3], tf.float16))
    x = tf.constant([1.0, 0.0, 2.0], tf.float16)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w * x))
        g = tape.gradient(loss, w)
        m.assign(m * 0.9 + g * 0.1)
        v.assign(v * 0.99 + g * g * 0.01)
        w.assign_sub(tf.cast(0.01, tf.float16) * m / (tf.sqrt(v) + 1e-8))  # BUG

    step()


@buggy("Cast")
def learning_signal_cast_down():
    """Targets in cents are computed in float32 and cast to float16 for the loss."""
    prices = tf.constant([[12.5], [299.0], [1250.0]])
    w = tf.Variable([[1.0]], dtype=tf.float16)

    def cents(price):
        return price * 100.0

    @tf.function
    def step(price):
        target = tf.cast(cents(price), tf.float16)  # BUG
        with tf.GradientTape() as tape:
            out = tf.matmul(tf.cast(price, tf.float16), w)
            loss = tf.reduce_mean(tf.abs(out - target))
        w.assign_sub(tf.cast(1e-3, tf.float16) * tape.gradient(loss, w))

    step(prices)


@healthy
def small_values_in_bfloat16():
    """bfloat16 has the range of float32: 1e30 and 1e-30 are there, only coarse."""
    x = tf.cast(tf.constant([1e30, 1e-30, 3.0]), tf.bfloat16)

    @tf.function
    def spread(x):
        y = tf.cast(x, tf.float32)
        return tf.math.log(y) / tf.math.log(10.0)

    assert np.isfinite(spread(x)).all()


@healthy
def softmax_in_half_with_the_lowest_value():
    """A mask of the lowest float16 under mixed precision; nothing overflows."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    layer = tf.keras.layers.MultiHeadAttention(2, 4)
    x = tf.cast(tf.random.normal([2, 5, 8]), tf.float16)
    mask = tf.sequence_mask([3, 5], 5)[:, None, :]
    y = tf.function(layer)(x, x, attention_mask=mask)
    assert np.isfinite(tf.cast(y, tf.float32)).all()
