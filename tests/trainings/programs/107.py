import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(107)
prices = tf.cast(tf.random.uniform((32, 400)) * 240 + 5, tf.float16)
w = tf.Variable(tf.zeros((400, 1)), name="w")
target = tf.random.normal((32, 1))
opt = keras.optimizers.Adam(1e-3)


@tf.function
def step():
    total = tf.cumsum(prices, axis=1)
    x = tf.cast(total, tf.float32) / 5e4
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - target) ** 2)
    opt.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


for i in range(40):
    step()
