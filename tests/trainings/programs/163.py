import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(163)
gen = keras.Sequential([keras.Input((16,)), layers.Dense(4 * 4 * 16, name="seed"), layers.Reshape((4, 4, 16)), layers.BatchNormalization(), layers.LeakyReLU(), layers.Conv2DTranspose(8, 4, strides=2, padding="same", name="up"), layers.LeakyReLU(), layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh", name="image")], name="generator")
disc = keras.Sequential([keras.Input((16, 16, 1)), layers.Conv2D(8, 4, strides=2, padding="same", name="c1"), layers.LeakyReLU(), layers.Dropout(0.3), layers.Flatten(), layers.Dense(1, name="real")], name="discriminator")
g_opt, d_opt = keras.optimizers.Adam(2e-4, 0.5), keras.optimizers.Adam(2e-4, 0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train(real):
    z = tf.random.normal([16, 16])
    with tf.GradientTape() as dt, tf.GradientTape() as gt:
        fake = gen(z, training=True)
        on_real, on_fake = disc(real, training=True), disc(fake, training=True)
        d_loss = bce(0.9 * tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(dt.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    g_opt.apply_gradients(zip(gt.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
    return d_loss, g_loss


for i in range(40):
    real = np.tanh(np.random.randn(16, 16, 16, 1).cumsum(1) / 4).astype("float32")
    d, g = train(real)
print(float(d), float(g))
