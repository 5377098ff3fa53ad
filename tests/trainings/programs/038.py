import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(233)


class MoE(layers.Layer):
    def __init__(self, n=3, **kw):
        super().__init__(**kw)
        self.gate = layers.Dense(n, name="gate")
        self.experts = [layers.Dense(8, activation="relu", name=f"expert_{i}") for i in range(n)]
        self.n = n

    def call(self, x):
        p = tf.nn.softmax(self.gate(x))
        top = tf.one_hot(tf.argmax(p, -1), self.n)
        self.add_loss(0.05 * self.n * tf.reduce_sum(tf.reduce_mean(top, 0) * tf.reduce_mean(p, 0)))
        ys = tf.stack([e(x) for e in self.experts], 1)
        return tf.reduce_sum(ys * (top * p)[..., None], 1)


inp = keras.Input((6,))
out = layers.Dense(1, name="out")(MoE(name="moe")(inp))
m = keras.Model(inp, out)
X = np.random.randn(480, 6).astype("float32")
k = X[:, 0] > 0
y = np.where(k, X[:, 1] * 2, -X[:, 2])[:, None].astype("float32")
m.compile(keras.optimizers.Adam(1e-2), "mse")
m.fit(X, y, epochs=10, batch_size=32, verbose=2)
