"""Points, rotations and cameras."""

from __future__ import annotations

import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def interpolation_between_equal_rotations():
    """Spherical interpolation divides by the sine of an angle that is 0."""
    start = tf.constant([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    end = tf.constant([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])

    @tf.function
    def interpolate(a, b, t):
        cosine = tf.clip_by_value(tf.reduce_sum(a * b, axis=1, keepdims=True), -1.0, 1.0)
        angle = tf.acos(cosine)
        weighted = tf.sin((1.0 - t) * angle) * a + tf.sin(t * angle) * b
        return weighted / tf.sin(angle)  # BUG

    for t in (0.25, 0.75):
        interpolate(start, end, tf.constant(t))


@buggy("RealDiv")
def camera_reaches_a_point():
    """Points are projected by a division by their depth; the camera moves up to one of them."""
    points = tf.constant([[0.2, 0.1, 4.0], [0.0, 0.0, 3.0], [-0.5, 0.4, 6.0]])
    observed = tf.constant([[0.1, 0.0], [0.0, 0.1], [-0.1, 0.1]])
    position = tf.Variable([0.0, 0.0, 0.0])

    @tf.function
    def train_step(forward):
        position.assign_add([0.0, 0.0, 1.0] * forward)
        with tf.GradientTape() as tape:
            x, y, depth = tf.unstack(points - position, axis=1)
            projected = tf.stack([x, y], axis=1) / depth[:, None]  # BUG
            loss = tf.reduce_mean((projected - observed) ** 2)
        tape.gradient(loss, position)
        return loss

    for _ in range(4):
        train_step(tf.constant(1.0))


@healthy
def rays_against_boxes():
    """The slab method divides by directions of 0: ±∞ are the right bounds of the intersection."""
    origins = tf.constant([[0.0, 0.0, -5.0], [3.0, 0.0, -5.0], [0.0, 0.2, 5.0]])
    directions = tf.constant([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.1, 0.0, -1.0]])

    @tf.function
    def hits(origins, directions):
        inverse = 1.0 / directions
        first, second = (-1.0 - origins) * inverse, (1.0 - origins) * inverse
        enter = tf.reduce_max(tf.minimum(first, second), axis=1)
        leave = tf.reduce_min(tf.maximum(first, second), axis=1)
        return leave >= tf.maximum(enter, 0.0)

    assert hits(origins, directions).numpy().tolist() == [True, False, True]
