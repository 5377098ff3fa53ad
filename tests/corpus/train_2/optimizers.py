"""Optimizers, learning rates and their schedules."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def rmsprop_without_epsilon():
    """RMSprop with epsilon=0, in Keras' fit, on a weight whose gradient is 0."""
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    x[:, 0] = 0
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.RMSprop(0.01, epsilon=0.0), "mse")
    model.fit(x, x.sum(1), batch_size=16, epochs=1, verbose=0)  # BUG


@buggy("Square")
def exploding_regression_in_fit():
    """SGD on data in the thousands that nobody normalised."""
    rng = np.random.default_rng(1)
    x = rng.uniform(500, 3000, size=(128, 3)).astype("float32")
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    model.fit(x, x.sum(1), batch_size=16, epochs=1, verbose=0)  # BUG


@buggy("RealDiv")
def average_of_weights_by_hand():
    """An exponential moving average corrects its start with 1 - decay⁰ = 0."""
    w = tf.Variable([1.0, 2.0])
    average = tf.Variable([0.0, 0.0])
    for step in range(2):
        corrected = average / (1.0 - 0.9 ** tf.constant(float(step)))  # BUG
        tf.reduce_max(corrected)
        average.assign(0.9 * average + 0.1 * w)
        w.assign_sub([0.1, 0.1])


@buggy("Rsqrt")
def inverse_square_root_schedule():
    """rsqrt of a step that starts at 0 makes the first learning rate infinite."""
    w = tf.Variable([1.0, -1.0, 0.0])

    @tf.function
    def train_step(step):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        rate = 0.1 * tf.math.rsqrt(step)  # BUG
        w.assign_sub(rate * tape.gradient(loss, w))

    for step in tf.range(3.0):
        train_step(step)


@buggy("RealDiv")
def trust_ratio():
    """LARS scales by |weights| / |gradient|, and a layer behind dead units has no gradient."""
    first = tf.Variable(-tf.ones([3, 4]))
    last = tf.Variable(tf.random.normal([4, 1]))
    x = tf.ones([8, 3])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ first) @ last - 1.0))
        variables = [first, last]
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            ratio = tf.norm(variable) / tf.norm(gradient)  # BUG
            variable.assign_sub(0.01 * ratio * gradient)

    train_step()


@buggy("Mul")
def learning_rate_grows():
    """A rate that is multiplied by a constant in each step, and no limit: it overflows."""
    w = tf.Variable([1.0])
    rate = tf.Variable(1e-20)

    @tf.function
    def train_step():
        rate.assign(rate * 1e9)  # BUG
        w.assign_sub(tf.minimum(rate, 0.1) * w)
        w.assign_sub(tf.zeros_like(w) * rate)

    for _ in range(8):
        train_step()


@healthy
def momentum_with_clipping():
    """Large gradients; Keras clips them."""
    w = tf.Variable(tf.random.normal([6]) * 1e8)
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, clipnorm=1.0)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    for _ in range(3):
        train_step()


@healthy
def cosine_decay():
    """A ready-made schedule, after its end too."""
    schedule = tf.keras.optimizers.schedules.CosineDecay(0.1, decay_steps=2)
    w = tf.Variable(1.0)
    for step in range(4):
        w.assign_sub(schedule(step) * w)
