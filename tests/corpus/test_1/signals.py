"""Spectra and filters."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv", "IRFFT")
def deconvolution_by_a_zero_of_the_filter():
    """A moving average has zeros in its spectrum, and a signal's spectrum is divided by it."""
    signal = tf.sin(tf.range(16.0) * 0.7)
    kernel = tf.concat([tf.ones([2]), tf.zeros([14])], axis=0)

    @tf.function
    def deconvolved(signal, kernel):
        spectrum, response = tf.signal.rfft(signal), tf.signal.rfft(kernel)
        quotient = spectrum / response  # BUG
        return tf.signal.irfft(quotient)  # ALSO

    tf.reduce_sum(deconvolved(signal, kernel))


@buggy("RealDiv")
def flatness_of_a_silent_frame():
    """The geometric mean of silence is exp(-∞) = 0, rightly; divided by a mean of 0 it is NaN."""
    clip = tf.concat([tf.random.normal([32]), tf.zeros([32])], axis=0)

    @tf.function
    def flatness(clip):
        power = tf.abs(tf.signal.rfft(tf.signal.frame(clip, 16, 16))) ** 2
        geometric = tf.exp(tf.reduce_mean(tf.math.log(power), axis=1))
        return geometric / tf.reduce_mean(power, axis=1)  # BUG

    tf.reduce_mean(flatness(clip))


@buggy("SqrtGrad")
def magnitude_loss_in_training():
    """sqrt(re² + im²) of a spectrum that is 0 in one step, as the gain is: its slope is 1 / 0."""
    target = tf.abs(tf.signal.rfft(tf.sin(tf.range(8.0))))
    w = tf.Variable([0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.1, 0.3])

    @tf.function
    def train_step(gain):
        with tf.GradientTape() as tape:
            spectrum = tf.signal.rfft(w * gain)
            squared = tf.math.real(spectrum) ** 2 + tf.math.imag(spectrum) ** 2
            loss = tf.reduce_mean((tf.sqrt(squared) - target) ** 2)  # ALSO
        w.assign_sub(0.01 * tape.gradient(loss, w))  # BUG
        return loss

    for gain in (1.0, 0.5, 0.0):
        train_step(tf.constant(gain))


@healthy
def noise_gate():
    """Frames below a threshold in dB are muted; the level of digital silence is -∞ dB."""
    clip = tf.concat([tf.random.normal([48]), tf.zeros([16])], axis=0)

    @tf.function
    def gated(clip):
        frames = tf.signal.frame(clip, 16, 16)
        level = 10.0 * tf.math.log(tf.reduce_mean(frames**2, axis=1)) / np.log(10.0)
        return tf.reshape(tf.where((level > -40.0)[:, None], frames, 0.0), [-1])

    np.testing.assert_allclose(gated(clip), clip)
