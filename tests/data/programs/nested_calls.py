"""One function called from loops, branches and other functions, several times from each.

Everything is a scalar, and no two results are alike: what was computed from what can be told from
the values.
"""

import tensorflow as tf


@tf.function
def helper(a, b):
    if a > 0.2:
        a = tf.sin(a) * b
    else:
        for _ in tf.range(2):
            a = a * 0.61 + b
            if b > 0.0:
                b = b - a * 0.37
    return tf.tanh(a) + b * 0.83


@tf.function
def twice(a, b):
    a = helper(a, b)
    return helper(b, a) * 0.79


@tf.function
def middle(a, b):
    total = a * 0.71
    for i in tf.range(3):
        if a > 0.1:  # noqa: SIM108
            a = helper(a, b)
        else:
            a = helper(b, total) + 0.27
        if i > 0:
            total = total * 0.59 + twice(a, b)
        b = helper(b, a)
    return total + helper(helper(a, b), total)


@tf.function
def outer(a, b):
    first = middle(a, b)
    second = middle(first, b)
    third = twice(second, first)
    helper(third, second)  # takes part in nothing, and is not run
    return third - helper(a, first) * helper(b, second)


def main():
    for number in (0.3, -1.1):
        outer(tf.constant(number, tf.float64), tf.constant(-0.7, tf.float64))


if __name__ == "__main__":
    main()
