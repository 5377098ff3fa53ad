import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(206)
u, w, b = (tf.Variable(tf.random.normal([8, n]) * 0.1) for n in (2, 2, 1))
opt = keras.optimizers.Adam(1e-2)


@tf.function
def step(z):
    with tf.GradientTape() as tape:
        log_det = tf.zeros([128])
        start = z
        for k in range(8):
            inner = tf.reduce_sum(z * w[k], 1) + b[k]
            slope = (1 - tf.tanh(inner) ** 2)[:, None] * w[k]
            log_det += tf.math.log(tf.abs(1 + tf.reduce_sum(slope * u[k], 1)) + 1e-6)
            z = z + u[k] * tf.tanh(inner)[:, None]
        target = -0.5 * ((tf.norm(z + 1e-12, axis=1) - 2.0) / 0.4) ** 2
        loss = tf.reduce_mean(-0.5 * tf.reduce_sum(start**2, 1) - log_det - target)
    opt.apply_gradients(zip(tape.gradient(loss, [u, w, b]), [u, w, b]))
    return loss


for i in range(80):
    loss = step(tf.random.normal([128, 2]))
    if i % 10 == 0:
        print(i, float(loss))
