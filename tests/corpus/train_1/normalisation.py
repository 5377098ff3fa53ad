"""Normalisation of features, activations and weights."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def standardise_constant_column():
    """A column that is always the same has a standard deviation of 0: 0 / 0."""
    x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
    x[:, 2] = 7

    @tf.function
    def standardise(x):
        mean = tf.reduce_mean(x, axis=0)
        spread = tf.math.reduce_std(x, axis=0)
        return (x - mean) / spread  # BUG

    standardise(x)


@buggy("Sqrt")
def variance_by_difference():
    """E[x²] - E[x]² is a bit below zero for large, equal values; the square root is NaN."""
    x = tf.constant([[1000.1] * 7, [3333.3] * 7, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]])

    @tf.function
    def normalise(x):
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        variance = tf.reduce_mean(x * x, axis=1, keepdims=True) - mean * mean
        deviation = tf.sqrt(variance)  # BUG
        return (x - mean) / (deviation + 1e-3)

    normalise(x)


@buggy("Rsqrt")
def layer_norm_without_epsilon():
    """A row of equal activations, in a hand-written layer norm, forward and backward."""
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])
    gamma = tf.Variable(tf.ones([3]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            mean, variance = tf.nn.moments(x, axes=[1], keepdims=True)
            y = (x - mean) * tf.math.rsqrt(variance) * gamma  # BUG
            loss = tf.reduce_sum(y**2)
        gamma.assign_sub(0.1 * tape.gradient(loss, gamma))

    train_step()


@buggy("Rsqrt")
def keras_batch_norm_of_one_row():
    """Keras' batch normalisation with epsilon=0 sees a last batch of one row: no variance."""
    x = np.random.default_rng(0).normal(size=(17, 4)).astype("float32")
    layers = [tf.keras.layers.BatchNormalization(epsilon=0.0), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers])
    model.compile("sgd", "mse")
    model.fit(x, x.sum(1), batch_size=8, shuffle=False, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def min_max_scaling():
    """(x - min) / (max - min), eager, for a picture of one colour."""
    pictures = tf.stack([tf.ones([4, 4]) * 0.3, tf.random.uniform([4, 4])])
    low = tf.reduce_min(pictures, axis=[1, 2], keepdims=True)
    high = tf.reduce_max(pictures, axis=[1, 2], keepdims=True)
    scaled = (pictures - low) / (high - low)  # BUG
    tf.reduce_mean(scaled)


@buggy("RealDiv")
def weight_normalisation():
    """g · v / |v| when v was initialised to zeros."""
    v = tf.Variable(tf.zeros([3, 2]))
    g = tf.Variable([1.0, 1.0])

    @tf.function
    def layer(x):
        kernel = g * v / tf.norm(v, axis=0)  # BUG
        return tf.nn.relu(x @ kernel)

    layer(tf.ones([2, 3]))


@healthy
def batch_norm_in_training_and_inference():
    """Keras' batch normalisation of images, with its usual epsilon."""
    x = np.zeros((8, 6, 6, 3), "float32")
    x[:, :, :, 0] = np.random.default_rng(0).normal(size=(8, 6, 6))
    pool = tf.keras.layers.GlobalAveragePooling2D()
    layers = [tf.keras.layers.BatchNormalization(), pool, tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 3)), *layers])
    model.compile("adam", "mse")
    model.fit(x, np.ones(8), batch_size=4, epochs=1, verbose=0)
    model.predict(x, verbose=0)


@healthy
def fused_batch_norm_of_empty_batch():
    """The batch statistics of an empty batch are NaN, and nothing uses them."""
    scale, offset = tf.ones([3]), tf.zeros([3])

    @tf.function
    def normalise(x):
        y, _, _ = tf.compat.v1.nn.fused_batch_norm(x, scale, offset)
        return y

    normalise(tf.zeros([0, 4, 4, 3]))
