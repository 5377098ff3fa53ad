"""Forward passes that are fine, and gradients that are not."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("SqrtGrad")
def distance_of_equal_points():
    """The gradient of sqrt at 0, for a pair of equal points."""
    points = tf.Variable([[1.0, 2.0], [1.0, 2.0], [4.0, 0.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            a, b = points[:2], points[1:]
            distance = tf.sqrt(tf.reduce_sum((a - b) ** 2, axis=1))  # ALSO
            loss = tf.reduce_mean(distance)
        points.assign_sub(0.1 * tape.gradient(loss, points))  # BUG
        return loss

    train_step()


@buggy("SqrtGrad")
def norm_of_zero_bias():
    """tf.norm of a variable that is still 0, as a penalty; eager."""
    bias = tf.Variable(tf.zeros([4]))
    kernel = tf.Variable(tf.ones([3, 4]))
    with tf.GradientTape() as tape:
        y = tf.ones([2, 3]) @ kernel + bias
        penalty = tf.norm(bias)  # ALSO
        loss = tf.reduce_mean(y) + 0.1 * penalty
    gradients = tape.gradient(loss, [kernel, bias])  # BUG
    bias.assign_sub(gradients[1])
    tf.reduce_sum(bias)


@buggy("RealDiv")
def where_hides_a_division():
    """tf.where hides 1 / 0 in the value, but its gradient is 0 · ∞."""
    x = tf.Variable([0.0, 1.0, 4.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            inverse = 1.0 / x  # BUG
            y = tf.where(x > 0, inverse, tf.zeros_like(x))
            loss = tf.reduce_sum(y)
        gradient = tape.gradient(loss, x)
        x.assign_sub(0.01 * gradient)

    step()


@buggy("Reciprocal")
def angle_gradient():
    """acos is fine at 1, its slope there is -1 / sqrt(1 - 1²)."""
    directions = tf.Variable([[1.0, 0.0], [0.6, 0.8]])
    reference = tf.constant([1.0, 0.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            angles = tf.acos(tf.linalg.matvec(directions, reference))  # ALSO
            loss = tf.reduce_sum(angles)
        return tape.gradient(loss, directions)  # BUG

    step()


@buggy("L2Loss")
def clip_by_infinite_norm():
    """A gradient is finite but its square is not, and the clipping makes NaN of all gradients."""
    a = tf.Variable([2e10, 1.0])
    b = tf.Variable([1.0, 2.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * a * 1e10) + tf.reduce_sum(b * b)
        gradients = tape.gradient(loss, [a, b])
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)  # BUG
        a.assign_sub(gradients[0])
        b.assign_sub(gradients[1])

    train_step()


@buggy("SqrtGrad")
def gradient_penalty():
    """A WGAN's gradient penalty takes the norm of a gradient that is 0: its own gradient is NaN."""
    w = tf.Variable(tf.zeros([3, 1]))
    x = tf.random.normal([4, 3])

    @tf.function
    def critic_step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = tf.reduce_sum(tf.tanh(x @ w))
            slopes = inner.gradient(score, x)
            lengths = tf.sqrt(tf.reduce_sum(slopes**2, axis=1))  # ALSO
            loss = score + 10.0 * tf.reduce_mean((lengths - 1.0) ** 2)
        w.assign_sub(0.1 * outer.gradient(loss, w))  # BUG

    critic_step()


@buggy("Pow")
def fractional_power_at_zero():
    """x ** 0.5 by tf.pow, through Keras' fit: the slope at 0 is infinite."""
    x = np.linspace(0, 1, 32).reshape(-1, 1).astype("float32")

    def root(y):
        return tf.pow(y, 0.5)  # ALSO

    inputs = tf.keras.Input((1,))
    hidden = tf.keras.layers.Dense(1, "relu", kernel_initializer="ones", use_bias=False)(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Activation(root)(hidden))
    model.compile("sgd", "mse")
    model.fit(x, x, batch_size=16, shuffle=False, epochs=1, verbose=0)  # BUG


@healthy
def double_where():
    """The safe form: the argument is replaced before the division, too."""
    x = tf.Variable([0.0, 1.0, 4.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            safe = tf.where(x > 0, x, tf.ones_like(x))
            loss = tf.reduce_sum(tf.where(x > 0, 1.0 / safe, tf.zeros_like(x)))
        return tape.gradient(loss, x)

    step()


@healthy
def product_with_zeros():
    """The gradient of a product that holds zeros is finite, by cumulated products."""
    x = tf.Variable([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.reduce_prod(x, axis=1))
    tape.gradient(loss, x)


@healthy
def clipped_by_global_norm():
    """Large gradients, clipped."""
    w = tf.Variable(tf.random.normal([8, 8]) * 1e6)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        gradients, norm = tf.clip_by_global_norm([tape.gradient(loss, w)], 1.0)
        w.assign_sub(gradients[0])
        return norm

    step()
