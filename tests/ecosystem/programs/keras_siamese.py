"""A siamese network with a contrastive loss; the distance of a pair of equal images is 0."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(13)
x = np.random.normal(size=(64, 10)).astype("float32")
other = np.random.permutation(x)
other[5] = x[5]
same = np.zeros(64, "float32")
same[5] = 1.0


class Distance(layers.Layer):
    def call(self, left, right):
        squares = tf.reduce_sum(tf.square(left - right), axis=1, keepdims=True)
        return tf.sqrt(squares)  # BUG Sqrt|SqrtGrad: its gradient at 0 is infinite


tower = keras.Sequential([keras.Input((10,)), layers.Dense(16, "relu"), layers.Dense(4)])
left, right = keras.Input((10,)), keras.Input((10,))
model = keras.Model([left, right], Distance()(tower(left), tower(right)))


def contrastive(y_true, y_pred):
    near = y_true * ops.square(y_pred)
    return ops.mean(near + (1 - y_true) * ops.square(ops.maximum(1.0 - y_pred, 0.0)))


model.compile("sgd", contrastive)
history = model.fit([x, other], same, batch_size=16, epochs=2, shuffle=False, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
