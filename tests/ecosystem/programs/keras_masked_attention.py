"""Attention written by hand, with −∞ for padding; one sequence of the batch is all padding."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(7)


class Attention(layers.Layer):
    def __init__(self):
        super().__init__()
        self.project = layers.Dense(24)

    def call(self, inputs, present):
        query, key, value = tf.split(self.project(inputs), 3, axis=-1)
        scores = tf.matmul(query, key, transpose_b=True) / 8.0**0.5
        scores = tf.where(present[:, None, :], scores, -np.inf)
        weights = tf.nn.softmax(scores)  # BUG Softmax: a row of padding only has nothing but −∞
        return tf.matmul(weights, value)


lengths = np.array([5, 6, 3, 0, 4, 6, 2, 1] * 4)
x = np.random.normal(size=(32, 6, 8)).astype("float32")
present = np.arange(6) < lengths[:, None]
y = np.random.normal(size=(32, 1)).astype("float32")
features, mask = keras.Input((6, 8)), keras.Input((6,), dtype="bool")
hidden = Attention()(features, present=mask)
model = keras.Model([features, mask], layers.Dense(1)(layers.Flatten()(hidden)))
model.compile("sgd", "mse")
history = model.fit([x, present], y, batch_size=8, epochs=2, shuffle=False, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
