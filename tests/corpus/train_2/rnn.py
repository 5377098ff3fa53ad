"""Recurrent networks."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("MatMul")
def relu_rnn_explodes():
    """Keras' SimpleRNN with a ReLU and large weights, over a long sequence."""
    rnn = tf.keras.layers.SimpleRNN(
        4, activation="relu", recurrent_initializer=tf.keras.initializers.Constant(9.0)
    )

    @tf.function
    def encode(x):
        return rnn(x)  # BUG

    encode(tf.ones([2, 40, 3]))


@buggy("RealDiv")
def attention_pooling_over_empty_sequence():
    """exp-weighted pooling over the valid steps: a sequence of length 0 has no weights."""
    x = tf.random.normal([2, 4, 3])
    gru = tf.keras.layers.GRU(5, return_sequences=True)
    score = tf.keras.layers.Dense(1)

    @tf.function
    def pool(x, lengths):
        h = gru(x)
        mask = tf.sequence_mask(lengths, 4, dtype=tf.float32)[:, :, None]
        weights = tf.exp(tf.tanh(score(h))) * mask
        return tf.reduce_sum(weights * h, axis=1) / tf.reduce_sum(weights, axis=1)  # BUG

    pool(x, tf.constant([4, 0]))


@buggy("Sqrt")
def adaptive_step_in_while():
    """A while loop halves a budget and takes the root of what is left, once too often."""

    @tf.function
    def simulate(x):
        budget = tf.constant(1.0)
        for _ in tf.range(5):
            budget = budget - 0.3
            x = x + tf.sqrt(budget)  # BUG
        return x

    simulate(tf.zeros([3]))


@buggy("SqrtGrad")
def loss_in_a_loop_backward():
    """A loop sums up distances between states that stay equal; the gradient is in the loop, too."""
    w = tf.Variable(tf.eye(2))

    @tf.function
    def train_step(state):
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            for _ in tf.range(3):
                following = tf.matmul(state, w)
                loss += tf.sqrt(tf.reduce_sum((following - state) ** 2))  # ALSO
                state = following
        w.assign_sub(0.1 * tape.gradient(loss, w))  # BUG
        return loss

    train_step(tf.ones([1, 2]))


@buggy("Exp")
def memory_decay():
    """A memory's decay rate has the wrong sign: exp grows with the time since the last event."""
    elapsed = tf.constant([[1.0, 4.0, 100.0], [2.0, 2.0, 1.0]])

    class DecayCell(tf.keras.layers.Layer):
        state_size = 4
        output_size = 4

        def build(self, shape):
            self.kernel = self.add_weight(shape=(1, 4), initializer="ones")

        def call(self, elapsed, states):
            decay = tf.exp(elapsed * self.kernel)  # BUG
            state = states[0] * decay + 0.1
            return state, [state]

    rnn = tf.keras.layers.RNN(DecayCell())
    tf.function(rnn)(elapsed[:, :, None])


@healthy
def bidirectional_with_short_sequences():
    """Two directions, one sequence without any valid step."""
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(3))
    x = tf.random.normal([2, 4, 2])
    mask = tf.sequence_mask([4, 0], 4)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x, mask=mask))
        return tape.gradient(loss, layer.trainable_variables)

    step(x)


@healthy
def shortest_path_in_a_loop():
    """Distances start at +∞, and some nodes are never reached."""
    edges = np.full((4, 4), np.inf, "float32")
    edges[0, 1], edges[1, 2] = 1.0, 2.0

    @tf.function
    def distances(edges):
        best = tf.constant([0.0, np.inf, np.inf, np.inf])
        for _ in tf.range(3):
            best = tf.minimum(best, tf.reduce_min(best[:, None] + edges, axis=0))
        return best

    distances(tf.constant(edges))
