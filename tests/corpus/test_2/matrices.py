"""Linear algebra and geometry of data."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Sqrt")
def mahalanobis_with_collinear_columns():
    """Nearly singular covariances: rounding gives the inverse of some of them wrong signs."""
    rng = np.random.default_rng(0)
    base, other, noise = rng.normal(size=(3, 16, 30, 1))
    double = 2 * base + 3e-4 * noise
    x = np.concatenate([base, double, other], axis=2).astype("float32") + 10.0

    @tf.function
    def distances(x):
        centred = x - tf.reduce_mean(x, axis=1, keepdims=True)
        cov = tf.matmul(centred, centred, transpose_a=True) / 29.0
        inverse = tf.linalg.inv(cov)
        squared = tf.reduce_sum(tf.matmul(centred, inverse) * centred, axis=2)
        return tf.sqrt(squared)  # BUG

    distances(tf.constant(x))


@buggy("Cholesky")
def gaussian_process_with_duplicates():
    """A kernel matrix of two equal points has no Cholesky factor without noise on its diagonal."""
    x = tf.constant([[0.0], [0.5], [0.5], [1.2]])
    y = tf.constant([[0.1], [0.4], [0.5], [-0.3]])
    scale = tf.Variable(0.7)

    @tf.function
    def fit():
        with tf.GradientTape() as tape:
            k = tf.exp(-tf.square(x - tf.transpose(x)) / (2.0 * scale**2)) - 1e-6 * tf.eye(4)
            factor = tf.linalg.cholesky(k)  # BUG
            alpha = tf.linalg.cholesky_solve(factor, y)
            fit_term = 0.5 * tf.reduce_sum(y * alpha)
            nll = fit_term + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        scale.assign_sub(0.01 * tape.gradient(nll, scale))

    fit()


@buggy("MatMul", "BatchMatMulV2")
def exponential_of_a_large_generator():
    """tf.linalg.expm of a rate matrix over a far too long time."""
    generator = tf.constant([[3.0, 1.0], [1.0, 2.0]])

    @tf.function
    def transition(t):
        return tf.linalg.expm(generator * t)  # BUG

    transition(tf.constant(1.0))
    transition(tf.constant(80.0))


@buggy("Sqrt")
def speed_above_that_of_light():
    """The Lorentz factor 1 / sqrt(1 - v²) while v grows by a constant kick; while loop."""

    @tf.function
    def accelerate(kicks):
        v, gamma = tf.constant(0.5), tf.constant(1.0)
        for kick in kicks:
            v = v + kick / gamma
            gamma = 1.0 / tf.sqrt(1.0 - v * v)  # BUG
        return v, gamma

    accelerate(tf.constant([0.1, 0.2, 0.3, 0.3]))


@buggy("RealDiv")
def agreement_beyond_chance():
    """Cohen's kappa (po - pe) / (1 - pe): both raters give the same answer to all; nested."""

    @tf.function
    def table(a, b):
        counts = tf.math.confusion_matrix(a, b, num_classes=2, dtype=tf.float32)
        return counts / tf.reduce_sum(counts)

    @tf.function
    def kappa(a, b):
        p = table(a, b)
        observed = tf.linalg.trace(p)
        expected = tf.tensordot(tf.reduce_sum(p, axis=0), tf.reduce_sum(p, axis=1), 1)
        return (observed - expected) / (1.0 - expected)  # BUG

    kappa(tf.constant([0, 1, 1, 0]), tf.constant([0, 1, 0, 0]))
    kappa(tf.constant([1, 1, 1, 1]), tf.constant([1, 1, 1, 1]))


@buggy("RealDiv")
def barycentric_coordinates_of_a_sliver():
    """The area of a triangle with three points in a line is 0."""
    triangles = tf.constant(
        [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]
    )

    @tf.function
    def coordinates(tri, p):
        a, b, c = tf.unstack(tri, axis=1)
        v0, v1, v2 = b - a, c - a, p - a
        den = v0[:, 0] * v1[:, 1] - v1[:, 0] * v0[:, 1]
        v = (v2[:, 0] * v1[:, 1] - v1[:, 0] * v2[:, 1]) / den  # BUG
        return tf.stack([v, 1.0 - v], axis=1)

    coordinates(triangles, tf.constant([[0.2, 0.3]]))


@healthy
def pseudo_inverse_of_dead_features():
    """tf.linalg.pinv of a matrix with a column of zeros cuts small singular values off."""
    x = np.random.default_rng(1).normal(size=(6, 3)).astype("float32")
    x[:, 1] = 0.0

    @tf.function
    def solve(x, y):
        return tf.linalg.pinv(x) @ y

    assert np.isfinite(solve(tf.constant(x), tf.ones([6, 1]))).all()


@healthy
def checked_numbers():
    """tf.debugging.check_numerics is called everywhere, and has nothing to say."""

    @tf.function
    def step(x):
        x = tf.debugging.check_numerics(x, "input")
        y = tf.debugging.check_numerics(tf.sqrt(x), "root")
        return tf.debugging.check_numerics(1.0 / (y + 1.0), "inverse")

    step(tf.constant([0.0, 4.0, 1e-30]))
