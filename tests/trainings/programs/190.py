import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(190)
encoder = keras.Sequential([keras.Input((12,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(8, name="moments")], name="encoder")
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(12, name="pixels")], name="decoder")
opt = keras.optimizers.SGD(0.05)
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


beta = 0.01
for i in range(40):
    print(i, float(step(data[i * 32 : i * 32 + 32], tf.constant(beta, tf.float32))))
    beta *= 1.5
