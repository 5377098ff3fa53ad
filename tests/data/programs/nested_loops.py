"""Loops and branches inside of loops: each runs several times, and not in every iteration."""

import tensorflow as tf


@tf.function
def roots(targets):
    found = tf.TensorArray(tf.float32, size=4)
    for k in tf.range(4):
        target = targets[k]
        guess = tf.constant(1.0)
        for _ in tf.range(3):
            guess = guess - (guess * guess - target) / (2.0 * guess)
            if target < 0.0:
                guess = tf.sqrt(target)
        if k % 2 == 0:  # noqa: SIM108
            scale = tf.exp(guess) + 1.0
        else:
            scale = guess * 2.0
        rest = target
        for j in tf.range(2):
            if j > 0:
                rest = rest * scale
            rest = rest + guess
        found = found.write(k, rest)
    return found.stack()


@tf.function
def powers(x):
    def step(i, x):
        squares = tf.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, y * y), (0, x))[1]
        return i + 1, tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + x), (0, squares))[
            1
        ]

    return tf.while_loop(lambda i, x: i < 3, step, (0, x))[1]


def main():
    roots(tf.constant([4.0, 9.0, -1.0, 3.0]))
    powers(tf.constant([0.5, 1.01]))


if __name__ == "__main__":
    main()
