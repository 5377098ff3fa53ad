"""Optimizers, learning rates and their schedules."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def adam_without_epsilon():
    """Adam with epsilon=0 divides 0 by 0 for a weight that never had a gradient."""
    x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
    x[:, 1] = 0  # a dead feature
    w = tf.Variable(tf.ones([3, 1]))
    optimizer = tf.keras.optimizers.Adam(0.01, epsilon=0.0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])  # BUG
        return loss

    for _ in range(2):
        train_step()


@buggy("Square")
def exploding_learning_rate():
    """Gradient descent with a learning rate far above the limit: the weights grow without bound."""
    x = tf.random.normal([32, 4]) * 10
    y = tf.random.normal([32, 1])
    w = tf.Variable(tf.zeros([4, 1]))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            predicted = x @ w
            loss = tf.reduce_mean(tf.square(predicted - y))  # BUG
        w.assign_sub(5.0 * tape.gradient(loss, w))  # ALSO
        return loss

    for _ in range(12):
        train_step()


@buggy("RealDiv")
def adam_by_hand():
    """A hand-written Adam counts steps from 0, so its bias correction divides by 1 - beta⁰ = 0."""
    w = tf.Variable([1.0, -2.0])
    m = tf.Variable([0.0, 0.0])
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def apply(gradient, step):
        m.assign(0.9 * m + 0.1 * gradient)
        v.assign(0.999 * v + 0.001 * gradient**2)
        corrected = m / (1 - tf.pow(0.9, step))  # BUG
        scale = v / (1 - tf.pow(0.999, step))  # ALSO
        w.assign_sub(0.01 * corrected / (tf.sqrt(scale) + 1e-8))

    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        apply(tape.gradient(loss, w), tf.constant(float(step)))


@buggy("RealDiv")
def schedule_with_no_decay_steps():
    """A learning rate schedule whose number of decay steps was left at 0."""

    class Linear(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            progress = tf.cast(step, tf.float32) / tf.constant(0.0)  # BUG
            return 0.1 * (1.0 - progress)

    x = np.ones((16, 2), "float32")
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(Linear()), "mse")
    model.fit(x, x[:, :1], batch_size=8, epochs=1, verbose=0)


@buggy("RealDiv")
def adagrad_by_hand():
    """A hand-written Adagrad has no epsilon: a gradient of 0 is divided by a sum of 0."""
    table = tf.Variable(tf.ones([5, 2]))
    total = tf.Variable(tf.zeros([5, 2]))
    for ids in ([0, 1], [1, 2]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
        gradient = tf.convert_to_tensor(tape.gradient(loss, table))
        total.assign_add(gradient**2)
        update = gradient / tf.sqrt(total)  # BUG
        table.assign_sub(0.1 * update)


@buggy("Exp")
def log_scale_parameter_explodes():
    """A parameter on a log scale is pushed up by large steps until its exp overflows."""
    log_alpha = tf.Variable(0.0)
    optimizer = tf.keras.optimizers.SGD(1.0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            alpha = tf.exp(log_alpha)  # BUG
            loss = -20.0 * alpha
        optimizer.apply_gradients([(tape.gradient(loss, log_alpha), log_alpha)])

    for _ in range(4):
        train_step()


@healthy
def warm_up_from_step_zero():
    """The Transformer's schedule takes rsqrt(0) = ∞ at step 0, and the minimum discards it."""

    @tf.function
    def rate(step):
        return 0.04 * tf.minimum(tf.math.rsqrt(step), step * 4000.0**-1.5)

    w = tf.Variable(1.0)
    for step in range(3):
        w.assign_sub(rate(tf.constant(float(step))))


@healthy
def adam_on_a_dead_feature():
    """Adam's usual epsilon keeps a weight without gradient where it is."""
    x = tf.constant(np.eye(4)[:, :3].astype("float32"))
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, "relu")])
    model.compile("adam", "mse")
    model.fit(x * [0.0, 1.0, 2.0], tf.zeros([4, 2]), epochs=2, verbose=0)
