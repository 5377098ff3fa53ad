import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(233)
DIM, LENGTH, VOCAB = 16, 12, 20


class Causal(layers.Layer):
    """Attention whose mask is a large negative number that is added."""

    def build(self, shape):
        self.q, self.k, self.v = (layers.Dense(DIM, use_bias=False) for _ in range(3))

    def call(self, x):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True) / DIM**0.5
        mask = 1.0 - tf.linalg.band_part(tf.ones((LENGTH, LENGTH)), -1, 0)
        return tf.matmul(tf.nn.softmax(scores + mask * -1e4), self.v(x))


tokens = keras.Input((LENGTH,), dtype="int32")
x = layers.Embedding(VOCAB, DIM)(tokens)
for i in range(2):
    x = layers.Add()([x, Causal(name=f"causal_{i}")(layers.LayerNormalization()(x))])
    x = layers.Add()([x, layers.Dense(DIM, activation="relu")(layers.LayerNormalization()(x))])
model = keras.Model(tokens, layers.Dense(VOCAB)(x))
model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
start = np.random.randint(0, VOCAB, (512, 1))
data = (start + np.arange(LENGTH + 1)) % VOCAB
model.fit(data[:, :-1], data[:, 1:], batch_size=32, epochs=4, verbose=2)
