"""Training loops in which the trouble comes after some steps, among infinities that are meant."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def contrastive_loss_at_low_temperature():
    """Views become alike during training, and exp(similarity / 0.0108) overflows above 0.96."""
    views = tf.random.normal([8, 6])
    w = tf.Variable(tf.random.normal([6, 4]))
    best = tf.Variable(float("inf"))

    @tf.function
    def train_step(noise):
        with tf.GradientTape() as tape:
            a = tf.math.l2_normalize(views @ w, axis=1)
            b = tf.math.l2_normalize((views + noise) @ w, axis=1)
            similarity = tf.matmul(a, b, transpose_b=True)
            others = tf.linalg.set_diag(similarity, tf.fill([8], -np.inf))
            negatives = tf.reduce_sum(tf.exp(others), axis=1)
            positives = tf.exp(tf.linalg.diag_part(similarity) / 0.0108)  # BUG
            loss = tf.reduce_mean(tf.math.log(1.0 + negatives) - tf.math.log(positives))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    for noise in (1.5, 1.0, 0.7, 0.2, 0.05):
        loss = train_step(tf.random.normal([8, 6]) * noise)
        if loss < best:
            best.assign(loss)


@buggy("RealDiv")
def distillation_from_a_sure_teacher():
    """The student's probability of a rare class underflows while it learns; teacher / student."""
    x = tf.random.normal([16, 3])
    teacher = tf.nn.softmax(x @ tf.random.normal([3, 5]) * 3.0)
    w = tf.Variable(tf.zeros([3, 5]))

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            student = tf.nn.softmax(x @ w)
            ratio = teacher / student  # BUG
            loss = tf.reduce_mean(tf.reduce_sum(teacher * tf.math.log(ratio), axis=1))
        w.assign_sub(rate * tape.gradient(loss, w))
        return loss

    for rate in (0.1, 1.0, 10.0, 400.0, 400.0):
        train_step(tf.constant(rate))


@buggy("RealDiv")
def running_variance_of_the_first_sample():
    """Welford's method divides by count - 1, which is 0 for the first sample; eager."""
    smallest, largest = tf.Variable(np.inf), tf.Variable(-np.inf)
    mean, squares = tf.Variable(0.0), tf.Variable(0.0)
    for count, value in enumerate(tf.unstack(tf.constant([3.0, 4.0, 8.0])), start=1):
        smallest.assign(tf.minimum(smallest, value))
        largest.assign(tf.maximum(largest, value))
        delta = value - mean
        mean.assign_add(delta / tf.cast(count, tf.float32))
        squares.assign_add(delta * (value - mean))
        deviation = tf.sqrt(squares / tf.cast(count - 1, tf.float32))  # BUG
        tf.clip_by_value((value - mean) / (deviation + 1e-6), -3.0, 3.0)


@buggy("RealDiv")
def one_helper_for_three_columns():
    """A helper standardises three columns; in the third batch one of them is constant."""
    rng = np.random.default_rng(3)
    batches = rng.normal(size=(4, 8, 3)).astype("float32")
    batches[2, :, 1] = 5.0
    w = tf.Variable([0.1, 0.2, 0.3])

    def standardise(column):
        centred = column - tf.reduce_mean(column)
        deviation = tf.sqrt(tf.reduce_mean(centred * centred))
        return centred / deviation  # BUG

    @tf.function
    def train_step(batch):
        age, income, children = tf.unstack(batch, axis=1)
        with tf.GradientTape() as tape:
            features = tf.stack(
                [standardise(age), standardise(income), standardise(children)], axis=1
            )
            loss = tf.reduce_mean((tf.linalg.matvec(features, w) - 1.0) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    for batch in batches:
        train_step(tf.constant(batch))


@buggy("Log")
def third_of_three_heads():
    """Three heads have a logarithm each: two are kept from 0, the one with a ReLU is not."""
    x = tf.random.normal([32, 4])
    y = tf.nn.softplus(tf.reduce_sum(x, axis=1))
    kernel = tf.Variable(tf.random.normal([4, 3]) * 0.1 + 0.4)
    bias = tf.Variable([0.0, 0.0, 6.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            first, second, third = tf.unstack(x @ kernel + bias, axis=1)
            size = tf.math.log(tf.nn.softplus(first) + 1e-3)
            shape = tf.math.log(tf.maximum(tf.nn.relu(second), 1e-3))
            rate = tf.math.log(tf.nn.relu(third))  # BUG
            target = tf.math.log(y + 1e-3)
            errors = tf.stack([size - target, shape - target, rate + 1.0], axis=1)
            loss = tf.reduce_mean(tf.reduce_sum(errors**2, axis=1))
        gradients = tape.gradient(loss, [kernel, bias])
        kernel.assign_sub(0.5 * gradients[0])
        bias.assign_sub(5.0 * gradients[1])
        return loss

    for _ in range(6):
        train_step()


@healthy
def backtracking_line_search():
    """Trial steps that are too long overflow, and their infinite loss is what rejects them."""
    x = tf.constant([[40.0], [60.0]])
    y = tf.constant([1.5, 2.0])
    w = tf.Variable([0.0])

    @tf.function
    def objective(w):
        return tf.reduce_mean(tf.square(tf.exp(tf.linalg.matvec(x, w)) - y))

    first = objective(w)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = objective(w)
        direction = -tape.gradient(loss, w)
        rate = tf.constant(1.0)
        while not objective(w + rate * direction) < loss:
            rate *= 0.1
        w.assign_add(rate * direction)
    assert objective(w) < first


@healthy
def early_stopping_in_a_graph():
    """The best loss starts at ∞, in a variable that a compiled step compares and updates."""
    w, best_w = tf.Variable([4.0, -3.0]), tf.Variable([0.0, 0.0])
    best, patience = tf.Variable(np.inf), tf.Variable(2)

    @tf.function
    def train_step(rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w - 1.0))
        improvement = best - loss
        if improvement > 1e-3:
            best.assign(loss)
            best_w.assign(w)
            patience.assign(2)
        else:
            patience.assign_sub(1)
        w.assign_sub(rate * tape.gradient(loss, w))
        return patience > 0

    for rate in (0.4, 0.4, 1.2, 1.2, 0.1):
        if not train_step(tf.constant(rate)):
            break
    assert np.isfinite(best.numpy())
    assert best < 1.0
