"""Recurrence: cells of one's own, filters, searches, gaps in time."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def normalised_cell_at_the_first_step():
    """A cell normalises its state, which is zeros before the first step, in Keras' RNN."""

    class NormalisedCell(tf.keras.layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.units = self.state_size = self.output_size = units
            self.dense = tf.keras.layers.Dense(units)
            self.recurrent = tf.keras.layers.Dense(units, use_bias=False)

        def build(self, shape):
            self.dense.build(shape)
            self.recurrent.build((shape[0], self.units))

        def call(self, x, states):
            h = states[0]
            centred = h - tf.reduce_mean(h, axis=1, keepdims=True)
            deviation = tf.sqrt(tf.reduce_mean(centred**2, axis=1, keepdims=True))
            unit = centred / deviation  # BUG
            h = tf.tanh(self.dense(x) + self.recurrent(unit))
            return h, [h]

    model = tf.keras.Sequential(
        [
            tf.keras.Input((5, 2)),
            tf.keras.layers.RNN(NormalisedCell(3)),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(6, 5, 2)).astype("float32")
    model.fit(x, x[:, 0, :1], batch_size=3, epochs=1, verbose=0)


@buggy("Mul")
def resonator_with_a_pole_outside():
    """A learnt resonance filter, y = x + a · y' - b · y'', whose b has become 30."""
    signal = tf.sin(tf.range(64.0))
    a, b = tf.Variable(0.5), tf.Variable(30.0)

    @tf.function
    def filtered(signal):
        def step(carried, x):
            return x + a * carried[0] - b * carried[1], carried[0]  # BUG

        return tf.scan(step, signal, (tf.constant(0.0), tf.constant(0.0)))[0]

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(filtered(signal))
    tape.gradient(loss, [a, b])


@buggy("RealDiv")
def length_penalty_of_an_empty_answer():
    """The score of an answer that has ended at once is divided by 0 ** 0.7; other beams are -∞."""
    log_p = tf.nn.log_softmax([3.0, 0.0, -1.0, -1.0])
    start = tf.constant([0.0, -np.inf, -np.inf])

    @tf.function
    def best_beam(log_p):
        scores, lengths = start, tf.zeros([3])
        for _ in tf.range(3):
            best = tf.math.top_k(tf.reshape(scores[:, None] + log_p, [-1]), 3)
            parent, word = best.indices // 4, best.indices % 4
            lengths = tf.gather(lengths, parent) + tf.cast(word > 0, tf.float32)
            scores = best.values
        normalised = scores / tf.pow(lengths, 0.7)  # BUG
        return tf.argmax(normalised), tf.reduce_max(normalised)

    best_beam(log_p)


@buggy("ReadVariableOp", "AssignVariableOp", "Placeholder", kind="input")
def state_from_a_bad_warm_up():
    """The initial state of a GRU comes from a file of a run that had already diverged."""
    state = np.random.default_rng(1).normal(size=(2, 4)).astype("float32")
    state[1, 2] = np.nan
    saved = tf.Variable(state)  # ALSO
    gru = tf.keras.layers.GRU(4, return_state=True)
    gru.build((2, 5, 3))

    @tf.function
    def run(x):
        output, final = gru(x, initial_state=saved.read_value())  # BUG
        saved.assign(final)
        return output

    for _ in range(2):
        run(tf.random.normal([2, 5, 3]))


@healthy
def kalman_filter_with_gaps():
    """Missing measurements are NaN; their innovation is NaN, too, and where keeps the forecast."""
    measured = tf.constant([1.0, 1.2, np.nan, 1.1, np.nan, np.nan, 0.9])

    @tf.function
    def smoothed(measured):
        def step(carried, z):
            mean, variance = carried[0], carried[1] + 0.1
            gain = variance / (variance + 0.5)
            updated = mean + gain * (z - mean)
            missing = tf.math.is_nan(z)
            mean = tf.where(missing, mean, updated)
            variance = tf.where(missing, variance, (1.0 - gain) * variance)
            return mean, variance

        return tf.scan(step, measured, (tf.constant(0.0), tf.constant(1.0)))

    assert np.isfinite(smoothed(measured)).all()


@healthy
def last_value_carried_forward():
    """Gaps in a series are NaN and get the value before them, in a loop."""
    series = tf.constant([[2.0, np.nan, np.nan, 3.0], [1.0, 1.5, np.nan, np.nan]])

    @tf.function
    def filled(series):
        last = series[:, 0]
        result = tf.TensorArray(tf.float32, 4).write(0, last)
        for t in tf.range(1, 4):
            last = tf.where(tf.math.is_nan(series[:, t]), last, series[:, t])
            result = result.write(t, last)
        return tf.transpose(result.stack())

    np.testing.assert_allclose(filled(series), [[2, 2, 2, 3], [1, 1.5, 1.5, 1.5]])
