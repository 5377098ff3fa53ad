import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(113)
w1 = tf.Variable(tf.random.normal((10, 32)) * 0.3, name="w1")
w2 = tf.Variable(tf.random.normal((32, 1)) * 0.3, name="w2")
scale = tf.Variable(2.0 ** 30, trainable=False, name="scale")


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.nn.elu(tf.cast(x, tf.float16) @ tf.cast(w1, tf.float16))
        p = tf.cast(h @ tf.cast(w2, tf.float16), tf.float32)
        loss = tf.reduce_mean((p - y) ** 2) * scale
    g = tape.gradient(loss, [w1, w2])
    fine = tf.reduce_all([tf.reduce_all(tf.math.is_finite(t)) for t in g])
    if fine:
        for v, t in zip([w1, w2], g):
            v.assign_sub(0.01 * t / scale)
    else:
        scale.assign(scale / 1.01)
    return fine


for i in range(60):
    x = tf.random.normal((32, 10))
    step(x, x[:, :1])
