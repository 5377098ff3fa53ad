"""Linear algebra and geometry."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Log")
def log_determinant():
    """The determinant of a singular matrix is 0, and its logarithm is taken."""
    a = tf.constant([[1.0, 2.0], [2.0, 4.0]])

    @tf.function
    def density(a):
        return -0.5 * tf.math.log(tf.linalg.det(a))  # BUG

    density(a)


@buggy("RealDiv")
def inverse_by_hand():
    """A hand-written inverse of 2 x 2 matrices divides by a determinant of 0."""
    m = tf.constant([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])

    @tf.function
    def inverse(m):
        a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
        scale = 1.0 / (a * d - b * c)  # BUG
        rows = tf.stack([tf.stack([d, -b], axis=1), tf.stack([-c, a], axis=1)], axis=1)
        return scale[:, None, None] * rows

    inverse(m)


@buggy("Pow")
def normalised_laplacian():
    """A graph convolution takes degree ** -0.5 of a node without neighbours."""
    adjacency = tf.constant([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    w = tf.Variable(tf.random.normal([3, 2]))

    @tf.function
    def convolve(x):
        degree = tf.reduce_sum(adjacency, axis=1)
        scale = tf.linalg.diag(tf.pow(degree, -0.5))  # BUG
        return scale @ adjacency @ scale @ x @ w

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(convolve(tf.eye(3)))
    tape.gradient(loss, w)


@buggy("Acosh")
def hyperbolic_distance():
    """acosh of a product that should be at least 1 and is rounded to a bit less."""
    points = tf.constant([[300.0, 100.0], [0.1, 0.2]])
    norms = tf.sqrt(1.0 + tf.reduce_sum(points**2, axis=1))
    product = norms * norms - tf.reduce_sum(points**2, axis=1)
    distance = tf.acosh(product)  # BUG
    tf.reduce_sum(distance)


@buggy("RealDiv")
def gram_schmidt():
    """A vector that depends on the ones before has nothing left to be normalised; eager."""
    vectors = tf.constant([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    basis = []
    for v in vectors:
        for b in basis:
            v = v - tf.reduce_sum(v * b) * b
        basis.append(v / tf.norm(v))  # BUG
    tf.stack(basis)


@buggy("Sqrt")
def standard_errors_from_covariance():
    """A covariance from a difference of products has a negative entry on its diagonal."""
    x = tf.constant(np.full((9, 2), [3333.3, 3.0], "float32"))

    @tf.function
    def errors(x):
        mean = tf.reduce_mean(x, axis=0, keepdims=True)
        covariance = tf.matmul(x, x, transpose_a=True) / 9.0 - tf.transpose(mean) @ mean
        return tf.sqrt(tf.linalg.diag_part(covariance))  # BUG

    errors(x)


@healthy
def cholesky_with_jitter():
    """A Gaussian process adds a small number to the diagonal of its kernel matrix."""
    x = tf.constant([[0.0], [0.0], [1.0]])
    scale = tf.Variable(1.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            kernel = tf.exp(-scale * (x - tf.transpose(x)) ** 2) + 1e-3 * tf.eye(3)
            factor = tf.linalg.cholesky(kernel)
            loss = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        return tape.gradient(loss, scale)

    step()
