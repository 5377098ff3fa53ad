import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(203)
G = keras.Sequential([keras.Input((3,)), layers.Dense(24, activation="relu", name="g1"), layers.Dense(1, name="g2")], name="gen")
D = keras.Sequential([keras.Input((1,)), layers.Dense(24, activation="leaky_relu", name="d1"),
                      layers.Dense(24, activation="leaky_relu", name="d2"), layers.Dense(1, name="d3")], name="disc")
og, od = keras.optimizers.Adam(2e-3, beta_1=0.5), keras.optimizers.Adam(2e-3, beta_1=0.5)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(real):
    z = tf.random.normal((64, 3))
    with tf.GradientTape() as td, tf.GradientTape() as tg:
        fake = G(z, training=True)
        r, f = D(real, training=True), D(fake, training=True)
        dl = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
        gl = bce(tf.ones_like(f), f)
    od.apply_gradients(zip(td.gradient(dl, D.trainable_variables), D.trainable_variables))
    og.apply_gradients(zip(tg.gradient(gl, G.trainable_variables), G.trainable_variables))
    return dl, gl, tf.reduce_mean(fake)


for i in range(200):
    dl, gl, m = step(1.0 + 0.5 * tf.random.normal((64, 1)))
    if i % 20 == 0:
        print(f"{i}: d {float(dl):.3f} g {float(gl):.3f} mean {float(m):.3f}")
