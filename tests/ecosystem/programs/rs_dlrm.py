"""KerasRS: a DLRM; a dense feature that is −2 where it is unknown goes into a logarithm."""

import keras
import keras_rs
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(23)
dense = np.random.exponential(10.0, size=(96, 4)).astype("float32")
dense[50, 1] = -2.0
ids = np.random.randint(0, 20, size=(96, 3))
y = np.random.randint(0, 2, size=96).astype("float32")


class DLRM(keras.Model):
    def __init__(self):
        super().__init__()
        self.bottom = keras.Sequential([layers.Dense(16, "relu"), layers.Dense(8)])
        self.tables = [layers.Embedding(20, 8) for _ in range(3)]
        self.interact = keras_rs.layers.DotInteraction(self_interaction=False)
        self.cross = keras_rs.layers.FeatureCross(projection_dim=4)
        self.top = keras.Sequential([layers.Dense(8, "relu"), layers.Dense(1)])

    def call(self, inputs):
        numbers = self.bottom(tf.math.log1p(inputs["dense"]))  # BUG Log1p: −2 means unknown
        vectors = [table(inputs["ids"][:, i]) for i, table in enumerate(self.tables)]
        crossed = self.cross(keras.ops.concatenate([numbers, *vectors], axis=-1))
        return self.top(keras.ops.concatenate([self.interact([numbers, *vectors]), crossed], -1))


model = DLRM()
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
history = model.fit(
    {"dense": dense, "ids": ids}, y, batch_size=16, epochs=2, verbose=0, shuffle=False
)
print("result loss", [float(value) for value in history.history["loss"]])
