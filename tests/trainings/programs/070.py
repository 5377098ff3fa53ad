import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(221)


class Coupling(keras.layers.Layer):
    def __init__(self, swap, **kw):
        super().__init__(**kw)
        self.swap = swap
        self.net = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)], name="net")

    def call(self, x):
        a, b = tf.split(x, 2, axis=1)
        if self.swap:
            a, b = b, a
        s, t = tf.split(self.net(a), 2, axis=1)
        s = 2.0 * tf.tanh(s)
        b = b * tf.exp(s) + t
        return tf.concat([b, a] if self.swap else [a, b], 1), s[:, 0]


class Flow(keras.Model):
    def __init__(self, n=4):
        super().__init__()
        self.steps = [Coupling(i % 2 == 0, name=f"step{i}") for i in range(n)]

    def call(self, x):
        ld = tf.zeros(tf.shape(x)[0])
        for s in self.steps:
            x, d = s(x)
            ld += d
        return 0.5 * tf.reduce_sum(x ** 2, 1) + float(np.log(2 * np.pi)) - ld


flow = Flow()
opt = keras.optimizers.Adam(3e-3)
t = np.random.randn(1024)
data = np.stack([0.1 * t, 0.05 * t ** 2 + 0.02 * np.random.randn(1024)], 1).astype("float32")


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        nll = tf.reduce_mean(flow(x))
    opt.apply_gradients(zip(tape.gradient(nll, flow.trainable_variables), flow.trainable_variables))
    return nll


flow(data[:4])
for i in range(180):
    nll = step(data[np.random.randint(0, 1024, 128)])
    if i % 20 == 0:
        print("step", i, "nll", float(nll))
