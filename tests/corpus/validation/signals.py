"""Sound and other signals."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def log_spectrum_of_silence():
    """The third clip ends in digital silence: its power is 0 in all bins of some frames."""
    time = np.arange(256, dtype="float32")
    clips = np.stack([np.sin(time * f) for f in (0.1, 0.2, 0.3, 0.5)]).astype("float32")
    clips[2, 64:] = 0.0
    mel = tf.signal.linear_to_mel_weight_matrix(8, 33, 8000, 80.0, 3600.0)

    def features(clip):
        power = tf.abs(tf.signal.stft(clip, 64, 32, 64)) ** 2
        return tf.math.log(power @ mel)  # BUG

    dataset = tf.data.Dataset.from_tensor_slices(clips).map(features).batch(1)
    model = tf.keras.Sequential(
        [tf.keras.Input((7, 8)), tf.keras.layers.Conv1D(4, 3), tf.keras.layers.Flatten()]
    )
    for batch in dataset:
        tf.reduce_mean(model(batch))


@buggy("RealDiv")
def projection_onto_a_silent_source():
    """The scale-invariant error projects an estimate onto a target that is silent: 0 / 0."""
    targets = tf.random.normal([3, 2, 16]) * tf.constant(
        [[[1.0], [1.0]], [[1.0], [0.0]], [[1.0], [1.0]]]
    )
    mixtures = tf.reduce_sum(targets, axis=1)
    w = tf.Variable(tf.random.normal([2, 16]) * 0.1 + 0.5)

    @tf.function
    def train_step(mixture, target):
        with tf.GradientTape() as tape:
            estimate = mixture * w
            scale = tf.reduce_sum(estimate * target, 1) / tf.reduce_sum(target**2, 1)  # BUG
            projected = scale[:, None] * target
            signal = tf.reduce_sum(projected**2, 1) + 1e-8
            noise = tf.reduce_sum((estimate - projected) ** 2, 1) + 1e-8
            loss = -tf.reduce_mean(tf.math.log(signal / noise))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    for mixture, target in zip(mixtures, targets, strict=True):
        train_step(mixture, target)


@healthy
def decibels_with_a_floor():
    """log(0) is -∞ dB, and a floor of -80 dB follows at once."""
    clip = tf.concat([tf.sin(tf.range(64.0)), tf.zeros([64])], axis=0)

    @tf.function
    def decibels(clip):
        power = tf.abs(tf.signal.rfft(tf.signal.frame(clip, 32, 32))) ** 2
        return tf.maximum(10.0 * tf.math.log(power) / np.log(10.0), -80.0)

    assert np.isfinite(decibels(clip)).all()
