import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(217)
proto = (np.random.rand(6, 36) > 0.5).astype("float32")
X = np.abs(proto[np.random.randint(0, 6, 512)] - (np.random.rand(512, 36) < 0.05)).astype("float32")
enc = keras.Sequential([keras.Input((36,)), layers.Dense(48, activation="relu", name="e1"), layers.Dense(8, name="stats")], name="encoder")
dec = keras.Sequential([keras.Input((4,)), layers.Dense(48, activation="relu", name="x1"), layers.Dense(36, activation="sigmoid", name="x2")], name="decoder")
opt = keras.optimizers.Adam(4e-3)
variables = enc.trainable_variables + dec.trainable_variables


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        mu, lv = tf.split(enc(x), 2, axis=1)
        lv = tf.clip_by_value(lv, -6.0, 4.0)
        z = mu + tf.exp(0.5 * lv) * tf.random.normal(tf.shape(mu))
        p = tf.clip_by_value(dec(z), 1e-6, 1 - 1e-6)
        ll = tf.reduce_sum(x * tf.math.log(p) + (1 - x) * tf.math.log(1 - p), 1)
        kl = 0.5 * tf.reduce_sum(tf.exp(lv) + mu ** 2 - 1 - lv, 1)
        loss = tf.reduce_mean(kl - ll)
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, tf.reduce_mean(kl)


for s in range(160):
    i = np.random.randint(0, 512, 64)
    loss, kl = step(tf.constant(X[i]))
    if s % 16 == 0:
        print(f"{s} -elbo {float(loss):.3f} kl {float(kl):.3f}")
