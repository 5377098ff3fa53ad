"""Recurrent networks, by Keras and by hand."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def convolutional_lstm_with_exponential_activation():
    """A ConvLSTM's activation is exponential: the state feeds itself until it overflows."""
    frames = np.random.default_rng(0).uniform(0.5, 1.0, size=(4, 6, 4, 4, 1)).astype("float32")
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6, 4, 4, 1)),
            tf.keras.layers.ConvLSTM2D(
                2,
                3,
                padding="same",
                activation="exponential",
                kernel_initializer="ones",
                recurrent_initializer="ones",
            ),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse", jit_compile=False)
    model.fit(frames, np.ones((4, 1)), batch_size=2, epochs=1, verbose=0)  # BUG


@buggy("Square")
def state_that_is_never_reset():
    """A leaky integrator with a leak above 1 carries its state from batch to batch."""
    batches = tf.random.uniform([4, 10, 4], minval=0.5, maxval=1.0)
    state = tf.Variable(tf.zeros([4]))
    readout = tf.Variable(tf.ones([4]) * 0.1)

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            current = state.read_value()
            for t in tf.range(10):
                current = 5.0 * current + batch[t]
            loss = tf.square(tf.reduce_sum(current * readout) - 1.0)  # BUG
        state.assign(current)
        gradient = tape.gradient(loss, readout)
        readout.assign_sub(0.01 * tf.clip_by_value(gradient, -1.0, 1.0))
        return loss

    for batch in batches:
        train_step(batch)


@buggy("Exp")
def exponential_gates_without_stabiliser():
    """An xLSTM cell's input gate is an exp without the running maximum taken out."""
    x = tf.random.normal([7, 3, 4])
    kernel = tf.Variable(tf.random.normal([4, 12]))
    growth = tf.constant([0.5, 1.0, 2.0, 4.0, 8.0, 40.0, 90.0])

    @tf.function
    def run(x):
        cell, norm = tf.zeros([3, 4]), tf.ones([3, 4])
        hidden = tf.TensorArray(tf.float32, 7)
        for t in tf.range(7):
            inner, remember, value = tf.split(x[t] @ kernel * growth[t], 3, axis=1)
            gate = tf.exp(inner)  # BUG
            keep = tf.sigmoid(remember)
            cell = keep * cell + gate * tf.tanh(value)
            norm = keep * norm + gate
            hidden = hidden.write(t, cell / norm)
        return tf.reduce_mean(hidden.stack() ** 2)

    with tf.GradientTape() as tape:
        loss = run(x)
    kernel.assign_sub(0.1 * tape.gradient(loss, kernel))


@buggy("RealDiv")
def rate_of_change_between_equal_times():
    """Sensor readings with the same time stamp: their rate of change divides by 0 seconds."""
    times = tf.constant([[0.0, 1.0, 2.5, 4.0], [0.0, 0.5, 0.5, 2.0]])
    values = tf.constant([[1.0, 2.0, 2.5, 2.0], [3.0, 3.5, 3.0, 2.0]])
    model = tf.keras.Sequential(
        [tf.keras.Input((3, 2)), tf.keras.layers.GRU(4), tf.keras.layers.Dense(1)]
    )

    @tf.function
    def predict(times, values):
        rates = (values[:, 1:] - values[:, :-1]) / (times[:, 1:] - times[:, :-1])  # BUG
        return model(tf.stack([values[:, 1:], rates], axis=2))

    predict(times, values)


@healthy
def lstm_over_padding_of_nan():
    """Sequences are padded with NaN, which are replaced before the LSTM and masked in it."""
    x = np.random.default_rng(1).normal(size=(6, 5, 2)).astype("float32")
    x[0, 3:] = np.nan
    x[4, 1:] = np.nan
    x = tf.constant(x)
    lstm, dense = tf.keras.layers.LSTM(4), tf.keras.layers.Dense(1)
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step(x):
        mask = tf.reduce_all(tf.math.is_finite(x), axis=2)
        clean = tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(dense(lstm(clean, mask=mask)) ** 2)
        variables = lstm.trainable_variables + dense.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    lstm.build((6, 5, 2))
    dense.build((6, 4))
    optimizer.build(lstm.trainable_variables + dense.trainable_variables)
    for _ in range(2):
        loss = train_step(x)
    assert np.isfinite(loss)


@healthy
def viterbi_path():
    """Transitions that are forbidden have a score of -∞ and are never on the best path."""
    transitions = tf.constant([[0.0, -1.0, -np.inf], [-np.inf, 0.0, -1.0], [-2.0, -np.inf, 0.0]])
    start = tf.constant([0.0, -np.inf, -np.inf])
    emissions = tf.random.normal([6, 3])

    @tf.function
    def best_path(emissions):
        score = start + emissions[0]
        pointers = tf.TensorArray(tf.int64, 5)
        for t in tf.range(1, 6):
            candidates = score[:, None] + transitions
            pointers = pointers.write(t - 1, tf.argmax(candidates, axis=0))
            score = tf.reduce_max(candidates, axis=0) + emissions[t]
        return tf.reduce_max(score), pointers.stack()

    score, _ = best_path(emissions)
    assert np.isfinite(score)
