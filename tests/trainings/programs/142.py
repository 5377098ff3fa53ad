import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(142)
x = np.random.randn(512, 20).astype("float32") @ np.random.randn(20, 20).astype("float32")
enc = keras.Sequential([keras.Input((20,)), keras.layers.Dense(32, activation="relu", name="enc_hidden"), keras.layers.Dense(8, name="stats")])
dec = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu", name="dec_hidden"), keras.layers.Dense(20, name="recon")])
opt = keras.optimizers.SGD(0.3)


@tf.function
def step(b):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(enc(b), 2, axis=1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        kl = 0.5 * tf.reduce_sum(tf.exp(log_var) + mean**2 - 1.0 - log_var, 1)
        loss = tf.reduce_mean(tf.reduce_sum((dec(z) - b) ** 2, 1) + kl)
    v = enc.trainable_variables + dec.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(40):
    print(i, float(step(x[np.random.randint(0, 512, 64)])))
