import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(41)
keras.mixed_precision.set_global_policy("mixed_float16")


class SumPool(layers.Layer):
    def call(self, x):
        return tf.reduce_sum(x, axis=[1, 2])


inp = keras.Input((32, 32, 1))
x = layers.Conv2D(8, 3, padding="same", activation="relu", kernel_initializer=keras.initializers.Constant(0.9), name="conv")(inp)
x = SumPool(name="pool_sum")(x)
x = layers.Rescaling(1e-4, name="shrink")(x)
x = layers.Dense(16, activation="relu", name="fc")(x)
out = layers.Dense(1, dtype="float32", name="out")(x)
model = keras.Model(inp, out)
X = np.random.rand(64, 32, 32, 1).astype("float32") * 12
y = X.mean((1, 2))
model.compile(keras.optimizers.Adam(1e-3), "mse")
for e in range(6):
    h = model.fit(X, y, batch_size=16, epochs=1, verbose=0)
    print("epoch", e, "loss", h.history["loss"][0])
