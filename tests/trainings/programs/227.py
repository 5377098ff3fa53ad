import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(227)
tower = keras.Sequential([keras.Input((12,)), layers.Dense(32, activation="relu"), layers.Dense(8)], name="tower")
a, b = keras.Input((12,)), keras.Input((12,))


@keras.saving.register_keras_serializable()
class Distance(layers.Layer):
    def call(self, x, y):
        return tf.sqrt(tf.maximum(tf.reduce_sum((x - y) ** 2, 1, keepdims=True), 1e-7))


def contrastive(same, distance):
    return tf.reduce_mean(same * distance**2 + (1 - same) * tf.maximum(1.0 - distance, 0.0) ** 2)


model = keras.Model([a, b], Distance(name="distance")(tower(a), tower(b)), name="siamese")
model.compile("rmsprop", contrastive)
kind = np.random.randint(0, 4, 640)
centers = np.random.randn(4, 12)
other = np.where(np.random.rand(640) < 0.5, kind, (kind + 1) % 4)
one, two = (centers[k] + 0.1 * np.random.randn(640, 12) for k in (kind, other))
model.fit([one, two], (kind == other).astype("float32")[:, None], batch_size=32, epochs=3, verbose=2)
