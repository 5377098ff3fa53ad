"""Functions in functions, While loops, Ifs, and their gradients; an overflow in a loop's body."""

import tensorflow as tf

scale = tf.Variable(3.0, name="scale")


@tf.function
def square(x):
    return x * x


@tf.function
def grow(x, steps):
    i = tf.constant(0)
    while i < steps:
        if tf.reduce_max(x) > 100.0:  # noqa: SIM108
            x = square(x) * scale
        else:
            x = x * 10.0
        i += 1
    return x


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        y = grow(x, 6)
        loss = tf.reduce_sum(y - y)
    return loss, tape.gradient(loss, scale)


def main():
    for start in (0.001, 0.1, 50.0):
        x = tf.constant([start, start * 2.0])
        grow(x, tf.constant(5))
        with tf.GradientTape() as tape:
            y = square(grow(x, tf.constant(4)))
        gradient = tape.gradient(y, scale)
        train(x)
        tf.debugging.assert_rank(gradient, 0)
        tf.map_fn(lambda v: tf.sqrt(v - 1.0), x)


if __name__ == "__main__":
    main()
