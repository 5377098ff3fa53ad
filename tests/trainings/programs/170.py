import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(170)


class Coupling(keras.layers.Layer):
    def __init__(self, flip, **kw):
        super().__init__(**kw)
        self.flip = flip
        self.net = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])

    def call(self, x):
        a, b = tf.split(x, 2, axis=1)
        if self.flip:
            a, b = b, a
        s, t = tf.split(self.net(a), 2, axis=1)
        s = tf.tanh(s)
        b = b * tf.exp(s) + t
        return tf.concat([b, a] if self.flip else [a, b], 1), tf.reduce_sum(s, 1)


flows = [Coupling(i % 2 == 1, name=f"flow{i}") for i in range(4)]
opt = keras.optimizers.Adam(1e-3)


def nll(x):
    total = 0.0
    for flow in flows:
        x, ld = flow(x)
        total += ld
    return tf.reduce_mean(0.5 * tf.reduce_sum(x**2, 1) - total)


nll(tf.zeros([2, 2]))


@tf.function
def step(x):
    v = [w for f in flows for w in f.trainable_variables]
    with tf.GradientTape() as tape:
        loss = nll(x)
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(60):
    loss = step((np.random.randn(64, 2) * [3, 0.3]).astype("float32"))
print(float(loss))
