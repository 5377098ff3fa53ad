"""Recurrent networks."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("MatMul")
def linear_recurrence_explodes():
    """A recurrence without a squashing function grows until the product overflows."""
    w = tf.Variable(tf.eye(4) * 50)

    @tf.function
    def unroll(state):
        for _ in tf.range(30):
            state = tf.matmul(state, w)  # BUG
        return tf.reduce_sum(state)

    unroll(tf.ones([2, 4]))


@buggy("RealDiv")
def mean_over_time_of_empty_sequence():
    """The mean over the valid steps of an LSTM, for a sequence of length 0."""
    x = tf.random.normal([3, 5, 4])
    lengths = tf.constant([5, 2, 0])
    lstm = tf.keras.layers.LSTM(6, return_sequences=True)

    @tf.function
    def encode(x, lengths):
        mask = tf.sequence_mask(lengths, 5)
        outputs = lstm(x, mask=mask) * tf.cast(mask, tf.float32)[:, :, None]
        return tf.reduce_sum(outputs, axis=1) / tf.cast(lengths, tf.float32)[:, None]  # BUG

    encode(x, lengths)


@buggy("Exp")
def gate_by_hand_in_scan():
    """A cell's gate is a hand-written softmax over memory slots, in tf.scan."""
    inputs = tf.reshape(tf.linspace(10.0, 100.0, 12), [4, 3])

    def cell(state, x):
        e = tf.exp(x + state)  # BUG
        return 0.5 * state + e / tf.reduce_sum(e)

    @tf.function
    def run(inputs):
        return tf.scan(cell, inputs, initializer=tf.zeros([3]))

    run(inputs)


@buggy("Placeholder", "IteratorGetNext", kind="input")
def nan_in_a_sequence():
    """One value of one sequence in the data set is NaN; the GRU spreads it."""
    x = np.random.default_rng(0).normal(size=(16, 5, 3)).astype("float32")
    x[9, 2, 1] = np.nan
    layers = [tf.keras.layers.GRU(4), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential([tf.keras.Input((5, 3)), *layers])
    model.compile("adam", "mse")
    model.fit(x, np.ones(16), batch_size=8, shuffle=False, epochs=1, verbose=0)  # BUG


@buggy("Log")
def log_of_decoded_probabilities():
    """A decoder multiplies probabilities step by step until they underflow, then takes a log."""
    logits = tf.random.normal([30, 2, 8]) * 6

    @tf.function
    def score(logits):
        total = tf.ones([2])
        for step in tf.range(30):
            total *= tf.reduce_min(tf.nn.softmax(logits[step]), axis=1)
        return tf.math.log(total)  # BUG

    score(logits)


@healthy
def lstm_and_gru_in_fit():
    """Masked, padded sequences through Keras' LSTM and GRU."""
    x = np.random.default_rng(0).integers(0, 20, size=(16, 6))
    x[:, 4:] = 0
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            tf.keras.layers.Embedding(20, 4, mask_zero=True),
            tf.keras.layers.LSTM(4, return_sequences=True),
            tf.keras.layers.GRU(4),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    model.fit(x, np.ones(16), batch_size=8, epochs=1, verbose=0)


@healthy
def running_maximum_in_a_loop():
    """-∞ is the start value of a maximum over time."""
    x = tf.random.normal([6, 3])

    @tf.function
    def pool(x):
        best = tf.fill([3], float("-inf"))
        for row in x:
            best = tf.maximum(best, row)
        return best

    pool(x)
