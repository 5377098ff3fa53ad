"""Decompositions and systems."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Rsqrt")
def whitening_by_eigenvectors():
    """A covariance without full rank has eigenvalues of 0, whose inverse root is infinite."""
    x = tf.random.normal([6, 1]) @ tf.constant([[1.0, 2.0, 0.0]])

    @tf.function
    def whitened(x):
        centred = x - tf.reduce_mean(x, axis=0)
        covariance = tf.matmul(centred, centred, transpose_a=True) / 5.0
        values, vectors = tf.linalg.eigh(covariance)
        return centred @ vectors * tf.math.rsqrt(values)  # BUG

    tf.reduce_mean(whitened(x) ** 2)


@buggy("Log")
def evidence_by_a_determinant():
    """The determinant of a covariance of 30 small variances underflows to 0, and its log is -∞."""
    x = tf.random.normal([4, 30]) * 0.01
    scale = tf.Variable(tf.fill([30], 0.01))

    @tf.function
    def evidence():
        covariance = tf.linalg.diag(scale**2)
        determinant = tf.linalg.det(covariance)
        squared = tf.reduce_sum((x / scale) ** 2, axis=1)
        return -0.5 * tf.reduce_mean(squared + tf.math.log(determinant))  # BUG

    with tf.GradientTape() as tape:
        loss = evidence()
    tape.gradient(loss, scale)


@buggy("MatMul")
def transition_matrix_to_a_high_power():
    """Growth by repeated squaring: the matrix ** 128 of a population that trebles each year."""
    growth = tf.Variable([[2.0, 1.0], [1.0, 2.0]])

    @tf.function
    def population(start):
        power = tf.identity(growth)
        for _ in tf.range(7):
            power = power @ power  # BUG
        total = tf.linalg.matvec(power, start)
        return total / tf.reduce_sum(total)

    population(tf.constant([1.0, 0.0]))


@healthy
def least_squares_by_a_safe_inverse():
    """Singular values below a cutoff are thrown away after 1 / value was taken; forward only."""
    matrix = tf.constant([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    target = tf.constant([[1.0], [5.0], [2.0]])

    @tf.function
    def solve(matrix, target):
        s, u, v = tf.linalg.svd(matrix)
        inverse = tf.where(s > 1e-6, 1.0 / s, 0.0)
        return v @ (inverse[:, None] * tf.matmul(u, target, transpose_a=True))

    np.testing.assert_allclose(solve(matrix, target), [[1.0], [0.0]], atol=1e-5)
