import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(105)
inp = keras.Input((6,))
scores = layers.Dense(4, name="router")(inp)
gates = layers.Lambda(lambda s: tf.one_hot(tf.argmax(s, -1), 4), output_shape=(4,), name="hard")(scores)
experts = [layers.Dense(8, activation="elu", name=f"expert_{i}")(inp) for i in range(4)]
stacked = layers.Lambda(lambda t: tf.stack(t, 1), output_shape=(4, 8), name="stack")(experts)
mixed = layers.Lambda(lambda t: tf.einsum("be,bed->bd", *t), output_shape=(8,), name="mix")([gates, stacked])
out = layers.Dense(1, name="out")(mixed)
model = keras.Model(inp, out)
model.compile("rmsprop", "mse")
X = np.random.randn(320, 6).astype("float32")
model.fit(X, X[:, :1] * X[:, 1:2], epochs=6, batch_size=32, verbose=0)
