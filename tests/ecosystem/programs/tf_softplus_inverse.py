"""A scale parameter is initialised by the inverse of softplus, as it stands in a textbook."""

import tensorflow as tf

tf.random.set_seed(107)
data = tf.random.stateless_normal([50], seed=(4, 7)) * 120.0


def inverse_softplus(value):
    return tf.math.log(tf.math.expm1(value))  # BUG Expm1: exp(120) is no float32


raw = tf.Variable(inverse_softplus(tf.math.reduce_std(data)))


@tf.function
def step():
    with tf.GradientTape() as tape:
        scale = tf.nn.softplus(raw)
        loss = tf.math.log(scale) + tf.reduce_mean((data / scale) ** 2) / 2
    raw.assign_sub(tape.gradient(loss, raw))
    return loss


print("result losses", [float(step()) for _ in range(3)])
print("result raw", float(raw))
