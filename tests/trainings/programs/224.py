import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(224)
generator = keras.Sequential([
    keras.Input((8,)),
    layers.Dense(64, activation="relu", kernel_initializer=keras.initializers.RandomNormal(stddev=6.0), name="g_hidden"),
    layers.Dense(16, activation="tanh", kernel_initializer=keras.initializers.RandomNormal(stddev=6.0), name="g_out"),
], name="generator")
discriminator = keras.Sequential([keras.Input((16,)), layers.Dense(32, activation="relu", name="d_hidden"), layers.Dense(1, name="d_out")], name="discriminator")
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


@tf.function
def train(real):
    noise = tf.random.normal((32, 8))
    with tf.GradientTape(persistent=True) as tape:
        fake = generator(noise)
        on_real, on_fake = discriminator(real), discriminator(fake)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    return d_loss, g_loss


for i in range(60):
    losses = train(np.tanh(np.random.randn(32, 16) * 0.3).astype("float32"))
print([float(x) for x in losses])
