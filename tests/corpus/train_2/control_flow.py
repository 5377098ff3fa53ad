"""Conditions, loops and functions that call functions."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def switch_case_branch():
    """One of several reductions, chosen at run time, divides by a count of 0."""
    x = tf.constant([1.0, 2.0, 3.0])
    keep = tf.constant([0.0, 0.0, 0.0])

    def mean():
        return tf.reduce_sum(x * keep) / tf.reduce_sum(keep)  # BUG

    @tf.function
    def reduce(kind):
        return tf.switch_case(kind, [lambda: tf.reduce_max(x), mean, lambda: tf.reduce_sum(x)])

    for kind in range(3):
        reduce(tf.constant(kind))


@buggy("Exp")
def annealing_in_a_loop():
    """exp(score / temperature) while the temperature falls in each iteration."""

    @tf.function
    def anneal(score):
        temperature, total = tf.constant(1.0), tf.constant(0.0)
        for _ in tf.range(8):
            acceptance = tf.exp(score / temperature)  # BUG
            total += 1.0 / acceptance + acceptance
            temperature *= 0.5
        return total

    anneal(tf.constant(3.0))


@buggy("Pow")
def tensor_array_of_powers():
    """Powers are collected in a TensorArray, and a base below 1 is negative for an odd root."""

    @tf.function
    def powers(base):
        array = tf.TensorArray(tf.float32, size=5)
        for i in tf.range(5):
            array = array.write(i, tf.pow(base, tf.cast(i, tf.float32) / 2.0))  # BUG
        return tf.reduce_sum(array.stack())

    powers(tf.constant(-2.0))


@buggy("Acos")
def nested_function_in_a_loop():
    """A loop calls a function, which calls a function that leaves acos' domain."""

    @tf.function
    def angle(x):
        return tf.acos(x)  # BUG

    @tf.function
    def turn(x):
        return 0.1 * angle(x)

    @tf.function
    def run(x):
        for _ in tf.range(5):
            x = x + 0.2 + 0.0 * turn(x)
        return x

    run(tf.constant(0.5))


@buggy("Log", "Sum")
def vectorised_map():
    """tf.vectorized_map makes the ops of the map anew, and TensorFlow records the sum only."""
    rows = tf.constant([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8]])

    def entropy(p):
        return -tf.reduce_sum(p * tf.math.log(p))  # BUG

    tf.function(lambda rows: tf.vectorized_map(entropy, rows))(rows)  # ALSO


@buggy("RealDiv")
def weights_go_bad_one_step_before():
    """The update divides by 0 in one function; the alerts of the next step are in another one."""
    w = tf.Variable([1.0, 1.0])
    scale = tf.Variable([4.0, 1.0])

    @tf.function
    def forward(x):
        return tf.reduce_sum(tf.tanh(x * w))

    @tf.function
    def update(gradient):
        w.assign_sub(gradient / scale)  # BUG
        scale.assign_sub([0.0, 1.0])

    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = forward(tf.constant([1.0, 2.0]))
        update(tape.gradient(loss, w))


@healthy
def loop_until_converged():
    """A while loop whose error starts at +∞."""

    @tf.function
    def square_root(a):
        x, error = a, tf.constant(np.inf)
        while error > 1e-3:
            following = 0.5 * (x + a / x)
            error = tf.abs(following - x)
            x = following
        return x

    square_root(tf.constant(7.0))


@healthy
def guarded_gradient_step():
    """A function skips updates whose gradient is not finite, and one is ∞ on purpose."""
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def update(gradient):
        if tf.reduce_all(tf.math.is_finite(gradient)):
            w.assign_sub(0.1 * gradient)

    for gradient in ([1.0, 1.0], [np.inf, 0.0], [0.5, 0.5]):
        update(tf.constant(gradient, tf.float32))
