"""Keras models, layers, metrics and train steps."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def layer_with_learnt_scale():
    """A layer divides by a scale that starts at zeros."""

    class Rescale(tf.keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="zeros")

        def call(self, x):
            return x / self.scale  # BUG

    x = np.random.default_rng(0).normal(size=(16, 4)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((4,)), Rescale(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, x.sum(1), batch_size=8, epochs=1, verbose=0)


@buggy("Log")
def mixture_density_network():
    """Far from all its centres, each density underflows to 0 and the log of their sum is -∞."""
    x = np.random.default_rng(0).normal(size=(16, 2)).astype("float32")
    y = np.full((16, 1), 40.0, "float32")

    def likelihood(y_true, parameters):
        centres, weights = tf.split(parameters, 2, axis=1)
        density = tf.exp(-0.5 * (y_true - centres) ** 2) * tf.nn.softmax(weights)
        return -tf.reduce_mean(tf.math.log(tf.reduce_sum(density, axis=1)))  # BUG

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(6)])
    model.compile("adam", likelihood)
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@buggy("Square")
def regulariser_overflows():
    """A custom weight penalty squares weights of an absurd initial scale."""

    def penalty(kernel):
        return 1e-3 * tf.reduce_sum(tf.square(kernel))  # BUG

    layer = tf.keras.layers.Dense(
        2, kernel_initializer=tf.keras.initializers.Constant(1e20), kernel_regularizer=penalty
    )
    model = tf.keras.Sequential([tf.keras.Input((3,)), layer])
    model.compile("sgd", loss=lambda y, p: tf.reduce_mean(p * 0.0))
    model.fit(np.ones((4, 3)), np.ones((4, 2)), batch_size=4, epochs=1, verbose=0)


@buggy("RealDiv")
def train_step_with_sample_weights():
    """A weighted loss divides by the sum of weights, which is 0 in one batch."""

    class Weighted(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1)

        def train_step(self, data):
            x, y, weights = data
            with tf.GradientTape() as tape:
                errors = tf.square(self.dense(x)[:, 0] - y) * weights
                loss = tf.reduce_sum(errors) / tf.reduce_sum(weights)  # BUG
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    x = np.random.default_rng(0).normal(size=(12, 2)).astype("float32")
    model = Weighted()
    model.compile("sgd")
    weights = np.array([1.0] * 4 + [0.0] * 4 + [1.0] * 4, "float32")
    model.fit(x, x.sum(1), sample_weight=weights, batch_size=4, shuffle=False, verbose=0)


@buggy("Sqrt")
def distance_layer():
    """Squared distances by |a|² + |b|² - 2ab come out a bit below zero."""

    class Distances(tf.keras.layers.Layer):
        def call(self, x):
            squares = tf.reduce_sum(x * x, axis=1)
            products = tf.matmul(x, x, transpose_b=True)
            squared = squares[:, None] + squares[None, :] - 2.0 * products
            return tf.sqrt(squared)  # BUG

    x = np.random.default_rng(0).normal(loc=50.0, size=(24, 16)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((16,)), Distances()])
    model.predict(x, batch_size=24, verbose=0)


@healthy
def text_classifier_in_fit():
    """Embedding, pooling over masked words, dropout, with validation data."""
    x = np.random.default_rng(0).integers(0, 30, size=(16, 5))
    y = (x.sum(1) > 70).astype("float32")
    model = tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            tf.keras.layers.Embedding(30, 4, mask_zero=True),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dropout(0.3),
            tf.keras.layers.Dense(1, "sigmoid"),
        ]
    )
    model.compile("adam", "binary_crossentropy", metrics=["AUC"])
    model.fit(x, y, batch_size=8, epochs=1, validation_split=0.25, verbose=0)


@healthy
def metrics_without_data():
    """Ready-made metrics of nothing are 0."""
    for metric in (
        tf.keras.metrics.Precision(),
        tf.keras.metrics.Recall(),
        tf.keras.metrics.MeanIoU(2),
        tf.keras.metrics.F1Score(),
    ):
        metric.update_state(tf.zeros([2, 1]), tf.zeros([2, 1]))
        metric.result()
