import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(91)
generator = keras.Sequential([keras.Input((4,)), layers.Dense(24, activation="relu", name="gen_a"),
                              layers.Dense(2, name="gen_b")], name="generator")
discriminator = keras.Sequential([keras.Input((2,)), layers.Dense(24, activation="relu", name="disc_a"),
                                  layers.Dense(1, name="disc_b")], name="discriminator")
z = keras.Input((4,))
discriminator.trainable = False
combined = keras.Model(z, discriminator(generator(z)), name="combined")

bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt_d = keras.optimizers.Adam(1e-3)
opt_g = keras.optimizers.Adam(1e-3)


def d_step(real):
    fake = generator(tf.random.normal((32, 4)))
    with tf.GradientTape() as tape:
        lr_, lf = discriminator(real), discriminator(fake)
        loss = bce(tf.ones_like(lr_), lr_) + bce(tf.zeros_like(lf), lf)
    vs = discriminator.trainable_variables
    if vs:
        opt_d.apply_gradients(zip(tape.gradient(loss, vs), vs))
    return loss


def g_step():
    with tf.GradientTape() as tape:
        s = combined(tf.random.normal((32, 4)))
        loss = bce(tf.ones_like(s), s)
    opt_g.apply_gradients(zip(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables))
    return loss


for i in range(80):
    real = tf.random.normal((32, 2)) * 0.3 + [2.0, -1.0]
    dl = d_step(real)
    gl = g_step()
    if i % 10 == 0:
        print(i, "d", float(dl), "g", float(gl))
