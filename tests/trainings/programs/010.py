import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)


class Coupling(keras.layers.Layer):
    def __init__(self, flip, **kw):
        super().__init__(**kw)
        self.flip = flip
        self.h = keras.layers.Dense(32, activation="relu", name="h")
        self.st = keras.layers.Dense(2, name="st")

    def call(self, x):
        a, b = tf.split(x, 2, axis=1)
        if self.flip:
            a, b = b, a
        s, t = tf.split(self.st(self.h(a)), 2, axis=1)
        b = b * tf.exp(s) + t
        out = tf.concat([b, a] if self.flip else [a, b], 1)
        return out, tf.squeeze(s, 1)


flow = [Coupling(i % 2 == 1, name=f"coupling_{i}") for i in range(4)]
ang = np.random.rand(1024) * np.pi
data = np.stack([3 * np.cos(ang), 6 * np.sin(ang)], 1).astype("float32")
data += 0.1 * np.random.randn(*data.shape).astype("float32")
opt = keras.optimizers.SGD(0.3)


def nll(x):
    logdet = 0.0
    for layer in flow:
        x, ld = layer(x)
        logdet += ld
    logp = -0.5 * tf.reduce_sum(x**2, 1) - np.log(2 * np.pi)
    return -tf.reduce_mean(logp + logdet)


nll(data[:2])
params = [v for l in flow for v in l.trainable_variables]
for i in range(40):
    xb = data[np.random.randint(0, 1024, 128)]
    with tf.GradientTape() as tape:
        loss = nll(tf.constant(xb))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    if i % 4 == 0:
        print("iter", i, "nll", float(loss))
