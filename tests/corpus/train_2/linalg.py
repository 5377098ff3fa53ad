"""Linear algebra and geometry."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("LogMatrixDeterminant")
def slogdet_of_singular_matrix():
    """The log of the absolute determinant of a singular matrix is -∞."""
    features = tf.constant([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    gram = tf.matmul(features, features, transpose_b=True)

    @tf.function
    def diversity(gram):
        sign, log_determinant = tf.linalg.slogdet(gram)  # BUG
        return sign * log_determinant

    diversity(tf.round(gram))


@buggy("MatMul")
def power_of_a_matrix():
    """A growth matrix is multiplied by itself until it overflows."""
    a = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    for _ in range(8):
        a = a @ a  # BUG
    tf.linalg.trace(a)


@buggy("RealDiv")
def correlation_matrix():
    """The correlation with a constant column is 0 / 0."""
    x = tf.constant([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])

    @tf.function
    def correlation(x):
        centred = x - tf.reduce_mean(x, axis=0)
        covariance = tf.matmul(centred, centred, transpose_a=True)
        spread = tf.sqrt(tf.linalg.diag_part(covariance))
        return covariance / (spread[:, None] * spread[None, :])  # BUG

    correlation(x)


@buggy("Acos")
def haversine_distance():
    """The haversine of points at opposite ends of the earth is rounded to more than 1."""
    rng = np.random.default_rng(0)
    latitude, longitude = rng.uniform(-1.5, 1.5, 400), rng.uniform(-3.1, 0.0, 400)
    a = tf.constant(np.stack([latitude, longitude], axis=1), tf.float32)
    b = tf.constant(np.stack([-latitude, longitude + np.pi], axis=1), tf.float32)

    @tf.function
    def distance(a, b):
        half = tf.sin((b - a) / 2.0) ** 2
        h = half[:, 0] + tf.cos(a[:, 0]) * tf.cos(b[:, 0]) * half[:, 1]
        return 6371.0 * tf.acos(1.0 - 2.0 * h)  # BUG

    distance(a, b)


@buggy("MatrixDeterminant")
def determinant_of_a_large_matrix():
    """The determinant of a 20 x 20 matrix with entries around 1000 overflows."""
    a = tf.Variable(tf.eye(20) * 1000.0 + tf.random.normal([20, 20]))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.math.log(tf.linalg.det(a))  # BUG
        a.assign_sub(0.1 * tape.gradient(loss, a))

    step()


@buggy("RealDiv")
def rotation_from_quaternion():
    """A quaternion that the network left at zeros is normalised."""
    q = tf.Variable(tf.zeros([2, 4]))

    @tf.function
    def rotate(points):
        unit = q / tf.norm(q, axis=1, keepdims=True)  # BUG
        w, v = unit[:, :1], unit[:, 1:]
        return points + 2.0 * tf.linalg.cross(v, tf.linalg.cross(v, points) + w * points)

    rotate(tf.ones([2, 3]))


@healthy
def least_squares():
    """An ordinary regularised solution."""
    a, b = tf.random.normal([8, 3]), tf.random.normal([8, 1])

    @tf.function
    def solve(a, b):
        return tf.linalg.lstsq(a, b, l2_regularizer=1e-3)

    tf.linalg.norm(a @ solve(a, b) - b)


@healthy
def gradient_of_equal_singular_values():
    """TensorFlow's gradient of the singular value decomposition is safe for equal values."""
    a = tf.Variable(tf.eye(3) * 2.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            s, u, _ = tf.linalg.svd(a)
            loss = tf.reduce_sum(u * tf.constant([[1.0, 2.0, 3.0]])) + tf.reduce_sum(s)
        return tape.gradient(loss, a)

    step()
