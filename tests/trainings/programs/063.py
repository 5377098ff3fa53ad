import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(54)
keras.mixed_precision.set_global_policy("mixed_float16")


class Cosine(layers.Layer):
    def call(self, a, b):
        a = a / tf.norm(a, axis=-1, keepdims=True)
        b = b / tf.norm(b, axis=-1, keepdims=True)
        return tf.reduce_sum(a * b, axis=-1, keepdims=True)


q = keras.Input((16,), name="query")
d = keras.Input((16,), name="doc")
tower = keras.Sequential([layers.Dense(24, activation="relu", name="t1"), layers.Dense(8, activation="relu", name="t2", use_bias=False)], name="tower")
sim = Cosine(name="cosine")(tower(q), tower(d))
model = keras.Model([q, d], layers.Activation("linear", dtype="float32", name="score")(sim))
Q = np.random.randn(320, 16).astype("float32")
D = np.random.randn(320, 16).astype("float32")
Q[::7] = 0.0  # empty queries
y = np.random.randint(0, 2, (320, 1)).astype("float32")
model.compile("adam", "mse")
h = model.fit([Q, D], y, batch_size=32, epochs=4, verbose=0)
print("loss:", h.history["loss"])
