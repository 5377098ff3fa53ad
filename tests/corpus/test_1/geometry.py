"""Meshes, lines and turns."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def axis_of_no_turn():
    """The axis of a rotation matrix is divided by 2 · sin(angle), and the identity has no angle."""
    turn = tf.constant([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rotations = tf.stack([turn, tf.eye(3)])

    @tf.function
    def axis_angle(m):
        cosine = (tf.linalg.trace(m) - 1.0) / 2.0
        angle = tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))
        skew = tf.stack(
            [m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], 1
        )
        factor = angle / (2.0 * tf.sin(angle))  # BUG
        return skew * factor[:, None]

    axis_angle(rotations)


@buggy("RealDiv")
def normal_of_a_degenerate_face():
    """A mesh is fitted; two corners of a face meet, so that its normal has no length."""
    corners = tf.Variable([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.5]])
    faces = tf.constant([[0, 1, 2], [1, 3, 2]])
    pull = tf.constant([[0.0, 0, 0], [0.0, 0.0, 0.0], [0, 0, 0], [0.0, 0.5, 0.25]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            a, b, c = tf.unstack(tf.gather(corners, faces), axis=1)
            cross = tf.linalg.cross(b - a, c - a)
            normal = cross / tf.norm(cross, axis=1, keepdims=True)  # BUG
            loss = tf.reduce_mean(1.0 - normal[:, 2])
        gradient = tf.convert_to_tensor(tape.gradient(loss, corners))
        corners.assign_sub(pull + 1e-30 * gradient)
        return loss

    for _ in range(4):
        train_step()


@buggy("RealDiv")
def crossing_of_parallel_lines():
    """Two lines of a picture are parallel: the determinant that is divided by is 0."""
    lines = tf.constant([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [2.0, 4.0, 1.0]])

    @tf.function
    def crossings(lines):
        first, second = tf.gather(lines, [0, 0, 1]), tf.gather(lines, [1, 2, 2])
        determinant = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        x = first[:, 2] * second[:, 1] - first[:, 1] * second[:, 2]
        y = first[:, 0] * second[:, 2] - first[:, 2] * second[:, 0]
        return tf.stack([x, y], axis=1) / determinant[:, None]  # BUG

    tf.reduce_mean(crossings(lines), axis=0)


@healthy
def steepness_of_vertical_lines():
    """dy / dx of a vertical line is ∞, and atan makes 90 degrees of it."""
    steps = tf.constant([[1.0, 1.0], [0.0, 2.0], [0.0, -3.0]])

    @tf.function
    def degrees(steps):
        return tf.atan(steps[:, 1] / steps[:, 0]) * 180.0 / np.pi

    np.testing.assert_allclose(degrees(steps), [45.0, 90.0, -90.0], rtol=1e-5)
