"""Custom layers and cells: normalisation, recurrence, gradients through time."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Rsqrt")
def instance_norm_of_flat_image():
    """rsqrt(variance) without an epsilon; one picture of the batch is all grey."""

    class InstanceNorm(tf.keras.layers.Layer):
        def call(self, x):
            mean, var = tf.nn.moments(x, axes=[1, 2], keepdims=True)
            return (x - mean) * tf.math.rsqrt(var)  # BUG

    x = np.random.default_rng(0).uniform(size=(6, 5, 5, 2)).astype("float32")
    x[4] = 0.5
    flatten, dense = tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)
    model = tf.keras.Sequential([tf.keras.Input((5, 5, 2)), InstanceNorm(), flatten, dense])
    model.compile("adam", "mse")
    model.fit(x, np.zeros((6, 2)), batch_size=3, shuffle=False, verbose=0)


@buggy("RealDiv")
def standardised_kernel_of_zeros():
    """Weight standardisation (w - mean) / std with a kernel that is initialised by zeros."""

    class StandardisedDense(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1], 4), initializer="zeros", name="w")

        def call(self, x):
            centred = self.w - tf.reduce_mean(self.w, axis=0)
            w = centred / tf.math.reduce_std(self.w, axis=0)  # BUG
            return tf.matmul(x, w)

    layer = StandardisedDense()
    layer(tf.ones([2, 3]))


@buggy("RealDiv")
def batch_statistics_of_a_single_row():
    """Batch normalisation by hand: the last batch has one row, so its deviation is 0."""
    rows = tf.random.normal([9, 3], seed=2)
    gamma, beta = tf.Variable(tf.ones([3])), tf.Variable(tf.zeros([3]))

    @tf.function(reduce_retracing=True)
    def normalise(x):
        mean = tf.reduce_mean(x, axis=0)
        std = tf.math.reduce_std(x, axis=0)
        return gamma * (x - mean) / std + beta  # BUG

    for batch in tf.data.Dataset.from_tensor_slices(rows).batch(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(normalise(batch) ** 2)
        beta.assign_sub(0.01 * tape.gradient(loss, beta))


@buggy("Mul")
def quadratic_cell_explodes():
    """A recurrent cell h <- h² + x in keras.layers.RNN over thirty steps."""

    class QuadraticCell(tf.keras.layers.Layer):
        state_size = output_size = 2

        def call(self, x, states):
            h = states[0]
            h = h * h + x  # BUG
            return h, [h]

    x = np.full((2, 30, 2), 1.5, "float32")
    rnn = tf.keras.layers.RNN(QuadraticCell(), unroll=False)
    tf.function(rnn)(tf.constant(x))


@buggy("MatMul")
def gradient_explodes_through_time():
    """sin keeps the state within ±1, but the product of 60 slopes overflows backward."""
    w = tf.Variable(np.random.default_rng(1).normal(0, 30, size=(8, 8)), dtype=tf.float32)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            h = tf.ones([2, 8]) * 0.3
            for _ in range(60):
                h = tf.sin(tf.matmul(h, w))  # ALSO
            loss = tf.reduce_sum(h)
        w.assign_sub(1e-3 * tape.gradient(loss, w))  # BUG
        return loss

    train()


@buggy("Log")
def geometric_pooling_in_training():
    """exp(mean(log x)): with a 0 the value is 0, which is right, but the slope is 0 · ∞."""
    gates = tf.Variable([[0.5, 2.0, 1.0], [0.0, 4.0, 1.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            pooled = tf.exp(tf.reduce_mean(tf.math.log(gates), axis=1))  # BUG
            loss = tf.reduce_sum((pooled - 1.0) ** 2)
        gates.assign_sub(0.1 * tape.gradient(loss, gates))
        return loss

    step()
    step()


@buggy("ResourceGather", "ReadVariableOp", "AssignVariableOp", "GatherV2", kind="input")
def pretrained_vectors_with_nan():
    """Word vectors were normalised by numpy, and the one of the padding word is 0 / 0."""
    vectors = np.random.default_rng(2).normal(size=(6, 3)).astype("float32")
    vectors[0] = 0.0
    with np.errstate(invalid="ignore"):
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding = tf.keras.layers.Embedding(6, 3)
    embedding.build((None,))
    embedding.embeddings.assign(vectors)  # BUG
    dense = tf.keras.layers.Dense(1)

    @tf.function
    def predict(words):
        return dense(tf.reduce_mean(embedding(words), axis=1))  # ALSO

    predict(tf.constant([[1, 2, 3]]))  # ALSO
    predict(tf.constant([[4, 5, 0]]))  # ALSO


@buggy("Sqrt")
def running_deviation_as_a_metric():
    """A metric keeps sums and sums of squares: E[x²] - E[x]² is below 0 for 1000.1 again."""

    class Deviation(tf.keras.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.n = self.add_weight(shape=(), initializer="zeros", name="n")
            self.s = self.add_weight(shape=(), initializer="zeros", name="s")
            self.q = self.add_weight(shape=(), initializer="zeros", name="q")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.n.assign_add(tf.cast(tf.size(y_pred), tf.float32))
            self.s.assign_add(tf.reduce_sum(y_pred))
            self.q.assign_add(tf.reduce_sum(y_pred**2))

        def result(self):
            mean = self.s / self.n
            return tf.sqrt(self.q / self.n - mean**2)  # BUG

    metric = Deviation()
    for batch in range(6):
        predicted = tf.fill([7], 1000.1 + 0.001 * batch)
        metric.update_state(None, predicted)
        metric.result()


@buggy("RealDiv")
def matthews_correlation_as_a_metric():
    """A compiled metric: nothing is predicted positive, so the root in the denominator is 0."""

    def mcc(y_true, y_pred):
        y_pred = tf.round(y_pred)
        tp = tf.reduce_sum(y_true * y_pred)
        tn = tf.reduce_sum((1 - y_true) * (1 - y_pred))
        fp = tf.reduce_sum((1 - y_true) * y_pred)
        fn = tf.reduce_sum(y_true * (1 - y_pred))
        bottom = tf.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return (tp * tn - fp * fn) / bottom  # BUG

    x = np.random.default_rng(3).normal(size=(24, 2)).astype("float32")
    y = (x[:, :1] > 0).astype("float32")
    bias = tf.keras.initializers.Constant(-20.0)
    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), tf.keras.layers.Dense(1, "sigmoid", bias_initializer=bias)]
    )
    model.compile("adam", "binary_crossentropy", metrics=[mcc])
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)


@healthy
def precision_by_divide_no_nan():
    """The same kind of metric with divide_no_nan: 0 when nothing was predicted."""

    def precision(y_true, y_pred):
        y_pred = tf.round(y_pred)
        return tf.math.divide_no_nan(tf.reduce_sum(y_true * y_pred), tf.reduce_sum(y_pred))

    x = np.random.default_rng(4).normal(size=(16, 2)).astype("float32")
    y = (x[:, :1] > 0).astype("float32")
    bias = tf.keras.initializers.Constant(-20.0)
    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), tf.keras.layers.Dense(1, "sigmoid", bias_initializer=bias)]
    )
    model.compile("adam", "binary_crossentropy", metrics=[precision])
    history = model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    assert np.isfinite(history.history["precision"]).all()


@healthy
def batch_norm_of_constant_features():
    """Ready-made batch and layer normalisation of constant rows and columns, in fit."""
    x = np.ones((12, 4), "float32")
    layers = [tf.keras.layers.BatchNormalization(), tf.keras.layers.LayerNormalization()]
    model = tf.keras.Sequential([tf.keras.Input((4,)), *layers, tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(x, x[:, :1], batch_size=4, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@buggy("Pow")
def polynomial_with_a_power_of_zero():
    """x ** k for k = 0, 1, 2: x ** 0 is 1, but its gradient is 0 · 0 ** -1 where x is 0."""
    x = tf.Variable([0.0, 1.0, -2.0])
    weights = tf.constant([0.5, 1.0, -1.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            powers = [tf.pow(x, float(k)) for k in range(3)]  # ALSO
            value = tf.tensordot(weights, tf.stack(powers), 1)
            loss = tf.reduce_sum(value**2)
        x.assign_sub(0.01 * tape.gradient(loss, x))  # BUG
        return loss

    step()
    step()


@healthy
def powers_of_zero_that_exist():
    """0 ** 1 and 0 ** 2 have a gradient at 0, and 0 ** 0 = 1 is computed without one."""
    x = tf.Variable([0.0, 1.0, -2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stack([tf.pow(x, float(k)) for k in range(1, 3)]))
        return loss + tf.reduce_sum(tf.pow(x, 0.0)), tape.gradient(loss, x)

    loss, grad = step()
    assert np.isfinite(loss)
    assert np.isfinite(grad).all()
