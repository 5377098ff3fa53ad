import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(145)


class Attend(layers.Layer):
    def call(self, query, memory):
        scores = tf.matmul(query, memory, transpose_b=True)
        return tf.matmul(tf.nn.softmax(scores), memory)


src = keras.Input((10,), dtype="int32")
tgt = keras.Input((10,), dtype="int32")
emb = layers.Embedding(50, 384, embeddings_initializer=keras.initializers.RandomNormal(stddev=1.0), name="tokens")
memory = layers.Dense(384, name="encode")(emb(src))
query = layers.Dense(384, name="query")(emb(tgt))
h = layers.Concatenate()([query, Attend(name="attend")(query, memory)])
model = keras.Model([src, tgt], layers.Dense(50, name="vocab")(h))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
s = np.random.randint(1, 50, (256, 10))
out = s[:, ::-1].copy()
shifted = np.concatenate([np.zeros((256, 1), int), out[:, :-1]], 1)
model.fit([s, shifted], out, epochs=4, batch_size=32, verbose=2)
