"""Particles, atoms and equations in time."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def charge_acts_on_itself():
    """1 / distance of a charge to itself is ∞, and a mask multiplies it by 0."""
    positions = tf.random.normal([5, 3])
    charges = tf.Variable([1.0, -1.0, 2.0, 0.5, -0.5])

    @tf.function
    def energy():
        offset = positions[:, None] - positions[None, :]
        distance = tf.sqrt(tf.reduce_sum(offset**2, axis=2))
        inverse = 1.0 / distance  # BUG
        pairs = charges[:, None] * charges[None, :] * inverse * (1.0 - tf.eye(5))
        return 0.5 * tf.reduce_sum(pairs)

    with tf.GradientTape() as tape:
        value = energy()
    tape.gradient(value, charges)


@buggy("Pow")
def atoms_too_close():
    """Two atoms run into each other; the twelfth power of 1 / distance overflows."""
    positions = tf.Variable([[0.0, 0.0], [0.5, 0.0], [3.0, 3.0]])
    speeds = tf.constant([[0.4, 0.0], [-0.0999, 0.0], [0.0, 0.0]])
    first, second = tf.constant([0, 0, 1]), tf.constant([1, 2, 2])

    @tf.function
    def move(seconds):
        with tf.GradientTape() as tape:
            offset = tf.gather(positions, first) - tf.gather(positions, second)
            inverse = 1.0 / tf.reduce_sum(offset**2, axis=1)
            attraction = tf.pow(inverse, 3.0)
            repulsion = tf.pow(inverse, 6.0)  # BUG
            energy = tf.reduce_sum(4.0 * (repulsion - attraction))
        forces = -tf.convert_to_tensor(tape.gradient(energy, positions))
        positions.assign_add(seconds * speeds + 1e-30 * tf.clip_by_value(forces, -1.0, 1.0))

    for seconds in (0.5, 0.4, 0.1, 0.1):
        move(tf.constant(seconds))


@buggy("Mul")
def blow_up_in_finite_time():
    """dx/dt = x² reaches infinity at t = 1, and the simulation goes on to t = 2."""
    x0 = tf.Variable([1.0, 0.1])

    @tf.function
    def simulate(x):
        def body(t, x):
            half = x + 0.05 * x * x  # ALSO
            return t + 0.1, x + 0.1 * half * half  # BUG

        return tf.while_loop(lambda t, x: t < 3.0, body, (tf.constant(0.0), x))[1]

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(simulate(x0))
    tape.gradient(loss, x0)


@buggy("Pow")
def second_derivative_at_the_front():
    """u ** 1.5 has a slope of 0 at u = 0, but its curvature, in a diffusion term, is infinite."""
    x = tf.constant([[-0.5], [0.0], [0.5]])
    w = tf.Variable(1.0)

    @tf.function
    def residual():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = tf.nn.relu(w * x) + 0.0 * x
                flux = tf.pow(u, 1.5)  # ALSO
            slope = inner.gradient(flux, x)  # ALSO
        curvature = outer.gradient(slope, x)  # BUG
        return tf.reduce_mean((curvature + 1.0) ** 2)

    with tf.GradientTape() as tape:
        loss = residual()
    tape.gradient(loss, w)


@healthy
def nearest_neighbours():
    """A point is not its own neighbour: the diagonal of the distances is ∞."""
    points = tf.Variable(tf.random.normal([7, 2]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            squared = tf.reduce_sum((points[:, None] - points[None, :]) ** 2, axis=2)
            squared = tf.linalg.set_diag(squared, tf.fill([7], np.inf))
            nearest = -tf.math.top_k(-squared, 2).values
            loss = tf.reduce_mean(tf.math.log1p(nearest))
        gradient = tape.gradient(loss, points)
        points.assign_add(0.01 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()


@healthy
def cheapest_of_all_pairs():
    """Roads that are not there cost ∞; min-plus products fill in the ways round."""
    roads = np.full((5, 5), np.inf, "float32")
    for a, b, cost in ((0, 1, 2.0), (1, 2, 1.0), (2, 3, 4.0), (3, 4, 1.0), (4, 0, 3.0)):
        roads[a, b] = cost
    np.fill_diagonal(roads, 0.0)

    @tf.function
    def cheapest(cost):
        for _ in tf.range(3):
            cost = tf.reduce_min(cost[:, :, None] + cost[None, :, :], axis=1)
        return cost

    assert np.isfinite(cheapest(tf.constant(roads))).all()
