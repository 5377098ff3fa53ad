"""AutoGraph: loops with break, conditionals, TensorArray, scan, while_loop with a gradient."""

import tensorflow as tf


@tf.function
def collatz(number):
    steps = tf.constant(0)
    seen = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
    while number != 1:
        seen = seen.write(steps, number)
        if number % 2 == 0:
            number //= 2
        else:
            number = 3 * number + 1
        steps += 1
        if steps > 100:
            break
    return steps, seen.stack()


@tf.function
def newton(value):
    guess = value
    for _ in tf.range(20):
        guess = 0.5 * (guess + value / guess)
        if tf.abs(guess * guess - value) < 1e-6:
            break
    return guess


@tf.function
def unrolled(rate):
    with tf.GradientTape() as tape:
        tape.watch(rate)
        _, total = tf.while_loop(
            lambda i, _: i < 8, lambda i, total: (i + 1, total + tf.exp(-rate * total)), (0, rate)
        )
    return total, tape.gradient(total, rate)


@tf.function(reduce_retracing=True)
def scanned(values):
    return tf.scan(lambda total, value: 0.9 * total + value, values)


@tf.function(jit_compile=True)
def compiled(values):
    return tf.reduce_logsumexp(values) + tf.nn.softplus(values)[0]


steps, seen = collatz(tf.constant(27 - 20))
print("result collatz", int(steps), seen.numpy().tolist())
print("result newton", [float(newton(tf.constant(value))) for value in (2.0, 9.0, 1e4)])
print("result unrolled", [float(each) for each in unrolled(tf.constant(0.5))])
for length in (3, 5):
    print("result scanned", scanned(tf.linspace(0.0, 1.0, length)).numpy().tolist())
print("result compiled", float(compiled(tf.constant([1.0, 2.0, 3.0]))))
mapped = tf.map_fn(
    lambda row: tf.cond(row > 1, lambda: row * 2, lambda: -row), tf.constant([0.5, 2.0])
)
print("result mapped", mapped.numpy().tolist())
