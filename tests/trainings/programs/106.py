import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(106)
class RMS(layers.Layer):
    def call(self, x):
        s = tf.reduce_sum(x * x, -1, keepdims=True)
        return x * tf.math.rsqrt(s)


inp = keras.Input((64,), dtype="float16")
h = RMS(name="norm", dtype="float16")(inp)
out = layers.Dense(2, name="cls", dtype="float32")(layers.Activation("linear", dtype="float32")(h))
model = keras.Model(inp, out)
X = (np.sign(np.random.randn(200, 64)) * np.random.uniform(26, 31, (200, 64))).astype("float16")
y = (X[:, 0] > 0).astype("int32")
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(X, y, epochs=8, batch_size=40, verbose=0)
