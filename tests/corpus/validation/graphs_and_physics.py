"""Networks on graphs, and differential equations."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Mul")
def message_of_a_lonely_node():
    """The maximum of no messages is the lowest float, and twice that is -∞."""
    features = tf.random.normal([5, 3])
    senders, receivers = tf.constant([0, 1, 2, 3]), tf.constant([1, 0, 3, 2])
    w = tf.Variable(tf.ones([3, 3]))

    @tf.function
    def layer(features):
        messages = tf.gather(features, senders) @ w
        largest = tf.math.unsorted_segment_max(messages, receivers, num_segments=5)
        return tf.nn.leaky_relu(features + 2.0 * largest)  # BUG

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(layer(features) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))


@buggy("RealDiv")
def laplacian_in_polar_coordinates():
    """The residual of a physics-informed network has u' / r, and one point is at r = 0."""
    r = tf.constant([[0.0], [0.25], [0.5], [1.0]])
    model = tf.keras.Sequential(
        [tf.keras.Input((1,)), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            with tf.GradientTape() as outer:
                outer.watch(r)
                with tf.GradientTape() as inner:
                    inner.watch(r)
                    u = model(r)
                slope = inner.gradient(u, r)
            curvature = outer.gradient(slope, r)
            residual = curvature + slope / r + 1.0  # BUG
            loss = tf.reduce_mean(residual**2) + tf.reduce_mean(u[-1] ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(
            zip(
                tape.gradient(loss, variables, unconnected_gradients="zero"), variables, strict=True
            )
        )
        return loss

    for _ in range(2):
        train_step()


@buggy("Mul")
def stiff_equation_with_a_long_step():
    """Euler's method multiplies by 1 - 1000 · 0.05 = -49 in each step."""
    rate = tf.Variable(1000.0)

    @tf.function
    def simulate(y):
        steps = 0
        while steps < 30:
            y = y - 0.05 * (rate * y)  # BUG
            steps += 1
        return y

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(simulate(tf.constant([1.0, 0.5])))
    tape.gradient(loss, rate)


@buggy("SqrtGrad")
def distance_to_the_boundary():
    """A solution is multiplied by the distance to the origin, and a point there is sampled."""
    points = tf.constant([[0.3, 0.4], [0.0, 0.0], [0.6, -0.8]])
    w = tf.Variable(tf.random.normal([2, 1]))

    @tf.function
    def residual():
        with tf.GradientTape() as tape:
            tape.watch(points)
            distance = tf.sqrt(tf.reduce_sum(points**2, axis=1, keepdims=True))  # ALSO
            u = distance * tf.tanh(points @ w + 0.5)
        slope = tape.gradient(u, points)  # BUG
        return tf.reduce_mean((tf.reduce_sum(slope, axis=1) - 1.0) ** 2)

    with tf.GradientTape() as tape:
        loss = residual()
    w.assign_sub(0.1 * tape.gradient(loss, w))


@healthy
def attention_over_neighbours():
    """A softmax over the edges of each node; a node without edges gets nothing."""
    features = tf.random.normal([5, 3])
    senders, receivers = tf.constant([0, 1, 2, 3]), tf.constant([1, 0, 1, 2])
    w = tf.Variable(tf.random.normal([3, 3]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            hidden = features @ w
            a, b = tf.gather(hidden, senders), tf.gather(hidden, receivers)
            scores = tf.reduce_sum(a * b, axis=1)
            largest = tf.math.unsorted_segment_max(scores, receivers, 5)
            weights = tf.exp(scores - tf.gather(largest, receivers))
            total = tf.math.unsorted_segment_sum(weights, receivers, 5)
            weights = weights / tf.gather(total, receivers)
            output = tf.math.unsorted_segment_sum(weights[:, None] * a, receivers, 5)
            loss = tf.reduce_mean((output - features) ** 2)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return gradient

    assert np.isfinite(train_step()).all()
