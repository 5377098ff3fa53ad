"""Forward passes that are fine, and gradients that are not."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("SqrtGrad")
def standard_deviation_of_equal_values():
    """tf.math.reduce_std of a constant column has no gradient."""
    x = tf.Variable([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            spread = tf.math.reduce_std(x, axis=0)  # ALSO
            loss = -tf.reduce_sum(spread)
        x.assign_sub(0.1 * tape.gradient(loss, x))  # BUG

    step()


@buggy("Log")
def where_hides_a_logarithm():
    """tf.where hides log(0); the gradient of the hidden branch is 0 / 0."""
    counts = tf.Variable([0.0, 2.0, 5.0])
    with tf.GradientTape() as tape:
        logs = tf.math.log(counts)  # BUG
        score = tf.reduce_sum(tf.where(counts > 0, logs, tf.zeros_like(counts)))
    gradient = tape.gradient(score, counts)
    counts.assign_add(0.1 * gradient)


@buggy("RealDiv")
def atan2_at_the_origin():
    """The angle of a vector of zeros is 0, its gradient 0 / 0."""
    xy = tf.Variable([[1.0, 1.0], [0.0, 0.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            angle = tf.atan2(xy[:, 1], xy[:, 0])  # ALSO
            loss = tf.reduce_sum(tf.square(angle - 1.0))
        return tape.gradient(loss, xy)  # BUG

    step()


@buggy("SqrtGrad", "__backward")
def triplet_loss_with_a_duplicate():
    """Backward pass outside of a tf.function: anchor and positive are the same picture."""
    encode = tf.Variable(tf.random.normal([6, 3]))
    anchor = tf.random.normal([4, 6])
    positive = tf.concat([anchor[:1], tf.random.normal([3, 6])], axis=0)
    negative = tf.random.normal([4, 6])

    @tf.function
    def triplet(a, p, n):
        near = tf.sqrt(tf.reduce_sum(tf.square(a @ encode - p @ encode), axis=1))  # ALSO
        far = tf.sqrt(tf.reduce_sum(tf.square(a @ encode - n @ encode), axis=1))
        return tf.reduce_mean(tf.nn.relu(near - far + 5.0))

    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = triplet(anchor, positive, negative)  # ALSO
        encode.assign_sub(0.1 * tape.gradient(loss, encode))  # BUG


@buggy("RealDiv")
def custom_gradient_by_hand():
    """A hand-written gradient divides by the forward value, which is 0 for some."""

    @tf.custom_gradient
    def scaled_relu(x):
        y = tf.nn.relu(x)

        def grad(upstream):
            return upstream * x / y  # BUG

        return y, grad

    w = tf.Variable([[1.0, -2.0], [0.5, 3.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(scaled_relu(w))
        w.assign_sub(0.1 * tape.gradient(loss, w))  # ALSO

    step()


@buggy("RealDiv")
def normalise_gradient_by_its_norm():
    """A gradient is divided by its own length, and a saturated unit has none."""
    x = tf.ones([4, 2])
    w = tf.Variable(tf.ones([2, 1]) * 50.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x @ w))
        gradient = tape.gradient(loss, w)
        direction = gradient / tf.norm(gradient)  # BUG
        w.assign_sub(0.01 * direction)
        return loss

    step()
    step()


@buggy("Rsqrt")
def unit_vectors_by_rsqrt():
    """x · rsqrt(sum of squares) for a row of zeros, in Keras' fit."""
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    x[3] = 0

    class Unit(tf.keras.layers.Layer):
        def call(self, inputs):
            squares = tf.reduce_sum(tf.square(inputs), axis=1, keepdims=True)
            return inputs * tf.math.rsqrt(squares)  # BUG

    dense = tf.keras.layers.Dense(3, use_bias=False)
    model = tf.keras.Sequential([tf.keras.Input((4,)), dense, Unit(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, x.sum(1), batch_size=16, shuffle=False, epochs=1, verbose=0)


@healthy
def sqrt_away_from_zero():
    """The square root is kept away from zero by a small number."""
    points = tf.Variable([[1.0, 2.0], [1.0, 2.0]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.sqrt(tf.reduce_sum((points[0] - points[1]) ** 2) + 1e-12)
        return tape.gradient(loss, points)

    step()


@healthy
def division_without_nan_and_its_gradient():
    """divide_no_nan has a gradient of 0 where it divides by 0."""
    x = tf.Variable([0.0, 1.0, 4.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.divide_no_nan(3.0, x))
        return tape.gradient(loss, x)

    step()


@healthy
def l2_normalised_zeros():
    """tf.math.l2_normalize has its epsilon inside."""
    x = tf.Variable([[0.0, 0.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.math.l2_normalize(x, axis=1))
    tape.gradient(loss, x)
