import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(198)
w1 = tf.Variable(tf.random.normal([16, 64]) * 0.2, name="w1")
w2 = tf.Variable(tf.random.normal([64, 1]) * 0.2, name="w2")
scale, good = tf.Variable(2.0**16), tf.Variable(0)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.cast(x, tf.float16) @ tf.cast(w1, tf.float16))
        p = tf.cast(h @ tf.cast(w2, tf.float16), tf.float32)
        loss = tf.reduce_mean((p - y) ** 2)
        scaled = loss * scale
    grads = [g / scale for g in tape.gradient(scaled, [w1, w2])]
    fine = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads])
    for v, g in zip([w1, w2], grads):
        v.assign(tf.where(fine, v - 0.05 * g, v))
    good.assign(tf.where(fine, good + 1, 0))
    scale.assign(tf.where(fine, tf.where(good % 20 == 0, scale * 2, scale), scale / 2))
    return loss


for i in range(80):
    x = np.random.randn(128, 16).astype("float32")
    loss = step(x, np.abs(x[:, :1]))
    if i % 10 == 0:
        print(i, float(loss), float(scale))
