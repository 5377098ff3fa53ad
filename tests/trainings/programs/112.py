import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(112)
net = keras.Sequential([keras.Input((16,)), *[layers.Dense(12, activation="sigmoid", name=f"e{i}") for i in range(11)], layers.Dense(16, name="rec")])
opt = keras.optimizers.SGD(0.1)
data = tf.random.normal((320, 16))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - x) ** 2)
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))


for i in range(80):
    step(data[(i % 10) * 32:(i % 10 + 1) * 32])
