"""float16 and bfloat16."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Cast")
def cast_overflows():
    """Values above 65504 are cast to float16."""
    x = tf.constant([[1.0, 70000.0], [3e5, 2.0]])
    w = tf.Variable(tf.random.normal([2, 2]))

    @tf.function
    def layer(x):
        small = tf.cast(x, tf.float16)  # BUG
        return tf.matmul(small, tf.cast(w, tf.float16))

    layer(x)


@buggy("RealDiv")
def epsilon_underflows():
    """An epsilon of 1e-8 is 0 in float16, so it protects nothing."""
    x = tf.cast(tf.constant([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), tf.float16)

    @tf.function
    def unit(x):
        length = tf.sqrt(tf.reduce_sum(x * x, axis=1, keepdims=True))
        return x / (length + 1e-8)  # BUG

    unit(x)


@buggy("Mul")
def static_loss_scale():
    """A fixed loss scale of 2¹⁵ is too much for a loss of 3 in float16."""
    w = tf.Variable([[1.0], [2.0]])
    x = tf.constant([[1.0, 1.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cast(x, tf.float16) @ tf.cast(w, tf.float16))
            scaled = loss * tf.constant(2.0**15, tf.float16)  # BUG
        gradient = tape.gradient(scaled, w) / 2.0**15
        w.assign_sub(0.1 * gradient)
        return scaled

    train_step()


@buggy("Sum")
def long_sum():
    """A sum of 4096 values around 50 overflows float16."""
    x = tf.cast(tf.random.uniform([2, 4096], 40.0, 60.0), tf.float16)

    @tf.function
    def pool(x):
        total = tf.reduce_sum(x, axis=1)  # BUG
        return total / 4096

    pool(x)


@buggy("Exp")
def softmax_by_hand_in_keras():
    """exp overflows float16 above 11, in a layer under a mixed policy, in fit."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")

    class Weigh(tf.keras.layers.Layer):
        def call(self, x):
            e = tf.exp(x)  # BUG
            return x * e / tf.reduce_sum(e, axis=1, keepdims=True)

    x = np.random.default_rng(0).uniform(0, 16, size=(16, 4)).astype("float32")
    layers = [Weigh(), tf.keras.layers.Dense(1, dtype="float32")]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers])
    model.compile("sgd", "mse")
    model.fit(x, x.sum(1), batch_size=8, epochs=1, verbose=0)


@healthy
def mixed_precision_in_fit():
    """Keras' mixed policy on well-scaled data."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    layers = [tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1, dtype="float32")]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers])
    model.compile("adam", "mse")
    model.fit(x, x.sum(1), batch_size=16, epochs=1, verbose=0)


@healthy
def bfloat16_of_large_numbers():
    """bfloat16 has the range of float32."""
    x = tf.cast(tf.constant([[1e30, -1e30], [1.0, 0.0]]), tf.bfloat16)
    tf.function(lambda x: tf.nn.softmax(x * 2))(x)
