import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(43)
keras.mixed_precision.set_global_policy("mixed_float16")


class SelfAttention(layers.Layer):
    def __init__(self, d, **kw):
        super().__init__(**kw)
        self.q = layers.Dense(d, use_bias=False, name="q")
        self.k = layers.Dense(d, use_bias=False, name="k")
        self.v = layers.Dense(d, use_bias=False, name="v")

    def call(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = tf.matmul(q, k, transpose_b=True)
        return tf.matmul(tf.nn.softmax(scores, axis=-1), v)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.attn = SelfAttention(256, name="self_attn")
        self.norm = layers.LayerNormalization(name="norm")
        self.out = layers.Dense(5, dtype="float32", name="out")

    def call(self, x):
        h = self.norm(self.attn(x))
        return self.out(tf.reduce_mean(h, axis=1))


X = tf.random.normal((128, 10, 64)) * 37
Y = tf.random.uniform((128,), 0, 5, dtype=tf.int32)
net = Net()
net.compile(keras.optimizers.Adam(1e-4),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(X, Y, epochs=5, batch_size=32, verbose=2)
