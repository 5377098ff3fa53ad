"""Hand-written activations and their inverses."""

from __future__ import annotations

import tensorflow as tf

from ..registry import buggy, healthy


@buggy("Exp")
def naive_softmax():
    """exp overflows, then ∞ / ∞ is NaN."""
    x = tf.random.normal([8, 4]) * 90

    @tf.function
    def softmax(x):
        e = tf.exp(x)  # BUG
        return e / tf.reduce_sum(e, axis=-1, keepdims=True)

    softmax(x)


@buggy("Exp")
def naive_softplus():
    """log(1 + exp(x)) for a large x."""
    w = tf.Variable([[1.0], [40.0]])

    def softplus(x):
        return tf.math.log(1.0 + tf.exp(x))  # BUG

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(softplus(tf.constant([[1.0, 2.0], [0.5, 3.0]]) @ w))
    w.assign_sub(tape.gradient(loss, w))


@buggy("RealDiv")
def logit_of_one():
    """The logit p / (1 - p) of a probability that was rounded to 1."""
    p = tf.sigmoid(tf.constant([-3.0, 0.0, 25.0]))

    @tf.function
    def logit(p):
        odds = p / (1 - p)  # BUG
        return tf.math.log(odds)

    logit(p)


@buggy("Exp")
def swish_by_hand_backward():
    """1 / (1 + exp(-x)) hides the overflow in its value, not in its gradient."""
    w = tf.Variable([[-60.0, 2.0], [-80.0, 1.0]])
    x = tf.constant([[1.0, 1.0], [0.2, 0.1]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            z = x @ w
            gate = 1.0 / (1.0 + tf.exp(-z))  # BUG
            loss = tf.reduce_sum(z * gate)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return loss

    step()


@buggy("RealDiv")
def temperature_reaches_zero():
    """A softmax temperature is annealed down to 0."""
    logits = tf.random.normal([4, 6])

    @tf.function
    def soften(logits, temperature):
        return tf.nn.softmax(logits / temperature)  # BUG

    for step in range(6):
        soften(logits, tf.constant(1.0 - 0.2 * step) if step < 5 else tf.constant(0.0))


@buggy("Log")
def gumbel_noise():
    """-log(-log(u)) with a u of exactly 0, as uniform numbers in [0, 1) may be."""
    u = tf.floor(tf.random.uniform([4, 16]) * 16) / 16
    logits = tf.zeros([4, 16])

    @tf.function
    def sample(u):
        inner = -tf.math.log(u)  # BUG
        noise = -tf.math.log(inner)
        return tf.nn.softmax((logits + noise) / 0.5)

    sample(u)


@buggy("Atanh")
def atanh_of_tanh():
    """atanh of a tanh that is rounded to 1."""
    actions = tf.tanh(tf.constant([[0.1, -0.4], [12.0, 3.0]]))

    def before_squashing(a):
        return tf.math.atanh(a)  # BUG

    tf.reduce_mean(before_squashing(actions))


@healthy
def sigmoid_by_hand():
    """The exp of a large number is ∞, and 1 / (1 + ∞) = 0 is the right value; forward only."""
    x = tf.constant([[-120.0, 0.0, 3.0]])
    sigmoid = tf.function(lambda x: 1.0 / (1.0 + tf.exp(-x)))
    sigmoid(x)


@healthy
def leaky_relu_of_everything():
    """Dead units, zeros and large values, all finite."""
    x = tf.constant([[-1e30, 0.0, 1e30]])
    for activation in (tf.nn.relu, tf.nn.leaky_relu, tf.nn.elu, tf.nn.softplus, tf.nn.gelu):
        tf.function(activation)(x)
