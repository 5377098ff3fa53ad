import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(116)
net = keras.Sequential([keras.Input((6,)), layers.Dense(20, activation="tanh", name="h"), layers.Dense(1, name="o")])
velocity = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]
X = tf.random.normal((64, 6))
y = tf.sin(X[:, :1])


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(X) - y) ** 2)
    for v, m, g in zip(net.trainable_variables, velocity, tape.gradient(loss, net.trainable_variables)):
        m.assign(1.15 * m + g)
        v.assign_sub(0.01 * m)
    return loss


for i in range(1200):
    step()
