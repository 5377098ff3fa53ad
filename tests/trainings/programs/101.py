import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(101)
X = tf.random.normal((256, 12))
true = tf.random.normal((12, 1))
y = X @ true + 0.1 * tf.random.normal((256, 1))
w = tf.Variable(tf.zeros((12, 1)), name="w")


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((X @ w - y) ** 2)
    w.assign_sub(0.85 * tape.gradient(loss, w))
    return loss


for i in range(80):
    loss = step()
