"""Samplers, scores of samples, adversaries."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def sampler_divides_by_the_last_noise_level():
    """Noise levels end at 0; the slope (x - denoised) / level is taken at each of them."""
    levels = tf.concat([tf.exp(tf.linspace(2.0, -3.0, 6)), [0.0]], axis=0)
    model = tf.keras.layers.Dense(2, use_bias=False)
    model.build((None, 2))

    @tf.function
    def sample(x):
        for i in tf.range(6):
            denoised = model(x)
            slope = (x - denoised) / levels[i]
            x = x + slope * (levels[i + 1] - levels[i])
            if i > 3:
                correction = (x - model(x)) / levels[i + 1]  # BUG
                x = x + 0.5 * (correction - slope) * (levels[i + 1] - levels[i])
        return x

    sample(tf.random.normal([3, 2]) * 7.0)


@buggy("MatrixSquareRoot")
def distance_of_feature_distributions():
    """The root of a product of covariances that have no full rank is NaN: too few pictures."""
    real, fake = tf.unstack(tf.random.normal([2, 3, 6]))
    real, fake = tf.nn.relu(real) * [1.0, 1, 1, 1, 1, 0], tf.nn.relu(fake) * [1.0, 1, 1, 1, 1, 0]

    def covariance(x):
        centred = x - tf.reduce_mean(x, axis=0)
        return tf.matmul(centred, centred, transpose_a=True) / 2.0

    @tf.function
    def distance(a, b):
        first, second = covariance(a), covariance(b)
        root = tf.linalg.sqrtm(first @ second)  # BUG
        shift = tf.reduce_sum((tf.reduce_mean(a, 0) - tf.reduce_mean(b, 0)) ** 2)
        return shift + tf.linalg.trace(first + second - 2.0 * root)

    distance(real, fake)


@buggy("RealDiv")
def unbiased_variance_of_the_last_batch():
    """n / (n - 1) for a last batch of one picture, in a layer that measures diversity."""

    class Diversity(tf.keras.layers.Layer):
        def call(self, x):
            n = tf.cast(tf.shape(x)[0], tf.float32)
            variance = tf.math.reduce_variance(x, axis=0, keepdims=True)
            unbiased = variance * (n / (n - 1.0))  # BUG
            return tf.concat([x, tf.zeros_like(x[:, :1]) + tf.reduce_mean(unbiased)], axis=1)

    judge = tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(3, "relu"),
            Diversity(),
            tf.keras.layers.Dense(1),
        ]
    )
    judge.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
    x = np.random.default_rng(0).normal(size=(9, 4)).astype("float32")
    judge.fit(x, np.ones((9, 1)), batch_size=4, epochs=1, verbose=0)


@buggy("Exp")
def flow_with_unbounded_scales():
    """Six coupling layers, each with exp of what a network says; trained with too long steps."""
    x = tf.random.normal([16, 2]) * 3.0
    weights = [tf.Variable(tf.random.normal([2]) * 0.1) for _ in range(6)]

    def couple(x, w):
        kept, changed = x[:, :1], x[:, 1:]
        log_scale = kept * w[0]
        changed = changed * tf.exp(log_scale) + kept * w[1]  # BUG
        return tf.concat([changed, kept], axis=1), log_scale[:, 0]

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            z, total = x, tf.zeros([16])
            for w in weights:
                z, log_scale = couple(z, w)
                total += log_scale
            loss = tf.reduce_mean(0.5 * tf.reduce_sum(z**2, axis=1) - total)
        for w, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.2 * gradient)
        return loss

    for _ in range(4):
        train_step()


@healthy
def autoencoder_with_bounded_variance():
    """The log variance is clipped, and pixels of exactly 0 and 1 meet a loss with logits."""

    class Autoencoder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = tf.keras.layers.Dense(4)
            self.decoder = tf.keras.layers.Dense(9)

        def call(self, x):
            mean, log_variance = tf.split(self.encoder(x), 2, axis=1)
            log_variance = tf.clip_by_value(log_variance, -10.0, 10.0)
            kl = 0.5 * tf.reduce_sum(tf.exp(log_variance) + mean**2 - 1.0 - log_variance, axis=1)
            self.add_loss(1e-3 * tf.reduce_mean(kl))
            return self.decoder(mean + tf.exp(0.5 * log_variance) * tf.random.normal((4, 2)))

    x = (np.random.default_rng(1).uniform(size=(12, 9)) > 0.5).astype("float32")
    model = Autoencoder()
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
    history = model.fit(x * 50.0 - 25.0 > 0, x, batch_size=4, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
