import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(165)


class Attend(layers.Layer):
    def __init__(self, causal, **kw):
        super().__init__(**kw)
        self.causal = causal

    def call(self, query, memory):
        scores = tf.matmul(query, memory, transpose_b=True) / np.sqrt(32.0)
        if self.causal:
            n = tf.shape(query)[1]
            scores += (1.0 - tf.linalg.band_part(tf.ones((n, n)), -1, 0)) * -1e9
        return tf.matmul(tf.nn.softmax(scores), memory)


src, tgt = keras.Input((10,), dtype="int32"), keras.Input((10,), dtype="int32")
emb = layers.Embedding(50, 32, name="tokens")
memory = layers.LayerNormalization()(layers.Dense(32, name="encode")(emb(src)))
x = emb(tgt)
x = layers.LayerNormalization()(x + Attend(True, name="self")(x, x))
x = layers.LayerNormalization()(x + Attend(False, name="cross")(layers.Dense(32, name="query")(x), memory))
model = keras.Model([src, tgt], layers.Dense(50, name="vocab")(x))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
s = np.random.randint(1, 50, (256, 10))
out = s[:, ::-1].copy()
shifted = np.concatenate([np.zeros((256, 1), int), out[:, :-1]], 1)
model.fit([s, shifted], out, epochs=4, batch_size=32, verbose=2)
