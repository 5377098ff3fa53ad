import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(205)
encoder = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(8)], name="encoder")
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(12)], name="decoder")
opt = keras.optimizers.Adam(2e-3)
data = np.random.randn(1280, 12).astype("float32") * np.linspace(0.2, 3, 12).astype("float32")


@tf.function
def step(x, beta):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        rebuilt = tf.reduce_mean((decoder(z) - x) ** 2)
        kl = 0.5 * tf.reduce_mean(tf.exp(log_var) + mean**2 - 1.0 - log_var)
        loss = rebuilt + beta * kl
    v = encoder.trainable_variables + decoder.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(80):
    beta = min(1.0, (i % 20) / 10)  # up in cycles, as against a collapsed posterior
    b = i % 40 * 32
    loss = step(data[b : b + 32], tf.constant(beta, tf.float32))
    if i % 10 == 0:
        print(i, float(loss))
