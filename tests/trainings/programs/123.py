import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(123)
X = tf.random.normal((256, 12))
y = X @ tf.random.normal((12, 1)) + 0.1 * tf.random.normal((256, 1))
w = tf.Variable(tf.zeros((12, 1)), name="w")
v = tf.Variable(tf.zeros((12, 1)), trainable=False, name="v")
for i in range(120):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((X @ w - y) ** 2)
    v.assign(0.9 * v + tape.gradient(loss, w))
    w.assign_sub(0.03 * v)
