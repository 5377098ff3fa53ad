"""Normalisation of features, activations and weights."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def advantages_of_one_step():
    """Advantages are standardised over a batch of one: (a - a) / 0."""
    returns = tf.constant([3.5])
    values = tf.constant([1.0])

    @tf.function
    def standardise(returns, values):
        advantages = returns - values
        centred = advantages - tf.reduce_mean(advantages)
        return centred / tf.math.reduce_std(advantages)  # BUG

    standardise(returns, values)


@buggy("Sqrt")
def running_variance_below_zero():
    """A running variance is updated with a momentum above 1 and becomes negative."""
    mean = tf.Variable([0.0, 0.0])
    variance = tf.Variable([1.0, 1.0])
    x = tf.random.normal([16, 2]) * [1.0, 3.0]

    @tf.function
    def step(x, momentum):
        batch_mean, batch_variance = tf.nn.moments(x, axes=[0])
        mean.assign(mean * momentum + batch_mean * (1 - momentum))
        variance.assign(variance * momentum + batch_variance * (1 - momentum))
        return (x - mean) / tf.sqrt(variance)  # BUG

    for _ in range(3):
        step(x, 1.2)


@buggy("Reciprocal")
def group_norm_by_hand():
    """The reciprocal of a group's deviation, for a group of dead units."""
    x = tf.nn.relu(tf.concat([tf.random.normal([4, 4]), -tf.ones([4, 4])], axis=1))

    class GroupNorm(tf.keras.layers.Layer):
        def call(self, inputs):
            groups = tf.reshape(inputs, [-1, 2, 4])
            mean, variance = tf.nn.moments(groups, axes=[2], keepdims=True)
            scale = tf.math.reciprocal(tf.sqrt(variance))  # BUG
            return tf.reshape((groups - mean) * scale, tf.shape(inputs))

    model = tf.keras.Sequential([tf.keras.Input((8,)), GroupNorm(), tf.keras.layers.Dense(1)])
    model(x)


@buggy("Square")
def root_mean_square_in_half_precision():
    """The squares of activations above 255 overflow float16."""
    x = tf.cast(tf.random.uniform([4, 8], 100.0, 400.0), tf.float16)

    @tf.function
    def normalise(x):
        scale = tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis=-1, keepdims=True))  # BUG
        return tf.nn.log_softmax(x * scale / scale)

    normalise(x)


@buggy("RealDiv")
def spectral_normalisation():
    """Power iteration on a kernel of zeros: the vector that it divides by its length is 0."""
    kernel = tf.Variable(tf.zeros([4, 3]))
    u = tf.Variable(tf.random.normal([1, 3]))

    @tf.function
    def normalised():
        v = tf.matmul(u, kernel, transpose_b=True)
        v = v / tf.norm(v)  # BUG
        sigma = tf.matmul(tf.matmul(v, kernel), u, transpose_b=True)
        return kernel / sigma

    normalised()


@buggy("RealDiv")
def frequency_weights():
    """Class weights of total / count for a class that is not in the data; in tf.data's map."""
    labels = tf.constant([0, 0, 1, 3, 1])

    def weigh(label):
        counts = tf.cast(tf.math.bincount(labels, minlength=4), tf.float32)
        weights = 5.0 / counts  # BUG
        return label, weights

    for _, weights in tf.data.Dataset.from_tensor_slices(labels).map(weigh):
        tf.reduce_max(weights)


@healthy
def keras_normalisation_layers():
    """Layer, group and unit normalisation of constant rows."""
    x = tf.concat([tf.ones([2, 8]), tf.zeros([2, 8])], axis=0)
    for layer in (
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.GroupNormalization(groups=2),
        tf.keras.layers.UnitNormalization(),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x))
        tape.gradient(loss, x)


@healthy
def adapted_normalisation_layer():
    """Keras' Normalization adapts to a constant column without trouble."""
    x = np.stack([np.arange(8.0), np.ones(8)], axis=1).astype("float32")
    layer = tf.keras.layers.Normalization()
    layer.adapt(x)
    tf.function(layer)(tf.constant(x))
