import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)
X = (np.random.rand(512, 64) > 0.7).astype("float32")


class VAE(keras.Model):
    def __init__(self, zdim=4):
        super().__init__()
        self.enc = layers.Dense(64, activation="relu", name="enc_h")
        self.mu = layers.Dense(zdim, name="z_mean")
        self.logvar = layers.Dense(zdim, name="z_logvar")
        self.dec = layers.Dense(64, activation="relu", name="dec_h")
        self.out = layers.Dense(64, name="dec_logits")

    def call(self, x):
        h = self.enc(x)
        mu = self.mu(h)
        lv = self.logvar(h)
        z = mu + tf.exp(0.5 * lv) * tf.random.normal(tf.shape(mu))
        logits = self.out(self.dec(z))
        rec = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=-1)
        kl = 0.5 * tf.reduce_sum(tf.exp(lv) + mu**2 - 1.0 - lv, axis=-1)
        return tf.reduce_mean(rec), tf.reduce_mean(kl)


vae = VAE()
opt = keras.optimizers.SGD(0.6, momentum=0.95)
n = 0
for epoch in range(4):
    perm = np.random.permutation(len(X))
    for i in range(0, len(X), 64):
        xb = tf.constant(X[perm[i:i + 64]])
        with tf.GradientTape() as tape:
            rec, kl = vae(xb)
            loss = rec + kl
        g = tape.gradient(loss, vae.trainable_variables)
        opt.apply_gradients(zip(g, vae.trainable_variables))
        if n % 4 == 0:
            print(f"it {n} elbo {-float(loss):.4g} rec {float(rec):.4g} kl {float(kl):.4g}")
        n += 1
