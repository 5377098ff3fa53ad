import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(102)
generator = keras.Sequential([keras.Input((4,)), layers.Dense(16, activation="elu", name="gen_h"), layers.Dense(2, name="gen_o")], name="generator")
critic = keras.Sequential([keras.Input((2,)), layers.Dense(16, activation="elu", name="dis_h"), layers.Dense(1, name="dis_o")], name="discriminator")
opt_d, opt_g = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def d_step(real):
    with tf.GradientTape() as tape:
        r, f = critic(real), critic(generator(tf.random.normal((32, 4))))
        loss = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    opt_d.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


@tf.function
def g_step():
    with tf.GradientTape() as tape:
        f = critic(generator(tf.random.normal((32, 4))))
        loss = bce(tf.ones_like(f), f)
    opt_g.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


for i in range(60):
    d_step(tf.random.normal((32, 2)) * 0.3 + [1.0, -1.0])
    g_step()
