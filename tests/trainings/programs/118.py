import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(118)
enc = keras.Sequential([keras.Input((10,)), layers.Dense(16, activation="tanh", name="enc_h"), layers.Dense(8, name="stats")], name="enc")
dec = keras.Sequential([keras.Input((4,)), layers.Dense(10, name="dec_o")], name="dec")
opt = keras.optimizers.Adam(0.02)
X = tf.random.normal((256, 10))


@tf.function
def step():
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(enc(X), 2, -1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal((256, 4))
        rec = tf.reduce_mean((dec(z) - X) ** 2)
        kl = 0.5 * tf.reduce_mean(mean ** 2 + tf.exp(logvar) - 1.0 - logvar)
        loss = rec - kl
    v = enc.trainable_variables + dec.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(120):
    step()
