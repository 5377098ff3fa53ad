"""Matrices: their factors, and the gradients of these."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("MatrixTriangularSolve")
def gradient_of_qr_with_a_zero_column():
    """The factors are fine; the gradient solves with R, which has a 0 on its diagonal."""
    w = tf.Variable([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            q, _ = tf.linalg.qr(w)  # ALSO
            loss = tf.reduce_sum(q[:, 0] * tf.constant([1.0, 2.0, 3.0]))
        w.assign_sub(0.1 * tape.gradient(loss, w))  # BUG
        return loss

    train_step()


@buggy("RealDiv")
def condition_number_as_a_penalty():
    """The largest singular value is divided by the smallest one, which a pruned unit makes 0."""
    kernel = tf.Variable(tf.linalg.diag([1.5, 1.0, 0.0]))

    @tf.function
    def penalty():
        values = tf.linalg.svd(kernel, compute_uv=False)
        return tf.math.log1p(values[0] / values[-1])  # BUG

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(kernel**2) + 0.1 * penalty()
    kernel.assign_sub(0.1 * tape.gradient(loss, kernel))


@buggy("MatrixTriangularSolve")
def whitening_with_a_scale_of_zero():
    """A lower triangular factor has its diagonal from a ReLU; solving with it divides by 0."""
    raw = tf.Variable([[0.7, 0.0, 0.0], [0.2, -0.3, 0.0], [0.1, 0.5, 1.2]])
    x = tf.random.normal([3, 4])

    @tf.function
    def energy():
        factor = tf.linalg.set_diag(raw, tf.nn.relu(tf.linalg.diag_part(raw)))
        white = tf.linalg.triangular_solve(factor, x)  # BUG
        return tf.reduce_mean(white**2)

    energy()


@healthy
def pseudo_inverse_of_a_singular_matrix():
    """tf.linalg.pinv divides by ∞ where a singular value is too small."""
    matrix = tf.constant([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])
    inverse = tf.function(tf.linalg.pinv)(matrix)
    np.testing.assert_allclose(matrix @ inverse @ matrix, matrix, atol=1e-5)
