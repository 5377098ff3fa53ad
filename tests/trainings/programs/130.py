import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(130)
m = keras.Sequential([keras.Input((1,)), layers.Dense(32, activation="tanh", name="h"), layers.Dense(9, name="mdn")])
opt = keras.optimizers.Adam(5e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        pi, mu, ls = tf.split(m(x), 3, -1)
        logp = tf.nn.log_softmax(pi) - ls - 0.5 * ((y - mu) * tf.exp(-ls)) ** 2
        loss = -tf.reduce_mean(tf.reduce_logsumexp(logp, -1))
    opt.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables))


for i in range(100):
    y = tf.random.uniform((64, 1), -3, 3)
    step(y + 2 * tf.sin(2 * y) + 0.1 * tf.random.normal((64, 1)), y)
