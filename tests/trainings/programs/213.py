import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(213)
keras.mixed_precision.set_global_policy("mixed_float16")


class Power(layers.Layer):
    def call(self, x):
        return tf.square(x)


wave = keras.Input((64, 4))
x = Power(name="power")(wave)
x = layers.Lambda(lambda p: tf.math.log(tf.cast(p, tf.float32) + 1.0), name="decibel", dtype="float32")(x)
x = layers.GRU(8, name="listener")(x)
model = keras.Model(wave, layers.Dense(1, dtype="float32", name="tempo")(x))
model.compile(keras.optimizers.Adam(1e-3), "mse")
t = np.linspace(0, 20, 64)[None, :, None]
speed = np.random.uniform(1, 3, (400, 1, 1))
audio = (180 + 35 * np.sin(t * speed + np.random.rand(400, 1, 4))).astype("float32")
model.fit(audio, speed[:, :, 0], batch_size=20, epochs=2, verbose=2)
