import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(210)


class MaskedAttention(layers.Layer):
    def __init__(self, d, **kw):
        super().__init__(**kw)
        self.d = d
        self.q, self.k, self.v = (layers.Dense(d, name=n) for n in "qkv")

    def call(self, x, mask):
        s = tf.matmul(self.q(x), self.k(x), transpose_b=True) / self.d ** 0.5
        s += (1.0 - tf.cast(mask, tf.float32))[:, None, :] * -1e9
        return tf.matmul(tf.nn.softmax(s), self.v(x))


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(20, 16, name="emb")
        self.att = MaskedAttention(16, name="att")
        self.out = layers.Dense(1, name="out")

    def call(self, ids):
        m = ids > 0
        h = self.att(self.emb(ids), m)
        w = tf.cast(m, tf.float32)[..., None]
        return self.out(tf.reduce_sum(h * w, 1) / tf.reduce_sum(w, 1))


ids = np.random.randint(1, 20, (400, 12))
for r, l in zip(ids, np.random.randint(3, 13, 400)):
    r[l:] = 0
y = (ids == 7).any(1).astype("float32")[:, None]
net = Net()
net.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True))
net.fit(ids, y, epochs=8, batch_size=40, verbose=2)
