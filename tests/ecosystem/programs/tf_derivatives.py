"""Derivatives of every kind: Jacobians, per-example gradients, products with the Hessian."""

import tensorflow as tf

weights = tf.Variable([[0.5, -1.0], [2.0, 0.25]])
x = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
direction = tf.constant([[1.0, 0.0], [0.0, -1.0]])


@tf.custom_gradient
def clipped(values):
    return tf.identity(values), lambda upstream: tf.clip_by_value(upstream, -0.5, 0.5)


def loss_of(rows):
    return tf.reduce_sum(tf.nn.softplus(clipped(tf.tanh(rows @ weights))) ** 2)


@tf.function
def jacobian():
    with tf.GradientTape() as tape:
        outputs = tf.tanh(x @ weights)
    return tape.jacobian(outputs, weights)


@tf.function
def per_example():
    def gradient(row):
        with tf.GradientTape() as tape:
            loss = loss_of(row[None])
        return tape.gradient(loss, weights)

    return tf.vectorized_map(gradient, x)


def forward_over_reverse():
    with tf.autodiff.ForwardAccumulator(weights, direction) as accumulator:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(tf.sin(x @ weights)))
        gradient = tape.gradient(loss, weights)
    return accumulator.jvp(gradient)


@tf.function
def second_order():
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum((x @ weights) ** 3)
        penalty = tf.norm(inner.gradient(loss, weights))
    return outer.gradient(penalty, weights)


print("result jacobian", jacobian().numpy().ravel().tolist())
print("result per_example", per_example().numpy().ravel().tolist())
print("result eager", forward_over_reverse().numpy().ravel().tolist())
print("result traced", tf.function(forward_over_reverse)().numpy().ravel().tolist())
print("result second", second_order().numpy().ravel().tolist())
print("result batch", tf.function(loss_of)(x).numpy().tolist())
