import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(235)
enc = keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="relu", name="enc_h"), layers.Dense(4, name="enc_z")], name="enc")
dec = keras.Sequential([keras.Input((4,)), layers.Dense(32, activation="relu", name="dec_h"), layers.Dense(10, name="dec_x")], name="dec")
codebook = tf.Variable(tf.random.normal((16, 4)) * 0.5, name="codebook")
opt = keras.optimizers.Adam(3e-3)
tv = enc.trainable_variables + dec.trainable_variables + [codebook]
centres = np.random.randn(8, 10)
X = (centres[np.random.randint(0, 8, 512)] + 0.1 * np.random.randn(512, 10)).astype("float32")
for step in range(160):
    xb = X[np.random.randint(0, 512, 64)]
    with tf.GradientTape() as tape:
        z = enc(xb)
        d2 = tf.reduce_sum((z[:, None] - codebook[None]) ** 2, -1)
        e = tf.gather(codebook, tf.argmin(d2, 1))
        q = z + tf.stop_gradient(e - z)
        rec = tf.reduce_mean((dec(q) - xb) ** 2)
        vq = tf.reduce_mean((tf.stop_gradient(z) - e) ** 2)
        commit = tf.reduce_mean((z - tf.stop_gradient(e)) ** 2)
        loss = rec + vq + 0.25 * commit
    g = tape.gradient(loss, tv)
    opt.apply_gradients([(tf.convert_to_tensor(a), v) for a, v in zip(g, tv)])
    if step % 16 == 0:
        print("step", step, "rec", float(rec), "vq", float(vq))
