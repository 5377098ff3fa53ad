"""Tapes in tapes, Jacobians, initial values, several errors at once, and rarely used functions."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("SqrtGrad")
def physics_informed_net_on_the_boundary():
    """u = √x·w; the inner tape's du/dx at x = 0 is ½/0, before the outer tape has its turn."""
    w = tf.Variable(1.5)

    def solution(x):
        return w * tf.sqrt(x)  # ALSO

    @tf.function
    def residual(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = solution(x)
        slope = inner.gradient(u, x)  # BUG
        return slope - 0.5 * u

    inside, boundary = tf.linspace(0.1, 1.0, 5), tf.constant([0.0, 1.0])
    for points in (inside, inside, tf.concat([boundary, inside], axis=0)):
        with tf.GradientTape() as outer:
            loss = tf.reduce_mean(tf.square(residual(points)))
        w.assign_sub(0.01 * outer.gradient(loss, w))


@buggy("SqrtGrad")
def jacobian_of_a_polar_map_at_the_origin():
    """`batch_jacobian` of (r, r²): the row for the origin has the slope of a root at 0."""

    def polar(p):
        squared = tf.reduce_sum(p * p, axis=1)
        return tf.stack([tf.sqrt(squared), squared], axis=1)  # ALSO

    for points in ([[1.0, 2.0], [0.5, 0.1]], [[1.0, 2.0], [0.0, 0.0]]):
        p = tf.constant(points)
        with tf.GradientTape() as tape:
            tape.watch(p)
            q = polar(p)
        jacobian = tape.batch_jacobian(q, p)  # BUG
        print(float(tf.reduce_sum(tf.linalg.det(jacobian))))


@buggy("Log", "Reciprocal")
def second_gradient_of_a_persistent_tape():
    """Entropy as where(p > 0, p log p, 0): log 0 is masked forward, its gradient 1/0 is not."""
    logits = tf.Variable([[2.0, 0.1, -0.3], [0.4, 300.0, 0.2]])

    @tf.function
    def losses(labels):
        p = tf.nn.softmax(logits)
        picked = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        entropy = tf.where(p > 0.0, p * tf.math.log(p), 0.0)  # BUG
        return tf.reduce_mean(picked), tf.reduce_sum(entropy)

    with tf.GradientTape(persistent=True) as tape:
        task, regulariser = losses(tf.constant([0, 1]))
    first = tape.gradient(task, logits)  # ALSO
    second = tape.gradient(regulariser, logits)  # ALSO
    logits.assign_sub(0.1 * (first + 0.01 * second))


@buggy("ResourceGather", "ReadVariableOp", kind="input")
def pretrained_vectors_with_an_unknown_word():
    """The vector file has NaN for one word; a later sentence contains the word."""
    vectors = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    vectors[5] = np.nan
    table = tf.Variable(vectors)  # BUG
    head = layers.Dense(1)

    def embed(words):
        return tf.nn.embedding_lookup(table, words)  # ALSO

    @tf.function
    def score(words):
        return tf.reduce_mean(tf.sigmoid(head(tf.reduce_mean(embed(words), axis=1))))

    for words in ([[0, 1, 2]], [[3, 4, 6]], [[7, 5, 0]]):
        print(float(score(tf.constant(words))))


@buggy("Sqrt")
def masked_logarithm_then_a_real_root():
    """log 0 of counts is masked and harmless; the root of a negative number at step 4 is not."""
    w = tf.Variable(1.0)

    @tf.function
    def step(counts, margin):
        seen = counts > 0.0
        weight = tf.where(seen, tf.math.log(counts), 0.0)
        with tf.GradientTape() as tape:
            room = tf.sqrt(w - margin)  # BUG
            loss = tf.reduce_sum(weight * room)
        w.assign_sub(0.05 * tape.gradient(loss, w))
        return tf.math.log(loss)

    for i in range(7):
        step(tf.constant([2.0, 0.0, 5.0]), tf.constant(0.2 * i))


@buggy("Exp")
def lstm_with_an_exponential_activation():
    """A Keras LSTM with exp as its activation: the state feeds itself and overflows in the loop."""
    model = tf.keras.Sequential(
        [
            tf.keras.Input((12, 2)),
            layers.LSTM(
                3,
                activation=lambda v: tf.exp(v),  # BUG
                recurrent_initializer=tf.keras.initializers.Constant(0.9),
            ),
            layers.Dense(1),
        ]
    )
    model.compile("adam", loss="mse")
    x = np.random.default_rng(1).uniform(0.5, 1.0, size=(8, 12, 2)).astype("float32")
    model.fit(x, x[:, 0, :1], batch_size=4, verbose=0)


@buggy("RealDiv", "IteratorGetNext")
def pipeline_that_normalises_an_empty_crop():
    """`Dataset.map` scales each crop by its maximum; a crop is black: 0/0 arrives in the model."""
    crops = np.random.default_rng(2).uniform(0.1, 1.0, [6, 4]).astype("float32")
    crops[4] = 0.0

    def scaled(crop):
        return crop / tf.reduce_max(crop), tf.reduce_sum(crop, keepdims=True)  # BUG

    model = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    dataset = tf.data.Dataset.from_tensor_slices(crops).map(scaled).batch(2)
    model.fit(dataset, verbose=0)  # ALSO


@buggy("RealDiv")
def expectation_maximisation_with_an_outlier():
    """Both densities of a far point underflow; its responsibilities are 0/0, then all is NaN."""
    x = tf.constant([-2.1, -1.9, -2.0, 1.8, 2.2, 2.0, 60.0])
    means, variances = tf.Variable([-1.0, 1.0]), tf.Variable([1.0, 1.0])

    def density(mean, variance):
        z = tf.square(x[:, None] - mean) / variance
        return tf.exp(-0.5 * z) * tf.math.rsqrt(2.0 * np.pi * variance)

    @tf.function
    def round_trip():
        d = density(variance=variances, mean=means)
        share = d / tf.reduce_sum(d, axis=1, keepdims=True)  # BUG
        total = tf.reduce_sum(share, axis=0)
        means.assign(tf.reduce_sum(share * x[:, None], axis=0) / total)
        spread = share * tf.square(x[:, None] - means)
        variances.assign(tf.reduce_sum(spread, axis=0) / total + 1e-3)

    for _ in range(3):
        round_trip()


@buggy("Atanh")
def fisher_transform_of_a_perfect_correlation():
    """atanh(r) of the correlation of a signal with itself, which is 1 exactly."""

    def standard(v):
        v = v - tf.reduce_mean(v)
        return v / tf.sqrt(tf.reduce_sum(v * v))

    def fisher(a, b):
        r = tf.clip_by_value(tf.reduce_sum(standard(a) * standard(b)), -1.0, 1.0)
        return tf.atanh(r)  # BUG

    signals = tf.constant([[1.0, 1.0, -1.0, -1.0], [3.0, 1.0, 2.0, 0.5], [2.0, 2.0, -2.0, -2.0]])
    print(float(sum(fisher(signals[0], signals[i]) for i in (1, 2))))


@buggy("Ndtri")
def gaussian_copula_of_ranks():
    """The normal quantile of rank/n; the largest rank gives Φ⁻¹(1) = ∞."""

    @tf.function
    def gaussianise(column):
        rank = 1 + tf.argsort(tf.argsort(column))
        return tf.math.ndtri(tf.cast(rank, tf.float32) / 5.0)  # BUG

    table = tf.constant([[3.0, 1.0, 4.0, 1.5, 9.0], [2.0, 7.0, 1.0, 8.0, 2.8]])
    z = tf.map_fn(gaussianise, table)
    print(tf.matmul(z, z, transpose_b=True).numpy())


@buggy("Cast")
def mixed_precision_with_raw_timestamps():
    """Keras casts the inputs to float16; the second column holds seconds of a day."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(4, "relu"), layers.Dense(1)])
    x = np.random.default_rng(3).uniform(0.0, 1.0, [6, 2]).astype("float32")
    x[:, 1] *= 65000.0
    x[4, 1] = 86399.0
    for first in (0, 2, 4):
        print(model(tf.constant(x[first : first + 2])).numpy())  # BUG


@buggy("Cholesky")
def gaussian_process_with_a_negative_length():
    """A difference of kernels is no covariance: the factor of a matrix that is not positive."""
    x = tf.constant([[0.0], [0.1], [0.2], [0.9]])

    @tf.function
    def log_likelihood(y, length, noise):
        distance = tf.square(x - tf.transpose(x))
        covariance = tf.exp(-distance / length) + noise * tf.eye(4)
        factor = tf.linalg.cholesky(covariance)  # BUG
        whitened = tf.linalg.triangular_solve(factor, y)
        return -0.5 * tf.reduce_sum(whitened**2) - tf.linalg.logdet(covariance) / 2.0

    y = tf.constant([[0.1], [0.3], [0.2], [-1.0]])
    print([float(log_likelihood(y, length, 1e-3)) for length in (0.1, 1.0, -0.5)])


@healthy
def pipeline_that_drops_missing_rows():
    """NaN rows are in the file, and `Dataset.filter` takes them out before any model sees them."""
    table = np.random.default_rng(4).normal(size=(12, 3)).astype("float32")
    table[[2, 7], 1] = np.nan
    complete = lambda row: tf.reduce_all(tf.math.is_finite(row))  # noqa: E731
    dataset = tf.data.Dataset.from_tensor_slices(table).filter(complete)
    model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.2), "mse")
    model.fit(dataset.map(lambda row: (row, row[:1])).batch(2), verbose=0)


@healthy
def entropy_with_two_wheres():
    """The argument of the logarithm is made safe as well: finite forward and backward."""
    logits = tf.Variable([[2.0, 0.1, -0.3], [0.4, 300.0, 0.2]])
    for _ in range(3):
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(logits)
            some = p > 0.0
            loss = tf.reduce_sum(tf.where(some, p * tf.math.log(tf.where(some, p, 1.0)), 0.0))
        logits.assign_sub(5.0 * tape.gradient(loss, logits))


@healthy
def log_counts_behind_a_mask():
    """log 0 of counts is -∞ where the mask is off; no gradient goes there, `where` takes it out."""
    counts = tf.constant([[3.0, 0.0, 1.0], [0.0, 0.0, 8.0]])
    scale = tf.Variable(0.5)

    @tf.function
    def step():
        idf = tf.where(counts > 0.0, tf.math.log(counts), 0.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(scale * idf - 1.0))
        scale.assign_sub(0.05 * tape.gradient(loss, scale))

    for _ in range(3):
        step()


@healthy
def gru_on_series_with_gaps():
    """Gaps are NaN in the file, replaced by 0 with a flag; a GRU with clipping is trained on it."""
    series = np.random.default_rng(5).normal(size=(16, 6, 1)).astype("float32") * 30.0
    series[3, 2], series[8, 4] = np.nan, np.nan

    def prepare(x):
        known = tf.math.is_finite(x)
        filled = tf.where(known, x, tf.zeros_like(x))
        return tf.concat([filled, tf.cast(known, tf.float32)], axis=-1), tf.reduce_sum(filled)

    dataset = tf.data.Dataset.from_tensor_slices(series).map(prepare).batch(4)
    model = tf.keras.Sequential([tf.keras.Input((6, 2)), layers.GRU(4), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.5, clipnorm=1.0), "mse")
    model.fit(dataset, epochs=2, verbose=0)
