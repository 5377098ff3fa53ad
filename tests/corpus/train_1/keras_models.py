"""Keras models, layers, metrics and train steps."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def custom_layer_with_log():
    """A layer takes the logarithm of ReLU outputs; the functional API and fit."""

    class LogFeatures(tf.keras.layers.Layer):
        def call(self, x):
            return tf.math.log(x)  # BUG

    inputs = tf.keras.Input((4,))
    hidden = tf.keras.layers.Dense(8, "relu")(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(LogFeatures()(hidden)))
    model.compile("adam", "mse")
    x = np.random.default_rng(0).normal(size=(16, 4)).astype("float32")
    model.fit(x, x.sum(1), batch_size=8, epochs=1, verbose=0)


@buggy("Exp")
def variational_autoencoder():
    """exp of an unbounded log variance in train_step of a VAE whose data is not scaled."""

    class Autoencoder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = tf.keras.layers.Dense(4)
            self.decoder = tf.keras.layers.Dense(6)

        def train_step(self, x):
            with tf.GradientTape() as tape:
                mean, log_variance = tf.split(self.encoder(x), 2, axis=1)
                variance = tf.exp(log_variance)  # BUG
                z = mean + tf.sqrt(variance) * tf.random.normal(tf.shape(mean))
                divergence = tf.reduce_mean(variance + mean**2 - 1.0 - log_variance)
                loss = tf.reduce_mean((self.decoder(z) - x) ** 2) + divergence
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    x = np.random.default_rng(0).uniform(0, 1000, size=(16, 6)).astype("float32")
    model = Autoencoder()
    model.compile("adam")
    model.fit(x, batch_size=8, epochs=1, verbose=0)


@buggy("Log")
def generator_loss():
    """A GAN's discriminator is sure of itself: log(1 - D(fake)) is log(0)."""
    generator = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(4)])
    discriminator = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(
                1, "sigmoid", kernel_initializer="zeros", bias_initializer=lambda *_, **__: [30.0]
            ),
        ]
    )

    @tf.function
    def generator_step(noise):
        with tf.GradientTape() as tape:
            score = discriminator(generator(noise))
            loss = tf.reduce_mean(tf.math.log(1 - score))  # BUG
        return tape.gradient(loss, generator.trainable_variables)

    generator_step(tf.random.normal([4, 2]))


@buggy("RealDiv")
def metric_without_positives():
    """A custom metric divides by the number of positives, and a batch has none."""

    def recall(y_true, y_pred):
        hits = tf.reduce_sum(y_true * tf.round(y_pred))
        return hits / tf.reduce_sum(y_true)  # BUG

    x = np.random.default_rng(0).normal(size=(16, 2)).astype("float32")
    y = np.array([1.0] * 8 + [0.0] * 8, "float32")[:, None]
    layers = [tf.keras.layers.Dense(1, "sigmoid")]
    model = tf.keras.Sequential([tf.keras.Input((2,)), *layers])
    model.compile("sgd", "binary_crossentropy", metrics=[recall])
    model.fit(x, y, batch_size=8, shuffle=False, epochs=1, verbose=0)


@buggy("ReadVariableOp", "Const", "MatMul", kind="input")
def nan_in_an_initialiser():
    """A custom initialiser computes with numpy and gives NaN."""

    def scaled(shape, dtype=None):
        rng = np.random.default_rng(0)
        return np.sqrt(rng.normal(size=shape)).astype("float32")

    layer = tf.keras.layers.Dense(3, kernel_initializer=scaled)

    @tf.function
    def predict(x):
        return tf.nn.relu(layer(x))  # BUG

    predict(tf.ones([2, 4]))  # ALSO


@healthy
def image_classifier_in_fit():
    """Convolutions, dropout, pooling and batch normalisation."""
    x = np.random.default_rng(0).uniform(size=(16, 8, 8, 1)).astype("float32")
    y = np.arange(16) % 3
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(4, 3, activation="relu"),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3, "softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@healthy
def keras_losses_at_their_limits():
    """Ready-made losses clip what needs clipping."""
    zeros_and_ones = tf.constant([[0.0, 1.0], [1.0, 0.0]])
    losses = tf.keras.losses
    for loss in (
        losses.BinaryCrossentropy(),
        losses.CategoricalCrossentropy(),
        losses.KLDivergence(),
        losses.Poisson(),
        losses.MeanAbsolutePercentageError(),
        losses.CosineSimilarity(),
    ):
        loss(zeros_and_ones, 1 - zeros_and_ones)
