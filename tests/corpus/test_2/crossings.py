"""Programs whose bad value is born at a change of form: dtype, sparsity, device, replay."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy

layers = tf.keras.layers


@buggy("RealDiv", "Real")
def deconvolution_of_a_missing_frequency():
    """The filter has no gain at two frequencies; the complex quotient of the spectra is 0/0."""
    pulse = tf.constant([0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    signal = tf.constant(np.sin(np.arange(8)), tf.float32)

    @tf.function
    def sharpen(signal):
        spectrum = tf.signal.fft(tf.cast(signal, tf.complex64))
        gain = tf.signal.fft(tf.cast(pulse, tf.complex64))
        gain = tf.where(tf.abs(gain) < 1e-3, tf.zeros_like(gain), gain)
        quotient = spectrum * gain / (gain * tf.math.conj(gain))  # BUG
        return tf.math.real(tf.signal.ifft(quotient))  # ALSO

    print(tf.reduce_max(sharpen(signal)))


@buggy("Pow")
def graph_with_an_isolated_node():
    """D^-1/2 of a node without edges is ∞; its row of the sparse matrix is empty, 0·∞ is NaN."""
    edges = tf.sparse.reorder(
        tf.SparseTensor([[0, 1], [1, 0], [1, 2], [2, 1]], tf.ones([4]), [4, 4])
    )
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 3)), tf.float32)
    weight = tf.Variable(tf.ones([3, 2]))

    @tf.function
    def train_step():
        degree = tf.sparse.reduce_sum(edges, axis=1)
        shrink = tf.pow(degree, -0.5)[:, None]  # BUG
        with tf.GradientTape() as tape:
            hidden = tf.matmul(x, weight) * shrink
            hidden = tf.sparse.sparse_dense_matmul(edges, hidden) * shrink
            loss = tf.reduce_mean(tf.square(tf.nn.relu(hidden) - 1.0))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))

    train_step()


@buggy("SqrtGrad")
def block_computed_again_for_its_gradient():
    """√relu(x) is 0 where the ReLU is off; its gradient is taken in a replay of the block."""
    weight = tf.Variable([[0.5, -0.5], [0.3, 0.8]])

    @tf.recompute_grad
    def block(x):
        hidden = tf.nn.relu(tf.matmul(x, weight))
        return tf.sqrt(hidden)  # BUG

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(block(x) - 1.0))
        weight.assign_sub(0.1 * tape.gradient(loss, weight))  # ALSO

    train_step(tf.constant([[1.0, 2.0], [2.0, 3.0]]))
    train_step(tf.constant([[1.0, 2.0], [3.0, -0.5]]))


@buggy("Cast")
def revenues_in_half_precision():
    """The revenues are read in float64 and cast to float16; one of them is above 65504."""
    revenues = tf.constant([[120.0, 3100.0], [58_000.0, 410.0], [71_250.0, 90.0]], tf.float64)
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(3, "tanh"), layers.Dense(1)])
    model.compile(tf.keras.optimizers.RMSprop(1e-3), "mse")

    def prepare(revenue):
        half = tf.cast(revenue, tf.float16)  # BUG
        return (tf.cast(half, tf.float32) - 1000.0) / 5000.0

    model.fit(prepare(revenues), np.ones((3, 1), "float32"), epochs=1, verbose=0)


@buggy("RealDiv")
def replica_without_a_valid_target():
    """Each replica divides by the number of its valid targets; in one batch there are none."""
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        weight = tf.Variable([0.5, 0.5])

    def replica_step(x, y, valid):
        with tf.GradientTape() as tape:
            error = valid * tf.square(tf.linalg.matvec(x, weight) - y)
            loss = tf.reduce_sum(error) / tf.reduce_sum(valid)  # BUG
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    @tf.function
    def train_step(x, y, valid):
        return strategy.run(replica_step, args=(x, y, valid))

    x, y = tf.constant([[1.0, 2.0], [2.0, 0.0]]), tf.constant([1.0, 0.0])
    for valid in ([1.0, 1.0], [0.0, 1.0], [0.0, 0.0]):
        train_step(x, y, tf.constant(valid))
