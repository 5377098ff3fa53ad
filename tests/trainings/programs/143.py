import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(143)
gen = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu", name="g1"), keras.layers.Dense(2, name="g2")], name="generator")
disc = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="relu", name="d1"), keras.layers.Dense(1, name="d2")], name="discriminator")
g_opt, d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train(real):
    noise = tf.random.normal([32, 8])
    with tf.GradientTape() as dt, tf.GradientTape() as gt:
        fake = gen(noise, training=True)
        on_real, on_fake = disc(real), disc(fake)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(dt.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    g_opt.apply_gradients(zip(gt.gradient(g_loss, disc.trainable_variables), disc.trainable_variables))
    return d_loss, g_loss


for i in range(60):
    t = np.random.uniform(0, 6.28, 32)
    d, g = train(np.stack([np.cos(t), np.sin(t)], 1).astype("float32"))
print(float(d), float(g))
